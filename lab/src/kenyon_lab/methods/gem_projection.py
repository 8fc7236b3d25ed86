"""The dual quadratic program of GEM, with one unknown per past task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 1e-3
"""Keeps the solution unique when gradients of past tasks are nearly parallel."""


def project(products: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """Return the coefficients of all gradients in a step that no past task's gradient opposes.

    If g has no negative product with the past gradients, the rows of M, their coefficients are 0.
    Otherwise they are the v that minimises ``1/2 v' (M M' + ridge I) v + (M g)' v`` subject to
    ``v >= strength``, as in GEM's published code.

    Parameters
    ----------
    products : array of shape (n_past + 1, n_past + 1)
        Inner products of the past gradients and, as the last one, g.
    strength : float
        Smallest coefficient of each past gradient in a corrected step.

    Returns
    -------
    array of shape (n_past + 1,)
        v, and 1 for g.
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
    """Solve the program as a non-negative least-squares problem.

    With ``u = v - strength`` and ``M M' + ridge I = R' R``, it is ``min |R u + R'^-1 c|, u >= 0``.
    """
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    # Rounding can make eigenvalues of M M' negative.
    roots = np.sqrt(np.maximum(values, 0) + RIDGE)
    R = roots[:, None] * vectors.T
    c = against + strength * (R.T @ R.sum(1))
    u, _ = nnls(R, -(vectors.T @ c) / roots, maxiter=100 * len(c))
    return u + strength
