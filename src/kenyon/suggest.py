"""Parameters suggested by the theory for the readout "fly"; docs/theory.md derives the formulas.

A cell's sum is nearly normal, and the sums of two inputs are correlated as the inputs are. So the
samples of a class, which have a cosine of r to each other, drive a cell by a common part,
sqrt(r) z, and an independent part; z is drawn once for each cell and class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri, owens_t
from scipy.stats import binom

from kenyon._native import MAX_COUNT
from kenyon._validation import check_integer, design_layer
from kenyon.circuit.defaults import FLY_LAYER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_CELLS, MAX_COUNTERS = 20_000, 2**28
"""More cells are always better; these limit the time and the memory (1 GB)."""

COSINE, N_PROTOTYPES = 0.5, 2
"""Assumptions on classes: the cosine within a prototype, and the number of prototypes."""

_ACTIVE = np.geomspace(0.002, 0.25, 50)
_EXTRA_VARIANCE = 0.1
_MAX_COUNTED = 500
"""Samples; more of them hardly change the distribution of a cell's counts."""

NODES = np.linspace(-7, 7, 561)
"""Quadrature nodes for z."""

MASS = np.exp(-(NODES**2) / 2)
MASS /= MASS.sum()
"""Quadrature weights: the share of cells near each node."""


