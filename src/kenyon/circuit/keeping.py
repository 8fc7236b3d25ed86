"""Codes that a memory keeps, to be read as if it had not learned them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes, Counters

TENSORS = ("kept_bounds", "kept_samples", "kept_counts", "kept_starts", "kept_codes")
"""The names of what is saved of them."""


class Kept(NamedTuple):
    """Codes of samples that were learned.

    Parameters
    ----------
    codes : Codes
        All different within a class, one class after the other.
    ranks : ndarray of int32
        The place of each code's class among the memory's.
    counts : ndarray of int64
        How many samples had the code.
    """

    codes: Codes
    ranks: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """How much each code counts, 1 in all: classes count alike, as do samples of one."""
        per_class = np.bincount(self.ranks, weights=self.counts)
        n_classes = max(1, int(np.count_nonzero(per_class)))
        shares: NDArray[np.float64] = self.counts / (per_class[self.ranks] * n_classes)
        return shares


def get_kept(store: Counters) -> dict[str, NDArray[Any]]:
    """Return all codes that are kept, for `set_kept`: class after class in their order."""
    each = [store.get_kept(slot) for slot in store.slot_of_rank.tolist()]
    lengths = [np.diff(starts) for _, _, starts, _ in each]
    return {
        "kept_bounds": np.array([bound for bound, *_ in each], np.int64),
        "kept_samples": np.array([len(counts) for _, counts, *_ in each], np.int64),
        "kept_counts": np.concatenate([np.empty(0, np.int64), *(counts for _, counts, *_ in each)]),
        "kept_starts": np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64),
        "kept_codes": np.concatenate([np.empty(0, np.uint8), *(code for *_, code in each)]),
    }


def keep_none(store: Counters, slot: int) -> None:
    """Drop the codes of a class, and keep none of those that follow."""
    store.set_kept(slot, 0, np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint8))


def set_kept(store: Counters, content: dict[str, NDArray[Any]]) -> None:
    """Keep the codes that were got, or refuse what cannot be such codes.

    Codes that the counters have not seen are dropped: a model can have them to which samples that
    it never learned were taken for unlearned.
    """
    slots, samples = store.slot_of_rank, store.samples
    if TENSORS[0] not in content:
        # Written before codes were kept: nothing is known of the samples that were learned.
        for slot in np.flatnonzero(samples).tolist():
            keep_none(store, slot)
        return
    bounds, numbers, counts, starts, codes = (content[name] for name in TENSORS)
    if len(starts) != len(counts) + 1 or sum(numbers.tolist()) != len(counts):
        raise ValueError("its kept codes do not add up")
    if (starts[0], starts[-1]) != (0, len(codes)):
        raise ValueError("its kept codes do not add up")
    ends = np.cumsum(numbers)
    for slot, bound, first, end in zip(
        slots.tolist(), bounds.tolist(), (ends - numbers).tolist(), ends.tolist(), strict=True
    ):
        of_class = counts[first:end], starts[first : end + 1]
        # As Python's numbers, since those of a damaged file might overflow.
        n_samples = sum(of_class[0].tolist())
        if n_samples > samples[slot] or not store.set_kept(slot, bound, *of_class, codes):
            raise ValueError("its kept codes are not codes of samples that were learned")
        if not are_counted(store, slot):
            keep_none(store, slot)


def are_counted(store: Counters, slot: int) -> bool:
    """Return whether the counters of a class hold all codes that are kept of it."""
    codes, _, counts = store.kept_codes(np.array([slot], np.int32))
    if counts.sum() > store.samples[slot]:
        return False
    starts, cells, levels = codes.to_csr()
    counters = store.get(slot)
    seen = np.bincount(cells, np.repeat(counts, np.diff(starts)) * 1.0 * levels, len(counters))
    return bool((seen <= counters).all())
