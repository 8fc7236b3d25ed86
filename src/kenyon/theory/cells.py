"""The cells of a class as normal variables: how often each is active, and how often together.

What a cell sums is nearly normal, and two inputs' sums are correlated as the inputs are. So the
samples of a class, which have a cosine of r to each other, drive a cell by a part that they have in
common, sqrt(r) z, and a part of each one's own; z is the cell's, drawn once for the class. A cell
with z is active in a share of the samples that `activity` gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from kenyon.theory.overlap import gaussian_overlap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NODES = np.linspace(-7, 7, 561)
"""Values of z that stand for all cells."""

MASS = np.exp(-(NODES**2) / 2)
MASS /= MASS.sum()
"""The share of cells that each of them stands for."""


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


def cosine_within(overlap: float, active: float) -> float:
    """Return the cosine at which two inputs share this share of their winners, on average.

    Examples
    --------
    >>> from kenyon.theory.cells import cosine_within
    >>> from kenyon.theory.overlap import gaussian_overlap
    >>> round(cosine_within(float(gaussian_overlap(0.4, 0.05)), 0.05), 6)
    0.4
    """
    if not active < overlap < 1:
        raise ValueError(
            f"overlap must be above {active:g}, which is chance, and below 1, but is {overlap}"
        )
    found: float = brentq(lambda cosine: float(gaussian_overlap(cosine, active)) - overlap, 0, 1)
    return found


def count_chances(n_samples: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of each count, from 0 to n_samples (rows), of cells with these chances."""
    counts = np.arange(n_samples + 1)[:, np.newaxis]
    return np.asarray(binom.pmf(counts, n_samples, chances))
