"""Memories of exact sums, which do not depend on the order of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import _native
from kenyon._native import MAX_COUNT, MAX_SAMPLES, Counters, Window
from kenyon.circuit import calibration_sample, window
from kenyon.circuit.calibration_sample import CalibrationSample
from kenyon.circuit.capabilities import Merges, Unlearns
from kenyon.circuit.labels import Labels
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon._native import Codes, Pairs
    from kenyon.circuit.plain_labels import Label

    Samples = tuple[Codes, NDArray[np.int32]]

_REASONS = {
    "not learned": "a counter would fall below zero, or a code is missing from the calibration "
    "sample",
    "not in window": "they are not in the window",
    "residue": "a class without samples would keep counts",
    "exceeds samples": "a counter would be too large for the other samples",
    "below calibration": "a counter would fall below the sum over the calibration sample",
}
_NONE = None, None


class SummingMemory(Memory, Unlearns, Merges):
    """A counter for each cell and class: the sum of the cell's levels in the class's samples.

    Of each class it also keeps a calibration sample: the codes whose fingerprint, a hash, is below
    a threshold. A class with too many codes lowers its threshold; if all classes together have too
    many, a threshold common to all is lowered; nothing raises them. So the sample depends on the
    samples learned and not on their order, and it merges exactly. After `unlearn` it holds the
    remaining samples below the thresholds, which may be fewer than if the others had never come.

    Parameters
    ----------
    n_cells : int
    window_size : int or None
        Hold the latest samples alone, this many: each is unlearned as it leaves the window. Their
        codes are stored, so only samples of the window can be unlearned, and dropping a class
        unlearns it. A class whose last sample leaves is dropped.
    """

    dtype = np.int32
    overflow = f"a counter would exceed {MAX_COUNT}: too many samples of one class"
    """The error of too many samples."""

    pairs: Pairs | None = None
    """The sums of pairs of cells, for memories that count them."""

    def __init__(self, n_cells: int, window_size: int | None = None) -> None:
        super().__init__(n_cells)
        self.store: Counters = Counters(n_cells, Labels())
        self.window = None if window_size is None else Window(n_cells, window_size)

    @property
    def window_size(self) -> int | None:
        return None if self.window is None else self.window.capacity

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self.window is None else self.window.nbytes)

    def learn(
        self,
        codes: Codes,
        y: Sequence[Label],
        rates: Sequence[Rates],
        n_threads: int = 1,
        classes: Sequence[Label] = (),
    ) -> None:
        ((_, own),) = self.compartments(rates)
        if own.decay:
            raise ValueError(
                f"decay is {own.decay}, but the model was fitted without decay: only fit changes "
                "that"
            )
        slots, ranks, labels = self.labels.admit(y, classes)
        learned = codes, slots
        self._change(labels, ranks, learned, self._leaving(len(codes)), n_threads=n_threads)

    def _leaving(self, n_new: int) -> Samples | None:
        """Return the samples that leave the window when others come."""
        if self.window is None:
            return None
        n_leaving = len(self.window) + n_new - self.window.capacity
        return self.window.oldest(n_leaving) if n_leaving > 0 else None

    def unlearn(self, codes: Codes, y: Sequence[Label], n_threads: int = 1) -> None:
        slots = self.labels.slots(y)
        self._check_sums("unlearn", y, self.labels.extinguished)
        self._change(self.labels, unlearned=(codes, slots), n_threads=n_threads)

    def _change(
        self,
        labels: Labels,
        ranks: NDArray[np.int32] | None = None,
        learned: Samples | None = None,
        unlearned: Samples | None = None,
        dropped: Sequence[int] = (),
        n_threads: int = 1,
    ) -> None:
        """Change everything by one call of the kernel; classes without samples are dropped.

        Parameters
        ----------
        labels, ranks : Labels, ndarray of int32 or None
            All labels, with new ones, and the ranks of the new ones.
        learned, unlearned : codes and slots, or None
        dropped : sequence of int
            Slots of classes that are dropped in any case.
        """
        n_classes = len(labels)
        if unlearned is not None:
            dropped = self._emptied(learned, unlearned, dropped)
        if dropped:
            labels = labels.without(dropped)
        (codes, slots), (other_codes, other_slots) = learned or _NONE, unlearned or _NONE
        outcome = _native.change(
            self.store,
            self.pairs,
            self.window,
            n_threads,
            learned=codes,
            learned_slots=slots,
            unlearned=other_codes,
            unlearned_slots=other_slots,
            inserted=ranks,
            dropped=np.array(dropped, np.int32) if dropped else None,
            labels=labels,
        )
        if outcome == "overflow":
            raise OverflowError(self.overflow)
        if outcome != "done":
            raise ValueError(f"X and y hold samples that were not learned: {_REASONS[outcome]}")
        self._record(n_classes, learned, unlearned, dropped)

    def _emptied(
        self, learned: Samples | None, unlearned: Samples, dropped: Sequence[int]
    ) -> list[int]:
        """Return the slots of classes that have no samples afterwards, in descending order."""
        n_classes = self.store.n_classes
        n_samples, leaving = self.store.samples, np.bincount(unlearned[1], minlength=n_classes)
        if learned is not None:
            n_samples += np.bincount(learned[1], minlength=n_classes)[:n_classes]
        emptied = np.flatnonzero((leaving > 0) & (leaving == n_samples)).tolist()
        return sorted({*dropped, *emptied}, reverse=True)

    def merge(self, other: Memory) -> None:
        if not isinstance(other, SummingMemory):
            raise other.lacks("merge")
        if type(other) is not type(self):
            raise ValueError(
                "a model that counts pairs of cells, as readout 'ridge' does, cannot be merged "
                "with one that does not"
            )
        if self.window is not None or other.window is not None:
            raise ValueError(
                "merge is not possible: a window holds the latest samples, and those of two models "
                "have no common order"
            )
        theirs = [other.labels.label(slot) for slot in range(len(other))]
        weakened = other.labels.extinguished
        self._check_sums("merge", theirs, self.labels.extinguished | weakened)
        if int(self.samples.sum()) + int(other.samples.sum()) > MAX_SAMPLES:
            raise OverflowError(f"the model would have more than {MAX_SAMPLES} samples")
        slots, ranks, labels = self.labels.admit(theirs)
        outcome = _native.merge(
            self.store,
            self.pairs,
            other.store,
            other.pairs,
            slots,
            inserted=ranks,
            labels=labels.weakened(labels.slots(weakened)) if weakened else labels,
        )
        if outcome == "overflow":
            raise OverflowError(self.overflow)
        self._record_unknown()

    def _check_sums(
        self, change: str, labels: Sequence[Label], extinguished: frozenset[Label]
    ) -> None:
        """Raise ValueError if the counters of a label are not sums of samples."""
        if not extinguished:
            return
        for label in labels:
            if label in extinguished and label in self.labels:
                raise ValueError(
                    f"{change} is not possible for the label {label!r}: some of its synapses were "
                    "extinguished, so its counters are not sums of samples"
                )

    def drop_class(self, label: Label) -> None:
        slot = self.labels.slot(label)
        if self.window is None:
            super().drop_class(label)
            self._record(len(self) + 1, dropped=[slot])
        else:
            codes = self.window.codes_of(slot)
            samples = codes, np.full(len(codes), slot, np.int32)
            self._change(self.labels, unlearned=samples, dropped=[slot])

    def calibration_sample(self) -> CalibrationSample:
        """Return the calibration sample of all classes with two samples or more.

        A class with one sample has nothing left to be read without it.
        """
        ranks = np.flatnonzero(self.samples > 1).astype(np.int32)
        codes, places, counts = self.store.calibration_codes(self.store.slot_of_rank[ranks])
        return CalibrationSample(codes, ranks[places], counts)

    def class_counts(self, sample: CalibrationSample) -> tuple[NDArray[np.int64], ...]:
        """Return the start of each code, its levels, and its class's counters of their cells."""
        starts, _, levels = sample.codes.to_csr()
        counts = self.store.gather(sample.codes, self.store.slot_of_rank[sample.ranks])
        return starts, levels.astype(np.int64), counts.astype(np.int64)

    def copy(self) -> Self:
        other = super().copy()
        other.window = None if self.window is None else self.window.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        content = {**super().content(), **calibration_sample.to_tensors(self.store)}
        if self.labels.extinguished:
            marks = [label in self.labels.extinguished for label in self.classes.tolist()]
            content["extinguished"] = np.array(marks)
        if self.window is not None:
            content |= window.to_tensors(self.window, self.store)
        return content

    @classmethod
    def restore(
        cls,
        classes: NDArray[Any],
        content: dict[str, NDArray[Any]],
        labels: Labels | None = None,
    ) -> Self:
        memory = super().restore(classes, content, labels)
        calibration_sample.restore(memory.store, content)
        if "extinguished" in content:
            # A restored memory has its classes in the order of ranks.
            slots = np.flatnonzero(content["extinguished"]).tolist()
            memory.store.relabel(memory.labels.weakened(slots))
        memory._restore_pairs(content)
        if window.TENSORS[0] in content:
            memory.window = window.restore(content, memory.n_cells, memory.store, memory.pairs)
        return memory

    def _restore_pairs(self, content: dict[str, NDArray[Any]]) -> None:
        """Set the pairs, for memories that count them."""

    def _record(
        self,
        n_classes: int,
        learned: Samples | None = None,
        unlearned: Samples | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        """Record a change, for readouts that update what they have computed."""

    def _record_unknown(self) -> None:
        """Record that there was a change that readouts cannot follow."""
