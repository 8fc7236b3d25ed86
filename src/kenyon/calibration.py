"""Calibrated probabilities from scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from kenyon.circuit import SummingMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Snapshot
    from kenyon.readouts import Readout
    from kenyon.readouts.readout import Floats

LOG_SLOPES = -20.0, 20.0
LOG_EXPONENTS = math.log(0.2), math.log(2.0)
"""The bounds of the fit."""
STIFFNESS = 2.0
"""The penalty on the squared logarithm of the exponent, in nats."""


@dataclass(frozen=True)
class Calibration:
    """Probabilities that fall with the distance of a class's score to the best score.

    The probability of a class is proportional to exp(-slope * (distance / unit) ** exponent). With
    an exponent of 1 that is a softmax with a temperature.
    """

    slope: float
    exponent: float
    unit: float

    @classmethod
    def fit(cls, scores: Floats, ranks: NDArray[Any], shares: Floats) -> Calibration:
        """Return the maximum-likelihood fit to scores, ranks of the true classes and weights.

        One pseudo-sample, spread over all classes, prevents certainty where there are few samples.
        """
        distances = _distances(scores)
        unit = float(distances.mean()) or 1.0
        # log(0) must be finite; the power of such a distance still rounds to 0.
        logs = np.log(np.maximum(distances / unit, np.finfo(np.float64).tiny))
        n, n_classes = scores.shape
        targets = np.full((n, n_classes), 1 / ((n + 1) * n_classes))
        targets[np.arange(n), ranks] += n / (n + 1)

        def loss(parameters: Floats) -> tuple[float, Floats]:
            slope, power = parameters
            exponent = math.exp(power)
            logits = -np.exp(slope + exponent * logs)
            rest = logsumexp(logits, axis=1)
            likelihood = shares @ (rest - np.einsum("ij,ij->i", targets, logits))
            steps = (np.exp(logits - rest[:, np.newaxis]) - targets) * logits
            by_slope = shares @ steps.sum(axis=1)
            by_power = shares @ np.einsum("ij,ij->i", steps, logs) * exponent
            stiff = STIFFNESS / n
            return likelihood + stiff * power**2, np.array([by_slope, by_power + 2 * stiff * power])

        found = minimize(
            loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=(LOG_SLOPES, LOG_EXPONENTS)
        )
        slope, exponent = np.exp(found.x).tolist()
        return cls(slope, exponent, unit)

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class; the highest score has the highest."""
        distances = _distances(scores)
        distances /= self.unit
        distances **= self.exponent
        distances *= self.slope
        return _softmin(distances, scores)


def probabilities(snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int) -> Floats:
    """Return the probability of each class; without a calibration sample, the softmax."""
    scores = readout.scores(snapshot, codes, n_threads)
    return calibrate_scores(snapshot, readout, scores, n_threads)


def calibrate_scores(
    snapshot: Snapshot, readout: Readout, scores: Floats, n_threads: int
) -> Floats:
    """Return the probabilities of scores that a readout has computed."""
    calibration = calibrate(snapshot, readout, n_threads)
    if calibration is None:
        return _softmin(_distances(scores), scores)
    return calibration.probabilities(scores)


def calibrate(snapshot: Snapshot, readout: Readout, n_threads: int) -> Calibration | None:
    """Fit probabilities to held-out scores, or return None if there are none.

    Classes count alike. None is not cached: later samples may give some without a new version.
    """
    memory = snapshot.memory

    def fit() -> Calibration | None:
        if not isinstance(memory, SummingMemory) or len(memory) == 1:
            return None
        sample = memory.calibration_sample()
        if not len(sample.codes):
            return None
        scores = readout.held_out_scores(snapshot, sample, n_threads)
        return Calibration.fit(scores, sample.ranks, sample.shares)

    key = readout, readout.calibration_version(snapshot, n_threads)
    return snapshot.cache.get("calibration", key, fit)


def _softmin(exponents: Floats, scores: Floats) -> Floats:
    """Return probabilities proportional to exp(-exponents), which are 0 at the best scores."""
    weights = np.exp(np.negative(exponents, out=exponents), out=exponents)
    weights /= weights.sum(axis=1, keepdims=True)
    return _prefer(weights, scores.argmax(axis=1))


def _prefer(probabilities: Floats, best: NDArray[np.intp]) -> Floats:
    """Make the best class's probability the highest where rounding made others equal."""
    tied = np.flatnonzero(probabilities.argmax(axis=1) != best)
    probabilities[tied, best[tied]] = np.nextafter(probabilities[tied].max(axis=1), 2.0)
    return probabilities


def _distances(scores: Floats) -> Floats:
    distances: Floats = scores.max(axis=1, keepdims=True) - scores
    return distances
