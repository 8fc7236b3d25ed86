"""The calibration of probabilities, and the accuracy of the confident compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kenyon.cli.evaluation.shares import Share, ratio

if TYPE_CHECKING:
    from kenyon.cli.evaluation.comparison import Comparison

N_BINS = 10
"""The bins of the reliability diagram, of equal width."""
N_LEVELS = 1000
"""The levels of confidence at which coverage and accuracy are known."""
BIN_EDGES = np.linspace(0.0, 1.0, N_BINS + 1)
LEVEL_EDGES = np.arange(N_LEVELS + 1) / N_LEVELS  # Exact, unlike those of linspace.
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The thresholds of the table; each is one of the levels."""
SMALLEST = float(np.finfo(np.float64).eps)
"""The smallest probability in the log loss, as in scikit-learn."""


class ReliabilityBin(NamedTuple):
    """Rows whose confidence is above `low` and at most `high`; the first bin includes 0."""

    low: float
    high: float
    confidence: float | None
    accuracy: Share


class Level(NamedTuple):
    """Rows with at least some confidence."""

    confidence: float
    coverage: Share
    accuracy: Share


class Confidences:
    """Sums over the rows of each bin and level of confidence."""

    def __init__(self) -> None:
        self._rows, self._correct = np.zeros(N_BINS, np.int64), np.zeros(N_BINS, np.int64)
        self._confidences = np.zeros(N_BINS)
        self._level_rows = np.zeros(N_LEVELS + 1, np.int64)
        self._level_correct = np.zeros(N_LEVELS + 1, np.int64)
        self._log_loss = self._brier = 0.0
        self._n_known = 0

    def add(self, compared: Comparison) -> None:
        """Add some rows."""
        confidences, correct = compared.confidences, compared.is_correct
        # As scikit-learn's calibration_curve: a confidence on an edge is in the lower bin.
        bins = np.searchsorted(BIN_EDGES[1:-1], confidences)
        self._rows += np.bincount(bins, minlength=N_BINS)
        self._correct += np.bincount(bins[correct], minlength=N_BINS)
        self._confidences += np.bincount(bins, confidences, minlength=N_BINS)
        # On an edge, the confidence reaches the upper level.
        levels = np.searchsorted(LEVEL_EDGES, confidences, side="right") - 1
        self._level_rows += np.bincount(levels, minlength=N_LEVELS + 1)
        self._level_correct += np.bincount(levels[correct], minlength=N_LEVELS + 1)
        known = compared.ranks >= 0
        likelihoods = compared.likelihoods[known]
        self._n_known += len(likelihoods)
        self._log_loss -= float(np.log(np.clip(likelihoods, SMALLEST, 1)).sum())
        self._brier += float((compared.squares[known] - 2 * likelihoods + 1).sum())

    @property
    def log_loss(self) -> float | None:
        """The mean log loss of the rows whose label the model knows, in nats."""
        return ratio(self._log_loss, self._n_known)

    @property
    def brier_score(self) -> float | None:
        """The mean squared error over all classes, of the same rows: 0 to 2."""
        return ratio(self._brier, self._n_known)

    @property
    def mean_confidence(self) -> float | None:
        """The mean probability of the best class."""
        return ratio(float(self._confidences.sum()), int(self._rows.sum()))

    @property
    def calibration_error(self) -> float | None:
        """The expected calibration error of the best class's probability."""
        gaps = float(np.abs(self._confidences - self._correct).sum())
        return ratio(gaps, int(self._rows.sum()))

    def reliability(self) -> list[ReliabilityBin]:
        """Return the bins of the reliability diagram, the empty ones included."""
        edges = BIN_EDGES.tolist()
        columns = (self._confidences, self._correct, self._rows)
        return [
            ReliabilityBin(low, high, ratio(total, rows), Share(correct, rows))
            for low, high, total, correct, rows in zip(
                edges[:-1], edges[1:], *map(np.ndarray.tolist, columns), strict=True
            )
        ]

    def levels(self) -> list[Level]:
        """Return coverage and accuracy at each level that some row reaches exactly or just so."""
        total = int(self._level_rows.sum())
        rows, correct = (
            np.cumsum(counts[::-1])[::-1] for counts in (self._level_rows, self._level_correct)
        )
        return [
            Level(
                float(LEVEL_EDGES[level]),
                Share(int(rows[level]), total),
                Share(int(correct[level]), int(rows[level])),
            )
            for level in np.flatnonzero(self._level_rows)
        ]

    def at_thresholds(self) -> list[Level]:
        """Return coverage and accuracy at the thresholds of the table."""
        total, found = int(self._level_rows.sum()), []
        for threshold in THRESHOLDS:
            first = round(threshold * N_LEVELS)
            rows = int(self._level_rows[first:].sum())
            correct = int(self._level_correct[first:].sum())
            found.append(Level(threshold, Share(rows, total), Share(correct, rows)))
        return found
