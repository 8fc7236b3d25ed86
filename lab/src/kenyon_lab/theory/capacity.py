"""Capacity: accuracy predicted from the overlaps of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kenyon.suggest import MASS, activity, count_chances
from kenyon_lab.theory.cells import cosine_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_STEPS = 32
"""Bins of a cell's count; they bound the work for many samples."""

_CORRELATIONS = np.linspace(-0.95, 0.999, 400)
_NORMAL, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Overlaps:
    """The share of its winners that a sample has in common with the samples of a class.

    The share is averaged over the samples of the class. These are its mean and its standard
    deviation over samples and classes.

    Parameters
    ----------
    within, within_spread : float
        For the other samples of the sample's own class.
    between, between_spread : float
        For the samples of another class.
    """

    within: float
    within_spread: float
    between: float
    between_spread: float

    @classmethod
    def of_prototypes(
        cls, within: float, n_features: int, n_samples: int, active: float
    ) -> Overlaps:
        """Return the overlaps of noisy copies of unrelated random prototypes.

        The spreads come from the inputs: the cosines of unrelated inputs vary around 0 by
        1 / sqrt(n_features).

        Parameters
        ----------
        within : float
            The mean overlap of two samples of a class.
        n_features, n_samples : int
            Features of an input, and samples learned of each class.
        active : float
            The share of cells that win.
        """
        r = cosine_within(within, active)
        own = (1 - r) ** 2 + ((1 - r**2) ** 2 / r - (1 - r) ** 2 * (1 + 1.5 * r)) / n_samples
        other = 1 + (1 - r) / (r * n_samples)
        shares = _mean_overlap(r, active)
        slopes = np.interp([np.sqrt(r), 0], _CORRELATIONS, np.gradient(shares, _CORRELATIONS))
        spreads = slopes * np.sqrt(np.array([own, other]) / n_features)
        return cls(within, float(spreads[0]), active, float(spreads[1]))

    @classmethod
    def measure(cls, codes: Any, y: NDArray[np.intp]) -> Overlaps:
        """Measure the overlaps of coded samples, at least two of each class.

        Parameters
        ----------
        codes : sparse matrix of shape (n_samples, n_cells)
            From `SparseCoder`; only the set of active cells is used.
        y : array of shape (n_samples,)
            Classes, as integers from 0.
        """
        winners = sparse.csr_matrix(codes, copy=True).astype(np.float32)
        winners.data[:] = 1
        n_samples, n_classes = len(y), int(y.max()) + 1
        members = sparse.csr_matrix(
            (np.ones(n_samples, np.float32), (y, np.arange(n_samples))), (n_classes, n_samples)
        )
        shared = (winners @ (members @ winners).T).toarray()
        n_active = np.diff(winners.indptr)
        rows, sizes = np.arange(n_samples), np.bincount(y)
        own = (shared[rows, y] - n_active) / (sizes[y] - 1) / n_active
        others = shared / sizes / n_active[:, np.newaxis]
        others = others[np.arange(n_classes) != y[:, np.newaxis]]
        return cls(*(float(v) for v in (own.mean(), own.std(), others.mean(), others.std())))


def predict_accuracy(
    n_cells: int, n_active: int, n_classes: int, n_samples: int, overlaps: Overlaps
) -> float:
    """Predict the accuracy from the overlaps of codes.

    Winners are equal, and weights are counts without a cap. The score of a class is the sum of one
    count per winner. The distribution of these counts depends on the correlation of the sample with
    the class, which is modelled as normal with the given means and spreads. The distribution of the
    sum is then exact, and the sample's class must have the largest sum.

    Parameters
    ----------
    n_cells, n_active : int
        Cells, and winners of a code.
    n_classes, n_samples : int
        Classes, and samples learned of each.
    overlaps : Overlaps
        Measured, or of random prototypes.

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from kenyon_lab.theory.capacity import Overlaps, predict_accuracy
    >>> overlaps = Overlaps.of_prototypes(0.15, n_features=100, n_samples=5, active=0.05)
    >>> [round(predict_accuracy(2000, 100, n, 5, overlaps), 2) for n in (10, 100, 1000, 10_000)]
    [0.98, 0.91, 0.75, 0.51]
    """
    active = n_active / n_cells
    r = cosine_within(overlaps.within, active)
    steps = _count_steps(n_samples, activity(np.sqrt(r), active))
    shares = _mean_overlap(r, active)
    size = n_active * (len(steps) - 1) + 1
    own, other = (
        _score_chances(_correlate(mean, spread, shares), active, steps, n_active, size)
        for mean, spread in (
            (overlaps.within, overlaps.within_spread),
            (overlaps.between, overlaps.between_spread),
        )
    )
    return float(own @ _chance_ahead(other, n_classes) / own.sum())


def _chance_ahead(other: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the probability that each score is the largest of all classes, ties broken at random.

    It is the mean of x^(n_classes - 1) for x from P(other < score) to P(other <= score).
    """
    most = np.minimum(np.cumsum(other), 1)
    less = np.concatenate([[0], most[:-1]])
    width = most - less
    ends = most**n_classes - less**n_classes
    apart = width > 1e-9
    mean = most ** (n_classes - 1)
    mean[apart] = ends[apart] / (n_classes * width[apart])
    return mean


def _mean_overlap(r: float, active: float) -> NDArray[np.float64]:
    """Return the mean share of common winners with a class's samples, at each correlation."""
    chances = activity(np.sqrt(r), active)
    return np.asarray(activity(_CORRELATIONS, active) @ (MASS * chances) / active)


def _count_steps(n_samples: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each bin of a count (rows) for each kind of cell."""
    n_steps = min(n_samples, _MOST_STEPS)
    of_counts = count_chances(n_samples, chances)
    steps = np.zeros((n_steps + 1, len(chances)))
    np.add.at(steps, np.rint(np.arange(n_samples + 1) * n_steps / n_samples).astype(int), of_counts)
    return steps


def _correlate(mean: float, spread: float, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quadrature nodes: correlations with a class for overlaps of this mean and spread."""
    middle = float(np.interp(mean, shares, _CORRELATIONS))
    slope = float(np.interp(middle, _CORRELATIONS, np.gradient(shares, _CORRELATIONS)))
    return np.clip(middle + spread / slope * _NORMAL, -0.99, 0.99)


def _score_chances(
    correlations: NDArray[np.float64],
    active: float,
    steps: NDArray[np.float64],
    n_active: int,
    size: int,
) -> NDArray[np.float64]:
    """Return the probability of each score, the sum of one count per winner."""
    winners = activity(correlations, active) * MASS
    winners /= winners.sum(axis=1, keepdims=True)
    # The transform of a sum of independent counts is the product of their transforms.
    transforms = np.fft.rfft(winners @ steps.T, size, axis=1) ** n_active
    return np.maximum(np.fft.irfft(_WEIGHTS @ transforms, size), 0)
