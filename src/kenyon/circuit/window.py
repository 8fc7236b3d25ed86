"""An exact sliding window: the codes of the latest samples, so that each is unlearned in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_COUNT, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Counters, Pairs

TENSORS = ("window_size", "window_ranks", "window_starts", "window_codes")
"""The names of its tensors in a memory's content."""
_PART = 64


def to_tensors(window: Window, store: Counters) -> dict[str, NDArray[Any]]:
    """Return the window as tensors: the oldest sample first, classes by rank."""
    slots, starts, codes = window.get()
    rank_of_slot = np.argsort(store.slot_of_rank).astype(np.int32)
    size = np.array([window.capacity], np.int64)
    return dict(zip(TENSORS, (size, rank_of_slot[slots], starts, codes), strict=True))


def restore(
    content: dict[str, NDArray[Any]], n_cells: int, store: Counters, pairs: Pairs | None
) -> Window:
    """Return the window, or raise ValueError if the sums are not those of its samples."""
    size, ranks, starts, codes = (content[name] for name in TENSORS)
    if not 1 <= size[0] <= MAX_COUNT:
        raise ValueError(f"its window has the size {size[0]}")
    if len(starts) != len(ranks) + 1 or (starts[0], starts[-1]) != (0, len(codes)):
        raise ValueError("the sizes of its window do not add up")
    if ranks.max(initial=0) >= max(1, store.n_classes):
        raise ValueError("its window holds samples of no class")
    window = Window(n_cells, int(size[0]))
    slots = store.slot_of_rank[ranks] if len(ranks) else ranks
    if not window.set(slots, starts, codes):
        raise ValueError("its window holds bytes that are no codes, or too many codes")
    if not _holds_all(window, store, pairs):
        raise ValueError("its sums are not those of its window")
    return window


def _holds_all(window: Window, store: Counters, pairs: Pairs | None) -> bool:
    """Return whether nothing would remain without the samples of the window."""
    remaining, squares = store.copy(), 0
    # Codes of one call take as much memory as the longest for each of them.
    for first in range(0, len(window), _PART):
        codes, slots = window.part(first, min(first + _PART, len(window)))
        if not remaining.unlearn(codes, slots):
            return False
        squares += int(np.square(codes.to_csr()[2], dtype=np.int64).sum())
    if pairs is not None and (pairs.n_samples, pairs.trace) != (len(window), float(squares)):
        return False
    return not (remaining.samples.any() or any(map(remaining.has_residue, range(store.n_classes))))
