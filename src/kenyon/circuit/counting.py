"""A memory that only counts, so that nothing depends on the order of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import Counters
from kenyon.circuit.decaying import ORDER_MATTERS
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes

_TOO_MANY = "a counter would exceed 2147483647: too many samples of one class"


class CountingMemory(Memory):
    """A counter for each cell and class: the sum of the cell's levels in the class's samples.

    The learning rate and the cap are applied when reading: the weight of a synapse is
    min(count, cap) / cap with cap = 255 / learning rate, so that a cell at full strength
    saturates its synapse after 1 / learning rate samples.
    """

    dtype = np.int32

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        self.store: Counters = Counters(n_cells)

    def learn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], rates: Rates, n_threads: int = 1
    ) -> None:
        if rates.decay:
            raise ValueError(
                f"decay is {rates.decay}, but the model was begun without: only fit changes that"
            )
        new = self.declare(y)
        if not self._learn(codes, self.labels.slots(y), n_threads):
            self.retract(new)
            raise OverflowError(_TOO_MANY)

    def unlearn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], n_threads: int = 1
    ) -> None:
        slots = self.labels.slots(y)
        if not self._unlearn(codes, slots, n_threads):
            raise ValueError(
                "X and y hold samples that were not learned: a counter would fall below zero"
            )
        samples = self.store.samples
        emptied = [slot for slot in np.unique(slots).tolist() if samples[slot] == 0]
        if any(self.store.has_residue(slot) for slot in emptied):
            self._learn(codes, slots, n_threads)
            raise ValueError(
                "X and y hold samples that were not learned: a class without samples would keep "
                "counts"
            )
        for label in [self.labels.label(slot) for slot in emptied]:
            self.forget(label)

    def merge(self, other: Memory) -> None:  # noqa: D102
        if not isinstance(other, CountingMemory):
            raise ValueError(f"merge is not possible: {ORDER_MATTERS}")
        if type(other) is not type(self):
            raise ValueError(
                "a model that counts pairs of cells, as readout 'ridge' does, cannot be merged "
                "with one that does not"
            )
        new = self.declare(other.classes)
        slots = np.empty(len(other), dtype=np.int32)
        slots[other.store.slot_of_rank] = self.labels.slots(other.classes)
        if not self._merge(other, slots):
            self.retract(new)
            raise OverflowError(_TOO_MANY)

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.learn(codes, slots)

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.unlearn(codes, slots)

    def _merge(self, other: Any, slots: NDArray[np.int32]) -> bool:
        return self.store.merge(other.store, slots)

    def scores(  # noqa: D102
        self, codes: Codes, rates: Rates, n_threads: int
    ) -> NDArray[np.float64]:
        self.check_not_empty()
        return self.store.scores(codes, rates.learning_rate, n_threads)

    def best(self, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.int32]:  # noqa: D102
        self.check_not_empty()
        return self.store.best(codes, rates.learning_rate, n_threads)

    def best_one(self, codes: Codes, rates: Rates) -> int:  # noqa: D102
        self.check_not_empty()
        return self.store.best_one(codes, rates.learning_rate)

    def weights(self, cells: NDArray[Any], rates: Rates) -> NDArray[np.float64]:  # noqa: D102
        weights = np.empty((len(cells), len(self)))
        for rank, slot in enumerate(self.store.slot_of_rank.tolist()):
            cap = self.store.cap(slot, rates.learning_rate)
            weights[:, rank] = np.minimum(self.store.get(slot)[cells], cap) / cap
        return weights

    def n_saturated(self, rates: Rates) -> int:  # noqa: D102
        return self.store.n_saturated(rates.learning_rate)
