"""Parameters that the theory suggests for a problem, before anything is learned.

The formulas treat the sum of a cell as a normal variable; docs/theory.md derives them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri, owens_t
from scipy.stats import binom

from kenyon.circuit.coder import Coder, check_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST_CELLS, MOST_COUNTERS = 20_000, 2**28
"""More cells are always better: limits of time, and of memory (1 GB)."""

COSINE, N_PROTOTYPES = 0.5, 2
"""Of classes: how alike their samples are taken to be, and of how many kinds."""

_ACTIVE = np.geomspace(0.002, 0.25, 50)
_EXTRA_VARIANCE = 0.1
_MANY = 500
"""Samples: with more of them the share that a cell is active in is as good as known."""

NODES = np.linspace(-7, 7, 561)
"""Values of z that stand for all cells."""

MASS = np.exp(-(NODES**2) / 2)
MASS /= MASS.sum()
"""The share of cells that each of them stands for."""


def suggest(n_features: int, n_classes: int, samples_per_class: int) -> dict[str, Any]:
    """Suggest cells, fan-in, winners and learning rate; docs/theory.md tells how they follow.

    Meant for the readout "fly" and the best accuracy, at the price of time: there are as many cells
    as seems reasonable.

    Parameters
    ----------
    n_features : int
        Of a sample.
    n_classes : int
        That there will be.
    samples_per_class : int
        To learn from.

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
    for name, value in (
        ("n_features", n_features),
        ("n_classes", n_classes),
        ("samples_per_class", samples_per_class),
    ):
        check_whole(name, value, 2**31 - 1)
    usual = Coder.design(n_features, n_cells=1)
    n_channels = n_features * (2 if usual.on_off else 1)
    different = math.comb(n_channels, n_channels // 2) if n_channels < 64 else MOST_CELLS
    n_cells = max(1, min(MOST_CELLS, MOST_COUNTERS // n_classes, different))
    active = choose_active(n_features, n_cells, samples_per_class)
    fan_in = max(usual.fan_in, choose_fan_in(n_channels, active))
    n_active = max(1, round(active * n_cells))
    rate = choose_learning_rate(active, n_cells, samples_per_class)
    return {
        "n_cells": n_cells,
        "fan_in": fan_in,
        "n_active": n_active,
        "learning_rate": float(f"{rate:.2g}"),
    }


def choose_active(n_features: int, n_cells: int, n_samples: int) -> float:
    """Return the share of winners with which the own class is surest to be ahead of any other."""
    leads = [_lead(active, n_features, n_cells, n_samples) for active in _ACTIVE]
    return float(_ACTIVE[np.argmax(leads)])


def _lead(active: float, n_features: int, n_cells: int, n_samples: int) -> float:
    """Return by how much the own class is ahead of another, over the deviation of that, squared.

    Classes have a few prototypes. A sample is at `COSINE` to samples of one of them, and unrelated
    to all others, of its own class or another. Fewer winners make codes of unlike inputs more
    unlike; but the fewer they are, the more chance there is in them.
    """
    n_each = max(1, n_samples / N_PROTOTYPES)
    n_unrelated = 2 * N_PROTOTYPES - 1
    within = float(gaussian_overlap(COSINE, active))
    chances = activity(np.sqrt(COSINE), active)

    def vary(mass: NDArray[np.float64]) -> float:
        """Return the variance among these cells of the share of samples they are active in."""
        by_samples = float(mass @ (chances * (1 - chances))) / n_each
        return by_samples + float(mass @ chances**2 - (mass @ chances) ** 2)

    by_cells = (vary(MASS * chances / active) + n_unrelated * vary(MASS)) / (active * n_cells)
    slope = np.exp(-(ndtri(active) ** 2)) / (2 * np.pi) / active
    by_inputs = n_unrelated * slope**2 * (COSINE + (1 - COSINE) / n_each) / n_features
    return float((within - active) ** 2 / (by_cells + by_inputs))


def choose_fan_in(n_channels: int, active: float) -> int:
    """Return the least fan-in with which cells are nearly as good as dense Gaussian ones.

    That is decided by a bound of `extra_variance`, threshold² / fan-in, since inputs with longer
    tails than normal ones are worse. With half the channels no sum is skewed.
    """
    enough = math.ceil(float(ndtri(active)) ** 2 / _EXTRA_VARIANCE)
    return max(1, min(n_channels // 2, enough))


def extra_variance(fan_in: int, n_features: int, active: float) -> float:
    """Return by how much more the overlap of unrelated normal inputs varies than with dense cells.

    Relative to the variance that comes from their cosine, to first order in the skewness of a
    cell's sum: a sum of few inputs is large for some pairs of inputs together rather than others.

    Examples
    --------
    >>> from kenyon.suggest import extra_variance
    >>> round(extra_variance(6, 50, 0.05), 2), round(extra_variance(25, 50, 0.05), 2)
    (0.3, 0.0)
    """
    share = fan_in / n_features
    return float(ndtri(active) ** 2 / fan_in * (1 - 2 * share) ** 2 / (1 - share))


def choose_learning_rate(active: float, n_cells: int, n_samples: int) -> float:
    """Return the rate whose cap tells a class's own winners from others' best.

    The weight that the cap leaves of a count is compared between winners of the class's own samples
    and cells at large: the difference of the means, over the root of the mean variance.
    """
    n_counted = min(n_samples, _MANY)
    chances = activity(np.sqrt(COSINE), active)
    at_large = count_chances(n_counted, chances)
    own, others = at_large @ (chances * MASS) / active, at_large @ MASS
    counts = np.arange(n_counted + 1)
    caps = np.geomspace(1, n_counted, 200)
    weights = np.minimum(counts / caps[:, np.newaxis], 1)
    means = [weights @ share for share in (own, others)]
    squares = [weights**2 @ share for share in (own, others)]
    variance = sum(square - mean**2 for square, mean in zip(squares, means, strict=True))
    cap = caps[np.argmax((means[0] - means[1]) ** 2 / variance)] * n_samples / n_counted
    return min(1.0, 1 / (float(cap) * expected_level(active, n_cells)))


def gaussian_overlap(cosine: ArrayLike, active: float) -> NDArray[np.float64]:
    """Return the expected share of common winners of a dense Gaussian matrix with many cells.

    A cell's sums for two inputs are two normal variables with their cosine as the correlation. It
    wins for either input if the sum is above the threshold that a share `active` of all exceeds; so
    f is the chance that both are above it, over the chance that one is.

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
    """Return the chance that a cell with each z is active for an input correlated so with z.

    Parameters
    ----------
    correlation : array-like
        With z: for a sample of the class itself the root of the cosine within the class.
    active : float
        The share of cells that win.

    Returns
    -------
    chances : ndarray, with an axis for z after those of `correlation`
    """
    correlation = np.asarray(correlation, dtype=np.float64)[..., np.newaxis]
    threshold = -ndtri(active)
    return np.asarray(ndtr((correlation * NODES - threshold) / np.sqrt(1 - correlation**2)))


def count_chances(n_samples: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of each count, from 0 to n_samples (rows), of cells with these chances."""
    counts = np.arange(n_samples + 1)[:, np.newaxis]
    return np.asarray(binom.pmf(counts, n_samples, chances))


def expected_level(active: float, n_cells: int) -> float:
    """Return the mean activity of a winner if sums are normal: their mean over the largest.

    Examples
    --------
    >>> from kenyon.suggest import expected_level
    >>> round(expected_level(0.05, 20_000), 2)
    0.52
    """
    threshold = -ndtri(active)
    mean = np.exp(-(threshold**2) / 2) / np.sqrt(2 * np.pi) / active
    # The median of the largest of so many.
    largest = ndtri(0.5 ** (1 / n_cells))
    return float(mean / largest)
