"""The cells of a class as normal variables: how often each is active, and how often together.

What a cell sums is nearly normal, and two inputs' sums are correlated as the inputs are. So the
samples of a class, which have a cosine of r to each other, drive a cell by a part that they have in
common, sqrt(r) z, and a part of each one's own; z is the cell's, drawn once for the class. A cell
with z is active in a share of the samples that `activity` gives.
"""

from __future__ import annotations

from scipy.optimize import brentq

from kenyon.suggest import gaussian_overlap


def cosine_within(overlap: float, active: float) -> float:
    """Return the cosine at which two inputs share this share of their winners, on average.

    Examples
    --------
    >>> from kenyon_lab.theory.cells import cosine_within
    >>> from kenyon.suggest import gaussian_overlap
    >>> round(cosine_within(float(gaussian_overlap(0.4, 0.05)), 0.05), 6)
    0.4
    """
    if not active < overlap < 1:
        raise ValueError(
            f"overlap must be above {active:g}, which is chance, and below 1, but is {overlap}"
        )
    found: float = brentq(lambda cosine: float(gaussian_overlap(cosine, active)) - overlap, 0, 1)
    return found
