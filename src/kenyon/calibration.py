"""Calibrated probabilities from scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from kenyon.circuit import SummingMemory
from kenyon.circuit.forks import no_forks
from kenyon.readouts.blas_threads import blas_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_RANGES = (math.exp(-20.1), math.exp(20.1)), (0.19, 2.01), (5e-324, 1e300)
"""Slopes, exponents and units that a fit may give, with room for rounding."""
_CALIBRATION = "calibration"
N_NEAR, N_GROUPS = 1024, 256
"""Classes whose distances are exact, and groups of the others."""


class Distances(NamedTuple):
    """The distances of some samples' scores to their best scores.

    With many classes those nearest to the best are exact. The others are in groups of neighbours,
    each represented by its mean distance: they hardly differ, and matter little.

    Parameters
    ----------
    to_all : ndarray of shape (n_samples, n_columns)
        The distances of all classes.
    numbers : ndarray of shape (n_columns,)
        The number of classes that each column represents.
    to_own : ndarray of shape (n_samples,)
        The distance of the true class.
    """

    to_all: Floats
    numbers: Floats
    to_own: Floats

    @classmethod
    def of(cls, scores: Floats, ranks: NDArray[Any]) -> Distances:
        """Return the distances for scores and the ranks of the true classes."""
        distances = _distances(scores)
        own = distances[np.arange(len(ranks)), ranks]
        n_distant = distances.shape[1] - N_NEAR
        if n_distant <= N_GROUPS:
            return cls(distances, np.ones(distances.shape[1]), own)
        distances.sort(axis=1)
        starts = np.arange(N_GROUPS) * n_distant // N_GROUPS
        sizes = np.diff(starts, append=n_distant).astype(np.float64)
        groups = np.add.reduceat(distances[:, N_NEAR:], starts, axis=1) / sizes
        near = distances[:, :N_NEAR]
        return cls(np.hstack([near, groups]), np.concatenate([np.ones(N_NEAR), sizes]), own)

    @classmethod
    def joined(cls, parts: Sequence[Distances]) -> Distances:
        """Return the distances of all samples of several parts, with the same classes."""
        to_all, numbers, to_own = zip(*parts, strict=True)
        return cls(np.concatenate(to_all), numbers[0], np.concatenate(to_own))


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
        return cls.fit_distances(Distances.of(scores, ranks), shares)

    @classmethod
    def fit_distances(cls, distances: Distances, shares: Floats) -> Calibration:
        """Return the same fit to the distances of scores to the best score."""
        to_all, numbers, to_own = distances
        n, n_classes = len(to_own), float(numbers.sum())
        unit = float(np.einsum("ij,j->i", to_all, numbers).mean() / n_classes) or 1.0
        # log(0) must be finite; the power of such a distance still rounds to 0.
        tiny = np.finfo(np.float64).tiny
        logs, own_logs = (np.log(np.maximum(each / unit, tiny)) for each in (to_all, to_own))
        # The targets: all but one of n + 1 samples are of the true class.
        spread, own_target = numbers / ((n + 1) * n_classes), n / (n + 1)
        powers, slopes, weights = (np.empty_like(logs) for _ in range(3))

        def loss(parameters: Floats) -> tuple[float, Floats]:
            # Readers of a server wait for Python's global lock meanwhile. So there are few passes,
            # in place.
            slope, power = parameters
            exponent = math.exp(power)
            np.multiply(logs, exponent, out=powers)
            np.exp(np.add(powers, slope, out=powers), out=powers)
            np.multiply(powers, logs, out=slopes)
            np.exp(np.negative(powers, out=weights), out=weights)
            np.multiply(weights, numbers, out=weights)
            # The best class has the distance 0, so no total is below 1.
            totals = weights.sum(axis=1)
            own = np.exp(slope + exponent * own_logs) * own_target
            costs = np.einsum("ij,j->i", powers, spread) + own
            by_slope = costs - np.einsum("ij,ij->i", weights, powers) / totals
            by_power = np.einsum("ij,j->i", slopes, spread) + own * own_logs
            by_power -= np.einsum("ij,ij->i", weights, slopes) / totals
            stiff = STIFFNESS / n
            value = (shares * (np.log(totals) + costs)).sum() + stiff * power**2
            of_slope, of_power = ((shares * each).sum() for each in (by_slope, by_power))
            return value, np.array([of_slope, of_power * exponent + 2 * stiff * power])

        # The solver calls LAPACK for its two unknowns, and holds Python's global lock. Waking the
        # threads of BLAS would take longer than all the rest. BLAS has locks, for which a process
        # that is forked meanwhile would wait for ever, and it would keep the limit.
        with no_forks, blas_threads(1):
            found = minimize(
                loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=(LOG_SLOPES, LOG_EXPONENTS)
            )
        slope, exponent = np.exp(found.x).tolist()
        return cls(slope, exponent, unit)

    def exponents(self, scores: Floats) -> Floats:
        """Return how far the logarithm of each probability is below that of the best class."""
        distances = _distances(scores)
        distances /= self.unit
        distances **= self.exponent
        distances *= self.slope
        return distances

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class; the highest score has the highest."""
        return _softmin(self.exponents(scores), scores)


