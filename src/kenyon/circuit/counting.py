"""The default memory of the fly: counters alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon.circuit.capabilities import Extinguishes
from kenyon.circuit.summing import SummingMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.memory import Rates
    from kenyon.circuit.plain_labels import Label


class CountingMemory(SummingMemory, Extinguishes):
    """Counters, read with weights min(count, cap) / cap, cap = 255 / learning rate."""

    def extinguish(
        self, codes: Codes, y: Sequence[Label], share: float, rates: Sequence[Rates]
    ) -> None:
        ((_, own),) = self.compartments(rates)
        if self.window is not None:
            raise ValueError(
                "extinguish is not possible: with a window the counters must stay sums of its "
                "samples"
            )
        weakened = {}
        for slot, hits in count_hits(codes, self.labels.slots(y), self.n_cells):
            counts = self.store.get(slot)
            # A count above the cap has no weight; if it stayed, it would hide the reduction.
            cap = self.store.cap(slot, own.learning_rate)
            counts[hits > 0] = np.minimum(counts[hits > 0], cap)
            for n_before in range(hits.max()):
                again = hits > n_before
                counts[again] -= _reduction(share, counts[again])
            if not np.array_equal(counts, self.store.get(slot)):
                weakened[slot] = counts
        if weakened:
            slots = np.array([*weakened], np.int32)
            labels = self.labels.weakened(weakened)
            self.store.weaken(slots, np.array([*weakened.values()]), labels)


def count_hits(
    codes: Codes, slots: NDArray[np.int32], n_cells: int
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each slot among `slots` with the number of its codes in which each cell is active."""
    starts, cells, _ = codes.to_csr()
    slot_of_cell = np.repeat(slots, np.diff(starts))
    for slot in np.unique(slots).tolist():
        yield slot, np.bincount(cells[slot_of_cell == slot], minlength=n_cells)


def _reduction(share: float, counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the share of counts, rounded up to an integer, so that every positive count falls."""
    # The tolerance absorbs rounding of the product: 0.07 of 100 is 7.
    reduction = np.ceil(share * counts - 1e-9)
    whole: NDArray[np.int32] = np.maximum(reduction, counts > 0).astype(np.int32)
    return whole
