"""The texts that a model has learned, which change together with its memory."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from kenyon.circuit.forks import PerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kenyon.circuit import Snapshot, VersionedMemory
    from kenyon.circuit.plain_labels import Label

MAX_TEXT_BYTES = 1 << 30
"""The most bytes that all kept texts of a model may have in UTF-8."""


class Texts(NamedTuple):
    """Texts and their labels: the first elements of two lists.

    The lists may be longer, since later texts are appended to them. So a text is added in constant
    time, and earlier `Texts` objects stay valid. Other changes make new lists.
    """

    texts: list[str]
    labels: list[Label]
    n: int
    n_bytes: int

    @classmethod
    def of(cls, texts: Sequence[str], labels: Sequence[Label]) -> Texts:
        """Return these texts."""
        return cls([], [], 0, 0).with_added(texts, labels)

    def pairs(self) -> Iterator[tuple[str, Label]]:
        """Iterate over the texts with their labels."""
        return zip(self.texts[: self.n], self.labels[: self.n], strict=True)

    def with_added(self, texts: Sequence[str], labels: Sequence[Label]) -> Texts:
        """Return these texts and others; only one thread may call it at a time.

        Raises
        ------
        ValueError
            If there would be too many bytes.
        """
        n_bytes = self.n_bytes + sum(map(_count_bytes, texts))
        if n_bytes > MAX_TEXT_BYTES:
            raise ValueError(
                f"the kept texts must have at most {MAX_TEXT_BYTES} bytes together, but would have "
                f"{n_bytes}"
            )
        for shared, added in ((self.texts, texts), (self.labels, labels)):
            # What a change that failed has appended.
            del shared[self.n :]
            shared.extend(added)  # type: ignore[arg-type]
        return Texts(self.texts, self.labels, self.n + len(texts), n_bytes)

    def without(self, texts: Sequence[str], labels: Sequence[Label]) -> Texts:
        """Return the texts without one occurrence of each of these.

        Raises
        ------
        ValueError
            If one of them was not kept.
        """
        wanted = Counter(zip(texts, labels, strict=True))
        kept: list[tuple[str, Label]] = []
        for pair in self.pairs():
            if wanted.get(pair, 0):
                wanted[pair] -= 1
            else:
                kept.append(pair)
        for (text, label), n_missing in wanted.items():
            if n_missing:
                raise ValueError(
                    f"X and y hold samples that were not learned: the text {text!r:.80} was not "
                    f"kept with the label {label!r:.80}"
                )
        return _of_pairs(kept)

    def without_class(self, label: Label) -> Texts:
        """Return the texts of all other classes."""
        return _of_pairs(pair for pair in self.pairs() if pair[1] != label)

    def with_renamed(self, old: Label, new: Label) -> Texts:
        """Return the texts with another label for one class."""
        labels = [new if label == old else label for label in self.labels[: self.n]]
        return self._replace(labels=labels)

    def copy(self) -> Texts:
        """Return texts whose lists nobody else has."""
        return self._replace(texts=self.texts[: self.n], labels=self.labels[: self.n])


def _of_pairs(pairs: Iterable[tuple[str, Label]]) -> Texts:
    pairs = [*pairs]
    return Texts.of([text for text, _ in pairs], [label for _, label in pairs])


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


class _Record(NamedTuple):
    """The texts before and after a change of the memory from a version."""

    version: int | None
    before: Texts
    after: Texts


class KeptTexts:
    """The texts that a memory has learned.

    The memory changes by one call of the kernel, and its version tells whether it has. So the texts
    before and after a change are stored by one assignment, before the memory changes. Readers
    choose by the version of the memory. An exception, or a fork, at any moment leaves memory and
    texts both before or both after the change.

    Only one thread at a time changes texts and memory, or chooses texts.

    Parameters
    ----------
    texts : Texts
        Those of the present memory. The lists are used, not copied.
    """

    def __init__(self, texts: Texts) -> None:
        self._record = _Record(None, texts, texts)
        self._locks: PerProcess[Any] = PerProcess(threading.RLock)

    def change(
        self,
        memory: VersionedMemory,
        prepare: Callable[[Texts], Texts],
        apply: Callable[[], object],
    ) -> None:
        """Change the memory by a function, and the texts with it.

        Parameters
        ----------
        memory : VersionedMemory
        prepare : callable
            Returns the texts after the change.
        apply : callable
            Changes the memory.
        """
        lock = self._locks.value
        if lock._is_owned():
            raise RuntimeError(
                "a model cannot be changed by a signal handler while the same thread is changing it"
            )
        with lock:
            with memory.reading as snapshot:
                version, before = snapshot.version, self._choose(snapshot)
                _check(before, snapshot)
            self._record = _Record(version, before, prepare(before))
            try:
                apply()
            finally:
                with memory.reading as snapshot:
                    present = self._choose(snapshot)
                self._record = _Record(None, present, present)

    @contextmanager
    def reading(self, memory: VersionedMemory) -> Iterator[tuple[Snapshot, Texts]]:
        """Give a snapshot of the memory and its texts; others may change both meanwhile."""
        reading = memory.reading
        with self._locks.value:
            snapshot = reading.__enter__()
            texts = self._choose(snapshot)
        try:
            _check(texts, snapshot)
            yield snapshot, texts
        finally:
            reading.__exit__(None, None, None)

    def _choose(self, snapshot: Snapshot) -> Texts:
        """Return the texts of a snapshot."""
        record = self._record
        return record.before if snapshot.version == record.version else record.after


def _check(texts: Texts, snapshot: Snapshot) -> None:
    """Raise ValueError if a memory has not learned as many samples as there are texts."""
    if texts.n != snapshot.memory.samples.sum():
        raise ValueError(
            "the kept texts are not those that the classifier has learned: only its pipeline may "
            "change a classifier whose texts are kept"
        )
