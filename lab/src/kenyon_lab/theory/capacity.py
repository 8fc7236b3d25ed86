"""How many classes until neighbours collide: accuracy predicted from how codes overlap."""

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
"""Steps of a cell's count that are told apart, so that many samples take no more time than few."""

_CORRELATIONS = np.linspace(-0.95, 0.999, 400)
_NORMAL, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Overlaps:
    """How many of its winners a sample shares with the samples of a class, as a share of them.

    The mean over the samples of the class; then, over samples and classes, mean and standard
    deviation.

    Parameters
    ----------
    within, within_spread : float
        With other samples of its own class.
    between, between_spread : float
        With samples of another class.
    """

    within: float
    within_spread: float
    between: float
    between_spread: float

    @classmethod
    def of_prototypes(
        cls, within: float, n_features: int, n_samples: int, active: float
    ) -> Overlaps:
        """Return the overlaps of classes that are noisy copies of unrelated random prototypes.

        Spreads come from the inputs: cosines of unrelated ones are not 0, but vary by
        1 / sqrt(n_features).

        Parameters
        ----------
        within : float
            The mean overlap of two samples of a class.
        n_features, n_samples : int
            Of the inputs, and samples learned of each class.
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
        """Measure them on coded samples, each class of which has at least two.

        Parameters
        ----------
        codes : sparse matrix of shape (n_samples, n_cells)
            As `SparseCoder.transform` returns them; only what is active matters.
        y : array of shape (n_samples,)
            Classes, as whole numbers from 0.
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
    """Predict how often a sample's own class receives most, from how codes overlap.

    For equal winners and weights that are not capped, which are counts. The winners of a sample
    draw as many counts from the cells of a class; what is drawn depends on how the sample is
    correlated with the class, which is taken to be normal, with the means and spreads given. The
    sum over the winners is then found exactly, and the own class must be ahead of all others.

    Parameters
    ----------
    n_cells, n_active : int
        The code: cells and winners.
    n_classes, n_samples : int
        Classes, and samples learned of each.
    overlaps : Overlaps
        Measured, or those of random prototypes.

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
        _score_chances(_place(mean, spread, shares), active, steps, n_active, size)
        for mean, spread in (
            (overlaps.within, overlaps.within_spread),
            (overlaps.between, overlaps.between_spread),
        )
    )
    return float(own @ _chance_ahead(other, n_classes) / own.sum())


def _chance_ahead(other: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the chance that a score is the best of all classes, equals being drawn by lot.

    That is the mean of x^(n_classes - 1) while x goes from the chance of less to that of no more.
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
    """Return the share of winners common with a class's samples, at each correlation with it."""
    chances = activity(np.sqrt(r), active)
    return np.asarray(activity(_CORRELATIONS, active) @ (MASS * chances) / active)


def _count_steps(n_samples: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of each step of a count (rows) for each kind of cell."""
    n_steps = min(n_samples, _MOST_STEPS)
    of_counts = count_chances(n_samples, chances)
    steps = np.zeros((n_steps + 1, len(chances)))
    np.add.at(steps, np.rint(np.arange(n_samples + 1) * n_steps / n_samples).astype(int), of_counts)
    return steps


def _place(mean: float, spread: float, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations with a class that stand for overlaps of this mean and spread."""
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
    """Return the chance of each score: the sum of as many counts as there are winners."""
    winners = activity(correlations, active) * MASS
    winners /= winners.sum(axis=1, keepdims=True)
    # A sum of independent counts: a product of their transforms.
    transforms = np.fft.rfft(winners @ steps.T, size, axis=1) ** n_active
    return np.maximum(np.fft.irfft(_WEIGHTS @ transforms, size), 0)
