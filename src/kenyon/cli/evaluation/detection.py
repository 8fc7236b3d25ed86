"""The detection of out-of-distribution rows by their novelty scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.cli.evaluation.comparison import OUT_OF_DISTRIBUTION
from kenyon.cli.evaluation.shares import Share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.cli.evaluation.comparison import Comparison

    Counts = NDArray[np.int64]

N_BINS = 10_000
"""The bins of novelty scores from 0 to 1."""


@dataclass(frozen=True, eq=False)
class DetectionResult:
    """How well novelty scores tell out-of-distribution rows from the others.

    Parameters
    ----------
    label : str
        The label of out-of-distribution rows.
    threshold : float
        The novelty score above which a row counts as out-of-distribution.
    detected : Share
        Of the out-of-distribution rows, those above the threshold.
    false_alarms : Share
        Of the other rows, those above the threshold.
    accuracy : Share
        Rows with the right answer, if the model answers `label` above the threshold.
    auroc : float or None
        The share of pairs of an out-of-distribution row and another in which the first has the
        higher score. Computed from bins: pairs in one bin count half.
    auroc_error : float or None
        The largest error that the bins can cause.
    histogram : tuple of two ndarray
        The counts by bin of the other rows, and of the out-of-distribution rows.
    """

    label: str
    threshold: float
    detected: Share
    false_alarms: Share
    accuracy: Share
    auroc: float | None
    auroc_error: float | None
    histogram: tuple[Counts, Counts]

    def as_json(self) -> dict[str, Any]:
        """Return the measures as values that JSON can hold."""
        return {
            "label": self.label,
            "novelty_threshold": self.threshold,
            "detected": self.detected.as_json(),
            "false_alarms": self.false_alarms.as_json(),
            "accuracy": self.accuracy.as_json(),
            "auroc": self.auroc,
            "auroc_error": self.auroc_error,
        }


class Detection:
    """Counts of novelty scores by bin.

    Parameters
    ----------
    label : str
        The label of out-of-distribution rows.
    threshold : float
        The novelty score above which a row counts as out-of-distribution.
    """

    def __init__(self, label: str, threshold: float) -> None:
        self.label, self.threshold = label, threshold
        self._familiar, self._novel = np.zeros(N_BINS, np.int64), np.zeros(N_BINS, np.int64)
        self._n_detected = self._n_false_alarms = self._n_correct = 0

    def add(self, compared: Comparison) -> None:
        """Count some rows, which have novelty scores."""
        assert compared.novelty is not None
        bins = np.clip((compared.novelty * N_BINS).astype(np.int64), 0, N_BINS - 1)
        outside, alarm = compared.ranks == OUT_OF_DISTRIBUTION, compared.novelty > self.threshold
        self._familiar += np.bincount(bins[~outside], minlength=N_BINS)
        self._novel += np.bincount(bins[outside], minlength=N_BINS)
        self._n_detected += int((outside & alarm).sum())
        self._n_false_alarms += int((~outside & alarm).sum())
        self._n_correct += int(np.where(alarm, outside, compared.is_correct).sum())

    def result(self) -> DetectionResult:
        """Return the measures of all rows so far."""
        n_familiar, n_novel = int(self._familiar.sum()), int(self._novel.sum())
        auroc = error = None
        if n_familiar and n_novel:
            familiar, novel = self._familiar / n_familiar, self._novel / n_novel
            error = float(familiar @ novel) / 2
            auroc = float((np.cumsum(familiar) - familiar) @ novel) + error
        return DetectionResult(
            label=self.label,
            threshold=self.threshold,
            detected=Share(self._n_detected, n_novel),
            false_alarms=Share(self._n_false_alarms, n_familiar),
            accuracy=Share(self._n_correct, n_familiar + n_novel),
            auroc=auroc,
            auroc_error=error,
            histogram=(self._familiar.copy(), self._novel.copy()),
        )
