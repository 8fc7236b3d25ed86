"""Both layers together."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.circuit.capabilities import Extinguishes, Merges, Unlearns
from kenyon.circuit.pairing import PairingMemory
from kenyon.circuit.versioned import VersionedMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.coder import Coder
    from kenyon.circuit.memory import Memory, Rates
    from kenyon.circuit.plain_labels import Label
    from kenyon.circuit.repeated import Repeated
    from kenyon.circuit.versioned import Snapshot

    Action = Callable[[Memory, Codes, Sequence[Label]], None]
    Labels = Sequence[Label] | Repeated

_SCORES = 2**21
_FEW_ROWS = 128
"""Scores that one batch may need, and rows that it may have whatever the number of classes."""


class Circuit:
    """A coder and a memory of its codes.

    Takes validated input: rows of finite numbers, NumPy arrays or SciPy sparse matrices of the
    right width, and plain labels, or both `Repeated`. A change happens as a whole or, if it
    raises, not at all; readers see the memory before or after it.
    """

    def __init__(self, coder: Coder, memory: Memory) -> None:
        self.coder = coder
        self.memory = VersionedMemory(memory)
        self.window_size = memory.window_size
        self.has_pairs = isinstance(memory, PairingMemory)

    def pinned(self) -> Circuit:
        """Return the circuit in its present state; it cannot be changed."""
        pinned = object.__new__(Circuit)
        vars(pinned).update(vars(self), memory=self.memory.pinned())
        return pinned

    def learn(
        self,
        X: Any,
        y: Labels,
        rates: Sequence[Rates],
        n_threads: int,
        classes: Sequence[Label] = (),
    ) -> None:
        """Learn samples in the given order, and add further classes without samples."""

        def learn(memory: Memory, codes: Codes, labels: Sequence[Label]) -> None:
            memory.learn(codes, labels, rates, n_threads, classes)

        if self.window_size is not None and len(y) > self.window_size:
            # The other samples would leave the window at once.
            X, y = X[-self.window_size :], y[-self.window_size :]
        self._change(learn, [(X, y)], n_threads)

    def check_labels(self, y: Sequence[Label]) -> None:
        """Raise ValueError if labels cannot be learned, even those of samples that never will be.

        Only a window leaves out samples.
        """
        if self.window_size is not None:
            with self.memory.reading as snapshot:
                snapshot.memory.labels.admit(y)

    def learn_one(self, codes: Codes, label: Label, rates: Sequence[Rates]) -> None:
        """Learn the code of one sample."""
        self.memory.change(lambda memory: memory.learn(codes, [label], rates))

    def unlearn(self, pieces: Iterable[tuple[Any, Labels]], n_threads: int) -> None:
        """Remove samples, given as pieces of X and y; all or, if one fails, none."""

        def unlearn(memory: Memory, codes: Codes, labels: Sequence[Label]) -> None:
            if not isinstance(memory, Unlearns):
                raise memory.lacks("unlearn")
            memory.unlearn(codes, labels, n_threads)

        self._change(unlearn, pieces, n_threads)

    def extinguish(
        self, X: Any, y: Sequence[Label], share: float, rates: Sequence[Rates], n_threads: int
    ) -> None:
        """Reduce the weights from each sample's active cells to its class by a share."""

        def extinguish(memory: Memory, codes: Codes, labels: Sequence[Label]) -> None:
            if not isinstance(memory, Extinguishes):
                raise memory.lacks("extinguish")
            memory.extinguish(codes, labels, share, rates)

        self._change(extinguish, [(X, y)], n_threads)

    def drop_class(self, label: Label) -> None:
        """Drop a class."""
        self.memory.change(lambda memory: memory.drop_class(label))

    def rename_class(self, old: Label, new: Label) -> None:
        """Give a class a new label."""
        self.memory.change(lambda memory: memory.rename_class(old, new))

    def merge(self, others: Sequence[Circuit]) -> None:
        """Add the sums of other circuits with the same coder."""
        if not others:
            return
        total = others[0]._copy_memory_for(self)
        for other in others[1:]:
            _merge(total, other._copy_memory_for(self))
        self.memory.change(lambda memory: _merge(memory, total))

    def absorb(self, other: Circuit) -> None:
        """Add the sums of a circuit that no other thread uses, without a copy of either."""
        self._check_coder(other)
        with other.memory.reading as snapshot:
            self.memory.change(lambda memory: _merge(memory, snapshot.memory))

    def read(
        self, X: Any, n_threads: int, function: Callable[[Snapshot, Codes], NDArray[Any]]
    ) -> NDArray[Any]:
        """Apply a function to the codes of X, batch by batch, with one snapshot of the memory.

        With many classes batches are small, since a function may need a number for each class.
        """
        with self.memory.reading as snapshot:
            max_rows = max(_FEW_ROWS, _SCORES // max(1, len(snapshot.memory)))
        batches = self.coder.encode(X, n_threads, max_rows)
        # Encoding takes long, so the first batch is encoded before the snapshot is taken.
        rows, codes = next(batches)
        with self.memory.reading as snapshot:
            first = function(snapshot, codes)
            if len(first) == X.shape[0]:
                return first
            results = np.empty((X.shape[0], *first.shape[1:]), first.dtype)
            results[rows] = first
            for rows, codes in batches:
                results[rows] = function(snapshot, codes)
            return results

    def _change(self, action: Action, pieces: Iterable[tuple[Any, Labels]], n_threads: int) -> None:
        """Apply an action to all samples: in place if they are few, otherwise to a copy."""
        batches = (
            (codes, y[rows]) for X, y in pieces for rows, codes in self.coder.encode(X, n_threads)
        )
        ahead = list(islice(batches, 2))
        with self.memory.reading as snapshot:
            memory = snapshot.memory
            in_place = len(ahead) == 1 and len(ahead[0][1]) <= memory.max_in_place

        def apply(memory: Memory) -> None:
            for codes, labels in chain(ahead, batches):
                action(memory, codes, labels)

        (self.memory.change if in_place else self.memory.replace)(apply)

    def _copy_memory_for(self, target: Circuit) -> Memory:
        """Return a copy of the memory, or raise ValueError if the coders differ."""
        target._check_coder(self)
        with self.memory.reading as snapshot:
            return snapshot.memory.copy()

    def _check_coder(self, other: Circuit) -> None:
        """Raise ValueError if another circuit has another coder."""
        here, there = self.coder.parameters(), other.coder.parameters()
        for name, value in here.items():
            if value != there[name]:
                raise ValueError(
                    f"models of different circuits cannot be merged: {name} is {value!r} here and "
                    f"{there[name]!r} there"
                )


def _merge(memory: Memory, other: Memory) -> None:
    if not isinstance(memory, Merges):
        raise memory.lacks("merge")
    memory.merge(other)
