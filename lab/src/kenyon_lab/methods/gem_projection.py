"""The quadratic program of GEM, of as many unknowns as there are past tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 1e-3
"""Gradients of past tasks may be all but parallel; this keeps the solution from being arbitrary."""


def shares(products: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """Return how much of each gradient a step along g takes so that no past task suffers.

    If g goes against none of the past gradients, the rows of M, nothing of them. Otherwise the v
    that minimises ``1/2 v' (M M' + ridge I) v + (M g)' v`` subject to ``v >= strength``, as in
    GEM's published code.

    Parameters
    ----------
    products : array of shape (n_past + 1, n_past + 1)
        The inner products of all gradients, those of the past and, as the last, g.
    strength : float
        The least share of each past gradient in a step that is not along g alone.

    Returns
    -------
    array of shape (n_past + 1,)
        v, and 1 for g itself.
    """
    against = products[:-1, -1]
    step = np.zeros(len(products))
    step[-1] = 1
    if np.isfinite(products).all() and (against < 0).any():
        step[:-1] = _least(products[:-1, :-1], against, strength)
    return step


def _least(
    products: NDArray[np.float64], against: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """Solve the program as ``|R u + R'^-1 c| -> min, u >= 0``, with u = v - strength, P = R' R."""
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    # No eigenvalue of M M' is below zero but by rounding.
    roots = np.sqrt(np.maximum(values, 0) + RIDGE)
    R = roots[:, None] * vectors.T
    c = against + strength * (R.T @ R.sum(1))
    u, _ = nnls(R, -(vectors.T @ c) / roots, maxiter=100 * len(c))
    return u + strength
