"""The normal model of a class's cells.

The sum of a cell is nearly normal, and the sums of two inputs have the inputs' cosine as their
correlation. The samples of a class have the cosine r to each other. So their sums at a cell have a
common part, sqrt(r) z, and an independent part; z is drawn once for the cell and the class.
`kenyon.suggest.activity` gives the share of samples in which a cell with z is active.
"""

from __future__ import annotations

from scipy.optimize import brentq

from kenyon.suggest import gaussian_overlap


def cosine_within(overlap: float, active: float) -> float:
    """Return the cosine at which two inputs have this mean overlap.

    Examples
    --------
    >>> from kenyon_lab.theory.cells import cosine_within
    >>> from kenyon.suggest import gaussian_overlap
    >>> round(cosine_within(float(gaussian_overlap(0.4, 0.05)), 0.05), 6)
    0.4
    """
    if not active < overlap < 1:
        raise ValueError(f"overlap must be above chance, {active:g}, and below 1, but is {overlap}")
    found: float = brentq(lambda cosine: float(gaussian_overlap(cosine, active)) - overlap, 0, 1)
    return found
