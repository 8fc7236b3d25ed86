"""Which synapses are weakened when an association is extinguished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon._native import Codes


def count_hits(
    codes: Codes, slots: NDArray[np.int32], n_cells: int
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Return, for each slot that there are samples of, in how many of them each cell is active."""
    starts, cells, _ = codes.to_csr()
    slot_of_cell = np.repeat(slots, np.diff(starts))
    for slot in np.unique(slots).tolist():
        yield slot, np.bincount(cells[slot_of_cell == slot], minlength=n_cells)
