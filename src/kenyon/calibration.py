"""Scores made into probabilities that can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from kenyon.circuit.readout import derive_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Memory, Readout

    Matrix = NDArray[np.float64]

SLOPES = -20.0, 20.0
EXPONENTS = math.log(0.2), math.log(2.0)
"""Both as logarithms: where the fit looks for them."""
STIFFNESS = 2.0
"""What an exponent other than 1 must be worth: in nats, times its logarithm squared."""


@dataclass(frozen=True)
class Calibration:
    """Probabilities that fall with how far a class's score is below the best.

    The probability of a class is proportional to exp(-slope * (distance / unit) ** exponent). With
    an exponent of 1 that is a softmax with a temperature.
    """

    slope: float
    exponent: float
    unit: float

    @classmethod
    def fit(cls, scores: Matrix, ranks: NDArray[Any], shares: NDArray[np.float64]) -> Calibration:
        """Return the most likely one, given scores, the true classes and how much each counts.

        One sample more, which might be of any class, keeps it from being sure of everything where
        there are few.
        """
        distances = _distances(scores)
        unit = float(distances.mean()) or 1.0
        # The logarithm of nothing must only be finite: it is as good as nothing to any power.
        logs = np.log(np.maximum(distances / unit, np.finfo(np.float64).tiny))
        n, n_classes = scores.shape
        targets = np.full((n, n_classes), 1 / ((n + 1) * n_classes))
        targets[np.arange(n), ranks] += n / (n + 1)

        def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
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

        found = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=(SLOPES, EXPONENTS))
        slope, exponent = np.exp(found.x).tolist()
        return cls(slope, exponent, unit)

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return the probability of each class; the highest score's is the highest."""
        logits = -self.slope * (_distances(scores) / self.unit) ** self.exponent
        return _prefer(softmax(logits, axis=1), scores.argmax(axis=1))


def find_probabilities(memory: Memory, readout: Readout, codes: Codes, n_threads: int) -> Matrix:
    """Return the probability of each of a memory's classes; without codes to tell, the softmax."""
    scores = readout.scores(memory, codes, n_threads)
    calibration = calibrate(memory, readout, n_threads)
    if calibration is None:
        return _prefer(softmax(scores, axis=1), scores.argmax(axis=1))
    return calibration.probabilities(scores)


def calibrate(memory: Memory, readout: Readout, n_threads: int) -> Calibration | None:
    """Return how the scores of a memory are read as probabilities, if it keeps codes to tell.

    Each code that it keeps is scored as if it had not been learned. Classes count alike.
    """

    def fit() -> Calibration | None:
        kept = memory.kept
        if kept is None or not len(kept.codes) or len(memory) == 1:
            return None
        scores = readout.held_out_scores(memory, kept, n_threads)
        return Calibration.fit(scores, kept.ranks, kept.shares)

    return derive_once(memory, (Calibration, readout), lambda: readout.basis(memory), fit)


def _prefer(probabilities: Matrix, best: NDArray[np.intp]) -> Matrix:
    """Make the best class's probability the highest where rounding has made others as high."""
    tied = np.flatnonzero(probabilities.argmax(axis=1) != best)
    probabilities[tied, best[tied]] = np.nextafter(probabilities[tied].max(axis=1), 2.0)
    return probabilities


def _distances(scores: Matrix) -> Matrix:
    distances: Matrix = scores.max(axis=1, keepdims=True) - scores
    return distances