def suggest(n_features: int, n_classes: int, samples_per_class: int) -> dict[str, Any]:
    """Suggest the number of cells, fan-in, winners and learning rate.

    The suggestion is for the readout "fly" and aims at accuracy: it has as many cells as time and
    memory allow.

    Parameters
    ----------
    n_features : int
        The width of a sample.
    n_classes : int
        Classes in the end.
    samples_per_class : int
        Training samples of each class.

    Returns
    -------
    parameters : dict
        For `FlyClassifier`: "n_cells", "fan_in", "n_active" and "learning_rate".

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon.suggest import suggest
    >>> suggest(n_features=384, n_classes=150, samples_per_class=100)
    {'n_cells': 20000, 'fan_in': 38, 'n_active': 631, 'learning_rate': 0.24}
    >>> fly = FlyClassifier(**suggest(64, n_classes=10, samples_per_class=140))
    """
    check_integer("n_features", n_features, MAX_COUNT)
    check_integer("n_classes", n_classes, MAX_COUNT)
    check_integer("samples_per_class", samples_per_class, MAX_COUNT)
    default = design_layer(n_features, FLY_LAYER, n_cells=1)
    n_channels = default.n_channels
    n_distinct = math.comb(n_channels, n_channels // 2) if n_channels < 64 else MAX_CELLS
    n_cells = max(1, min(MAX_CELLS, MAX_COUNTERS // n_classes, n_distinct))
    active = choose_active(n_features, n_cells, samples_per_class)
    fan_in = max(default.fan_in, choose_fan_in(n_channels, active))
    n_active = max(1, round(active * n_cells))
    rate = choose_learning_rate(active, n_cells, samples_per_class)
    return {
        "n_cells": n_cells,
        "fan_in": fan_in,
        "n_active": n_active,
        "learning_rate": float(f"{rate:.2g}"),
    }


def choose_active(n_features: int, n_cells: int, n_samples: int) -> float:
    """Return the share of winners with the best margin of the true class over another."""
    margins = [_margin(active, n_features, n_cells, n_samples) for active in _ACTIVE]
    return float(_ACTIVE[np.argmax(margins)])


def _margin(active: float, n_features: int, n_cells: int, n_samples: int) -> float:
    """Return the squared margin of the true class over another, divided by its variance.

    Classes have a few prototypes. A sample has the cosine `COSINE` to samples of one of them, and
    0 to all others. Fewer winners separate the codes of unrelated inputs, but add variance.
    """
    n_each = max(1, n_samples / N_PROTOTYPES)
    n_unrelated = 2 * N_PROTOTYPES - 1
    within = float(gaussian_overlap(COSINE, active))
    chances = activity(np.sqrt(COSINE), active)

    def variance(mass: NDArray[np.float64]) -> float:
        """Return the variance over cells of the share of samples in which a cell is active."""
        by_samples = float(mass @ (chances * (1 - chances))) / n_each
        return by_samples + float(mass @ chances**2 - (mass @ chances) ** 2)

    by_cells = variance(MASS * chances / active) + n_unrelated * variance(MASS)
    by_cells /= active * n_cells
    slope = np.exp(-(ndtri(active) ** 2)) / (2 * np.pi) / active
    by_inputs = n_unrelated * slope**2 * (COSINE + (1 - COSINE) / n_each) / n_features
    return float((within - active) ** 2 / (by_cells + by_inputs))


def choose_fan_in(n_channels: int, active: float) -> int:
    """Return the least fan-in that is nearly as good as dense Gaussian connections.

    The criterion is a bound of `extra_variance`, threshold² / fan-in, since inputs with heavier
    tails than normal ones are worse. With half of the channels no sum is skewed.
    """
    enough = math.ceil(float(ndtri(active)) ** 2 / _EXTRA_VARIANCE)
    return max(1, min(n_channels // 2, enough))


def extra_variance(fan_in: int, n_features: int, active: float) -> float:
    """Return the extra variance of the overlap of unrelated normal inputs from a finite fan-in.

    It is relative to the variance that comes from their cosine, to first order in the skewness of
    a cell's sum.

    Examples
    --------
    >>> from kenyon.suggest import extra_variance
    >>> round(extra_variance(6, 50, 0.05), 2), round(extra_variance(25, 50, 0.05), 2)
    (0.3, 0.0)
    """
    share = fan_in / n_features
    return float(ndtri(active) ** 2 / fan_in * (1 - 2 * share) ** 2 / (1 - share))


def choose_learning_rate(active: float, n_cells: int, n_samples: int) -> float:
    """Return the rate whose cap separates the winners of a class's samples best from all cells.

    The criterion is the squared difference of their mean capped weights over the sum of variances.
    """
    n_counted = min(n_samples, _MAX_COUNTED)
    chances = activity(np.sqrt(COSINE), active)
    distribution = count_chances(n_counted, chances)
    own, others = distribution @ (chances * MASS) / active, distribution @ MASS
    counts = np.arange(n_counted + 1)
    caps = np.geomspace(1, n_counted, 200)
    weights = np.minimum(counts / caps[:, np.newaxis], 1)
    means = [weights @ share for share in (own, others)]
    squares = [weights**2 @ share for share in (own, others)]
    variance = sum(square - mean**2 for square, mean in zip(squares, means, strict=True))
    cap = caps[np.argmax((means[0] - means[1]) ** 2 / variance)] * n_samples / n_counted
    return min(1.0, 1 / (float(cap) * expected_level(active, n_cells)))


def gaussian_overlap(cosine: ArrayLike, active: float) -> NDArray[np.float64]:
    """Return the expected share of common winners of two inputs, with many dense Gaussian cells.

    A cell's sums for the two inputs are normal variables, correlated by the cosine. A cell wins if
    its sum exceeds a threshold that a share `active` of all cells exceeds. The result is the
    probability of both wins divided by the probability of one.

    Parameters
    ----------
    cosine : array-like
        From -1 to 1.
    active : float
        The share of cells that win, below 0.5.

    Returns
    -------
    share : ndarray

    Examples
    --------
    >>> from kenyon.suggest import gaussian_overlap
    >>> print(gaussian_overlap(0.5, 0.01).round(3))
    0.129
    """
    if not 0 < active < 0.5:
        raise ValueError(f"active must be above 0 and below 0.5, but is {active}")
    cosine = np.asarray(cosine, dtype=np.float64)
    with np.errstate(divide="ignore"):
        slope = np.sqrt((1 - cosine) / (1 + cosine))
    both = active - 2 * owens_t(-ndtri(active), slope)
    return np.asarray(both / active)


def activity(correlation: ArrayLike, active: float) -> NDArray[np.float64]:
    """Return the probability that a cell is active, for each node of z.

    Parameters
    ----------
    correlation : array-like
        Of the input with z; for a sample of the class it is the root of the cosine within the
        class.
    active : float
        The share of cells that win.

    Returns
    -------
    probabilities : ndarray, with an axis for z after those of `correlation`
    """
    correlation = np.asarray(correlation, dtype=np.float64)[..., np.newaxis]
    threshold = -ndtri(active)
    return np.asarray(ndtr((correlation * NODES - threshold) / np.sqrt(1 - correlation**2)))


def count_chances(n_samples: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each count from 0 to n_samples (rows) for each cell (columns)."""
    counts = np.arange(n_samples + 1)[:, np.newaxis]
    return np.asarray(binom.pmf(counts, n_samples, chances))


def expected_level(active: float, n_cells: int) -> float:
    """Return the mean activity of a winner for normal sums: their mean over the largest.

    Examples
    --------
    >>> from kenyon.suggest import expected_level
    >>> round(expected_level(0.05, 20_000), 2)
    0.52
    """
    threshold = -ndtri(active)
    mean = np.exp(-(threshold**2) / 2) / np.sqrt(2 * np.pi) / active
    # The median of the largest sum.
    largest = ndtri(0.5 ** (1 / n_cells))
    return float(mean / largest)
