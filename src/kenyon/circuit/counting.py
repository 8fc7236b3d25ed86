"""A memory that only counts, so that nothing depends on the order of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kenyon._native import Counters
from kenyon.circuit.decaying import ORDER_MATTERS
from kenyon.circuit.extinction import count_hits
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes

Self = TypeVar("Self", bound="CountingMemory")

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
        self.check_compartments(rates)
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
        self._check_sums("unlearn", y.tolist())
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
        self._check_sums("merge", other.classes.tolist(), other)
        new = self.declare(other.classes)
        slots = np.empty(len(other), dtype=np.int32)
        slots[other.store.slot_of_rank] = self.labels.slots(other.classes)
        if not self._merge(other, slots):
            self.retract(new)
            raise OverflowError(_TOO_MANY)
        self.extinguished |= other.extinguished

    def extinguish(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], share: float, rates: Rates
    ) -> None:
        self.check_compartments(rates)
        samples = self.store.samples
        for slot, hits in count_hits(codes, self.labels.slots(y), self.n_cells):
            counts = self.store.get(slot)
            # What is above the cap has no weight; were it kept, it would hide what is taken.
            cap = self.store.cap(slot, rates.learning_rate)
            counts[hits > 0] = np.minimum(counts[hits > 0], cap)
            for n_before in range(hits.max()):
                again = hits > n_before
                counts[again] -= np.ceil(share * counts[again]).astype(np.int32)
            if not np.array_equal(counts, self.store.get(slot)):
                self.store.set(slot, counts, int(samples[slot]))
                self.extinguished.add(self.labels.label(slot))

    def content(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, and of which classes something was extinguished, if any."""
        if not self.extinguished:
            return super().content()
        extinguished = [label in self.extinguished for label in self.classes.tolist()]
        return {**super().content(), "extinguished": np.array(extinguished)}

    @classmethod
    def restore(  # noqa: D102
        cls: type[Self], classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> Self:
        memory = super().restore(classes, content)
        if "extinguished" in content:
            memory.extinguished = set(classes[content["extinguished"]].tolist())
        return memory

    def _check_sums(self, change: str, labels: list[Any], other: Memory | None = None) -> None:
        """Refuse what is exact only where counters are sums of samples."""
        weakened = self.extinguished | (other.extinguished if other else set())
        label = next(
            (label for label in labels if label in weakened and label in self.labels), None
        )
        if label is not None:
            raise ValueError(
                f"{change} is not possible for the label {label!r}: some of its synapses were "
                "extinguished, so that its counters are no longer sums of samples"
            )

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.learn(codes, slots)

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.unlearn(codes, slots)

    def _merge(self, other: Any, slots: NDArray[np.int32]) -> bool:
        return self.store.merge(other.store, slots)

    def scores(  # noqa: D102
        self, codes: Codes, rates: Rates, n_threads: int
    ) -> NDArray[np.float64]:
        self.check_readable(rates)
        return self.store.scores(codes, rates.learning_rate, n_threads)

    def best(self, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.int32]:  # noqa: D102
        self.check_readable(rates)
        return self.store.best(codes, rates.learning_rate, n_threads)

    def best_one(self, codes: Codes, rates: Rates) -> int:  # noqa: D102
        self.check_readable(rates)
        return self.store.best_one(codes, rates.learning_rate)

    def weights(self, cells: NDArray[Any], rates: Rates) -> NDArray[np.float64]:  # noqa: D102
        weights = np.empty((len(cells), len(self)))
        for rank, slot in enumerate(self.store.slot_of_rank.tolist()):
            cap = self.store.cap(slot, rates.learning_rate)
            weights[:, rank] = np.minimum(self.store.get(slot)[cells], cap) / cap
        return weights

    def n_saturated(self, rates: Rates) -> int:  # noqa: D102
        return self.store.n_saturated(rates.learning_rate)
