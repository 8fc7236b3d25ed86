"""The calibration sample: codes that readouts read as if they were not learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon._native import Codes, Counters

TENSORS = (
    "calibration_common_threshold",
    "calibration_thresholds",
    "calibration_sizes",
    "calibration_counts",
    "calibration_starts",
    "calibration_codes",
)
"""The names of its tensors in a memory's content."""
FIRST_THRESHOLD = 1 << 62
"""The threshold of all classes before there are too many codes."""
MAX_SCORES = 1 << 20
"""Scores of a calibration sample that are computed at a time: 8 MB."""


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

    def parts(self, n_classes: int) -> Iterator[CalibrationSample]:
        """Yield the sample in parts, with at most `MAX_SCORES` scores of all classes each."""
        size = max(1, MAX_SCORES // max(1, n_classes))
        for first in range(0, len(self.codes), size):
            end = min(first + size, len(self.codes))
            yield CalibrationSample(
                self.codes.part(first, end), self.ranks[first:end], self.counts[first:end]
            )


def to_tensors(store: Counters) -> dict[str, NDArray[Any]]:
    """Return the calibration sample as tensors, class after class in the order of ranks."""
    return dict(zip(TENSORS, store.get_calibration(), strict=True))


def restore(store: Counters, content: dict[str, NDArray[Any]]) -> None:
    """Set the calibration sample, or raise ValueError if the tensors are inconsistent.

    A class whose counters do not contain its codes gets no calibration sample: such a model has
    unlearned samples that it never learned.
    """
    if TENSORS[-1] not in content:
        # Format version 1 has no calibration sample: it cannot be complete for these classes.
        store.disable_calibration(np.flatnonzero(store.samples).astype(np.int32))
        return
    common, *others = (content[name] for name in TENSORS)
    if not store.set_calibration(int(common[0]), *others):
        raise ValueError("its calibration sample holds codes that were not learned")
    wrong = [slot for slot in range(store.n_classes) if not store.includes_calibration(slot)]
    store.disable_calibration(np.array(wrong, np.int32))