def probabilities(snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int) -> Floats:
    """Return the probability of each class; without a calibration sample, the softmax."""
    scores = readout.scores(snapshot, codes, n_threads)
    return calibrate_scores(snapshot, readout, scores, n_threads)


def calibrate_scores(
    snapshot: Snapshot, readout: Readout, scores: Floats, n_threads: int
) -> Floats:
    """Return the probabilities of scores that a readout has computed."""
    return _softmin(_exponents(snapshot, readout, scores, n_threads), scores)


def log_odds(snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int) -> Floats:
    """Return the logarithm of p / (1 - p) for the probability p of each class.

    Near 0 and 1, where probabilities are rounded, it is still exact. There are at least two
    classes.
    """
    scores = readout.scores(snapshot, codes, n_threads)
    logits = np.negative(_exponents(snapshot, readout, scores, n_threads))
    total = logsumexp(logits, axis=1, keepdims=True)
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    # The probability of the best class may round to 1, so its complement is summed up.
    others = logits.copy()
    others[rows, best] = -np.inf
    odds: Floats = np.empty_like(logits)
    with np.errstate(divide="ignore"):
        odds[:] = logits - total - np.log1p(-np.exp(logits - total))
    odds[rows, best] = logits[rows, best] - logsumexp(others, axis=1)
    return _prefer(odds, best)


def _exponents(snapshot: Snapshot, readout: Readout, scores: Floats, n_threads: int) -> Floats:
    calibration = calibrate(snapshot, readout, n_threads)
    return _distances(scores) if calibration is None else calibration.exponents(scores)


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
        parts = [
            Distances.of(readout.held_out_scores(snapshot, part, n_threads), part.ranks)
            for part in sample.parts(len(memory))
        ]
        return Calibration.fit_distances(Distances.joined(parts), sample.shares)

    return snapshot.cache.get(_CALIBRATION, _key(snapshot, readout, n_threads), fit)


def derived_values(snapshot: Snapshot, readout: Readout, n_threads: int) -> list[float] | None:
    """Return the cached calibration as numbers, to be saved, or None."""
    calibration: Calibration | None
    calibration = snapshot.cache.find(_CALIBRATION, _key(snapshot, readout, n_threads))
    if calibration is None:
        return None
    return [calibration.slope, calibration.exponent, calibration.unit]


def restore_derived(snapshot: Snapshot, readout: Readout, values: Any, n_threads: int) -> None:
    """Use a calibration that was saved with the readout's derived values.

    Raises
    ------
    ValueError
        If no fit gives these numbers.
    """
    is_list = type(values) is list and len(values) == len(_RANGES)
    if not is_list or not all(type(value) is float for value in values):
        raise ValueError(f"its calibration must be three numbers, but is {values!r:.80}")
    for value, (low, high) in zip(values, _RANGES, strict=True):
        if not low <= value <= high:
            raise ValueError(f"its calibration {values!r:.80} is outside the bounds of a fit")
    key = _key(snapshot, readout, n_threads)
    snapshot.cache.put(_CALIBRATION, key, Calibration(*values))


def _key(snapshot: Snapshot, readout: Readout, n_threads: int) -> tuple[Readout, int]:
    return readout, readout.calibration_version(snapshot, n_threads)


def _softmin(exponents: Floats, scores: Floats) -> Floats:
    """Return probabilities proportional to exp(-exponents), which are 0 at the best scores."""
    weights = np.exp(np.negative(exponents, out=exponents), out=exponents)
    weights /= weights.sum(axis=1, keepdims=True)
    return _prefer(weights, scores.argmax(axis=1))


def _prefer(probabilities: Floats, best: NDArray[np.intp]) -> Floats:
    """Make the best class's probability, or log-odds, the highest where rounding did not."""
    tied = np.flatnonzero(probabilities.argmax(axis=1) != best)
    probabilities[tied, best[tied]] = np.nextafter(probabilities[tied].max(axis=1), 2.0)
    return probabilities


def _distances(scores: Floats) -> Floats:
    distances: Floats = scores.max(axis=1, keepdims=True) - scores
    return distances
