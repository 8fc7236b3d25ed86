"""A memory that only counts, so that nothing depends on the order of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kenyon._native import Counters
from kenyon.circuit.coder import FULL
from kenyon.circuit.decaying import ORDER_MATTERS
from kenyon.circuit.extinction import count_hits
from kenyon.circuit.keeping import Kept, are_counted, get_kept, keep_none, set_kept
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

    Of each class it also keeps a few codes: those of its samples whose fingerprint, a number that
    is as good as random, is below a bound. When there are too many the bound is lowered, and it is
    never raised. So what is kept depends on the samples and not on their order, and two memories
    merge exactly; after unlearning it is what the samples that remain have below the bound.
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
                "X and y hold samples that were not learned: a counter would fall below zero, or a "
                "code that would be kept is not"
            )
        samples, touched = self.store.samples, np.unique(slots).tolist()
        emptied = [slot for slot in touched if samples[slot] == 0]
        if any(self.store.has_residue(slot) for slot in emptied):
            self._learn(codes, slots, n_threads)
            raise ValueError(
                "X and y hold samples that were not learned: a class without samples would keep "
                "counts"
            )
        if not all(are_counted(self.store, slot) for slot in touched):
            self._learn(codes, slots, n_threads)
            raise ValueError(
                "X and y hold samples that were not learned: a counter would fall below what codes "
                "that are kept have added to it"
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
        weakened = []
        for slot, hits in count_hits(codes, self.labels.slots(y), self.n_cells):
            counts = self.store.get(slot)
            # What is above the cap has no weight; were it kept, it would hide what is taken.
            cap = self.store.cap(slot, rates.learning_rate)
            counts[hits > 0] = np.minimum(counts[hits > 0], cap)
            for n_before in range(hits.max()):
                again = hits > n_before
                counts[again] -= _take(share, counts[again])
            if not np.array_equal(counts, self.store.get(slot)):
                weakened.append((slot, counts))
        for slot, counts in weakened:
            # Marked first: were it interrupted, no class would be taken for a sum that is none.
            self.extinguished.add(self.labels.label(slot))
            # Its own levels can no longer be taken from what a code receives.
            keep_none(self.store, slot)
            self.store.set(slot, counts, int(samples[slot]))

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

    @property
    def kept(self) -> Kept:
        """The codes that are kept of classes with two samples or more.

        Of a class with one there is nothing left to read without it.
        """
        ranks = np.flatnonzero(self.samples > 1).astype(np.int32)
        codes, places, counts = self.store.kept_codes(self.store.slot_of_rank[ranks])
        return Kept(codes, ranks[places], counts)

    def held_out_scores(self, kept: Kept, rates: Rates, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of codes that are kept, each as if it had not been learned."""
        scores = self.scores(kept.codes, rates, n_threads)
        slots = self.store.slot_of_rank
        caps = np.array(
            [self.store.cap(slot, rates.learning_rate, 1) for slot in slots.tolist()], np.int64
        )[kept.ranks]
        starts, levels, counts = self.own_counts(kept)
        given = levels * np.clip(counts - levels, 0, np.repeat(caps, np.diff(starts)))
        scores[np.arange(len(caps)), kept.ranks] = sum_rows(given, starts) / (float(FULL) * caps)
        return scores

    def own_counts(self, kept: Kept) -> tuple[NDArray[np.int64], ...]:
        """Return where each code starts, its levels, and its class's counters of their cells."""
        starts, _, levels = kept.codes.to_csr()
        counts = self.store.gather(kept.codes, self.store.slot_of_rank[kept.ranks])
        return starts, levels.astype(np.int64), counts.astype(np.int64)

    def content(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, and of which classes something was extinguished, if any."""
        content = {**super().content(), **get_kept(self.store)}
        if self.extinguished:
            marks = [label in self.extinguished for label in self.classes.tolist()]
            content["extinguished"] = np.array(marks)
        return content

    @classmethod
    def restore(  # noqa: D102
        cls: type[Self], classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> Self:
        memory = super().restore(classes, content)
        set_kept(memory.store, content)
        if "extinguished" in content:
            memory.extinguished = set(classes[content["extinguished"]].tolist())
        return memory

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


def _take(share: float, counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the share of counts in whole ones, rounded up, so that what is not zero falls."""
    # Less what a product may be too large by: 0.07 of 100 is 7.
    taken = np.ceil(share * counts - 1e-9)
    whole: NDArray[np.int32] = np.maximum(taken, counts > 0).astype(np.int32)
    return whole


def sum_rows(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of each row, some of which may be empty."""
    sums = np.zeros(len(values) + 1, values.dtype)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[starts])
