"""The calibration sample: codes of each class that readouts read as if they were not learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes, Counters

TENSORS = (
    "calibration_thresholds",
    "calibration_sizes",
    "calibration_counts",
    "calibration_starts",
    "calibration_codes",
)
"""The names of its tensors in a memory's content."""


class CalibrationSample(NamedTuple):
    """Codes of samples that were learned.

    Parameters
    ----------
    codes : Codes
        Distinct within a class, one class after the other.
    ranks : ndarray of int32
        The rank of each code's class.
    counts : ndarray of int64
        The number of samples that had the code.
    """

    codes: Codes
    ranks: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weight of each code, 1 in all: equal for classes, and for the samples of a class."""
        per_class = np.bincount(self.ranks, weights=self.counts)
        n_classes = max(1, int(np.count_nonzero(per_class)))
        shares: NDArray[np.float64] = self.counts / (per_class[self.ranks] * n_classes)
        return shares


def to_tensors(store: Counters) -> dict[str, NDArray[Any]]:
    """Return the calibration sample as tensors, class after class in the order of ranks."""
    each = [store.get_calibration(slot) for slot in store.slot_of_rank.tolist()]
    lengths = [np.diff(starts) for _, _, starts, _ in each]
    tensors = (
        np.array([threshold for threshold, *_ in each], np.int64),
        np.array([len(counts) for _, counts, *_ in each], np.int64),
        np.concatenate([np.empty(0, np.int64), *(counts for _, counts, *_ in each)]),
        np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64),
        np.concatenate([np.empty(0, np.uint8), *(code for *_, code in each)]),
    )
    return dict(zip(TENSORS, tensors, strict=True))


def disable(store: Counters, slot: int) -> None:
    """Empty the calibration sample of a class, and add none of the samples that follow."""
    nothing = np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint8)
    store.set_calibration(slot, 0, *nothing)


def restore(store: Counters, content: dict[str, NDArray[Any]]) -> None:
    """Set the calibration sample, or raise ValueError if the tensors are inconsistent.

    A class whose counters do not contain its codes gets no calibration sample: such a model has
    unlearned samples that it never learned.
    """
    slots, samples = store.slot_of_rank, store.samples
    if TENSORS[0] not in content:
        # Format version 1 has no calibration sample: it cannot be complete for these classes.
        for slot in np.flatnonzero(samples).tolist():
            disable(store, slot)
        return
    thresholds, sizes, counts, starts, codes = (content[name] for name in TENSORS)
    is_complete = len(starts) == len(counts) + 1 and sum(sizes.tolist()) == len(counts)
    if not is_complete or (starts[0], starts[-1]) != (0, len(codes)):
        raise ValueError("the sizes of its calibration sample do not add up")
    ends = np.cumsum(sizes)
    for slot, threshold, first, end in zip(
        slots.tolist(), thresholds.tolist(), (ends - sizes).tolist(), ends.tolist(), strict=True
    ):
        of_class = counts[first:end], starts[first : end + 1]
        # Python's integers, since those of a damaged file might overflow.
        n_samples = sum(of_class[0].tolist())
        if n_samples > samples[slot] or not store.set_calibration(
            slot, threshold, *of_class, codes
        ):
            raise ValueError("its calibration sample holds codes that were not learned")
        if not is_counted(store, slot):
            disable(store, slot)


def is_counted(store: Counters, slot: int) -> bool:
    """Return whether the counters of a class contain its calibration sample."""
    codes, _, counts = store.calibration_codes(np.array([slot], np.int32))
    if counts.sum() > store.samples[slot]:
        return False
    starts, cells, levels = codes.to_csr()
    counters = store.get(slot)
    sums = np.bincount(cells, np.repeat(counts, np.diff(starts)) * 1.0 * levels, len(counters))
    return bool((sums <= counters).all())
