"""An exact sliding window: the codes of the latest samples, so that each is unlearned in time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_COUNT, Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon._native import Codes, Counters, Pairs

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
    is_whole = window.is_all_of(store)
    if is_whole and pairs is not None:
        is_whole = pairs.n_samples == len(window) and _is_gram(window, content["pairs"])
    if not is_whole:
        raise ValueError("its sums are not those of its window")
    return window


def _parts(window: Window) -> Iterator[tuple[Codes, NDArray[np.int32]]]:
    # Codes of one call take as much memory as the longest for each of them.
    for first in range(0, len(window), _PART):
        yield window.part(first, min(first + _PART, len(window)))


def _is_gram(window: Window, pairs: NDArray[Any]) -> bool:
    """Return whether pairs are the sums of products of the window's codes.

    Both are multiplied by one random vector, modulo 2**64 (Freivalds 1977). To add the products up
    again would take as long as to learn the samples.
    """
    n_cells = round((math.sqrt(8 * len(pairs) + 1) - 1) / 2)
    vector = np.random.default_rng().integers(0, 2**32, n_cells).astype(np.uint64)
    found, expected = np.zeros_like(vector), np.zeros_like(vector)
    for codes, _ in _parts(window):
        starts, cells, levels = codes.to_csr()
        sums = np.zeros(len(cells) + 1, np.uint64)
        np.cumsum(levels * vector[cells], out=sums[1:])
        of_code = np.repeat(np.diff(sums[starts]), np.diff(starts))
        np.add.at(expected, cells, levels * of_code)
    first = 0
    for i in range(n_cells):
        row = pairs[first : first + i + 1].astype(np.uint64)
        found[i] += (row * vector[: i + 1]).sum()
        found[:i] += row[:i] * vector[i]
        first += i + 1
    return np.array_equal(found, expected)
