"""Generalised cross-validation of penalties near one whose factor is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.readouts.readout import Floats

N_PROBES = 32
"""Random vectors that estimate a trace, and random mixtures that replace more classes."""
N_STEPS = 3
MIN_ACCURACY = 10.0
"""Standard errors that the residual degrees of freedom must be above zero."""


def cross_validate(
    R: Floats, C: Floats, shift: float, shifts: Sequence[float], n_labelled: int, n_samples: int
) -> list[float]:
    """Return the generalised cross-validation error of one-hot targets for each of some shifts.

    The error is known up to a factor and needs only R' R = G + shift I. With N = R'^-1 R^-1, every
    term of another shift is b' (G + other I)^-1 b = v' (I + (other - shift) N)^-1 v, v = R'^-1 b.
    A few steps of Lanczos' method from v approximate it for all shifts at once; within a factor
    of 10 of `shift` the error is a few percent. Samples of dropped classes have targets of zero.
    """
    m, n_classes = C.shape
    targets = C if n_classes <= N_PROBES else C @ _signs(n_classes) / math.sqrt(N_PROBES)
    V = solve_triangular(R, np.hstack([targets, _signs(m)]), trans="T", check_finite=False)
    nodes, weights = _quadrature(R, V)
    errors = []
    for other in shifts:
        damped = 1 / (1 + (other - shift) * nodes)
        inverse = np.sum(weights * damped, axis=1)
        squared = np.sum(weights * nodes * damped**2, axis=1)
        explained = inverse[:-N_PROBES].sum() + other * squared[:-N_PROBES].sum()
        residual = other * inverse[-N_PROBES:]
        freedom = n_samples - m + residual.mean()
        # Without degrees of freedom left, a fit to the samples cannot be told from a fit to noise.
        is_certain = freedom > MIN_ACCURACY * residual.std() / math.sqrt(N_PROBES)
        errors.append(float((n_labelled - explained) / freedom**2) if is_certain else math.inf)
    return errors


def _quadrature(R: Floats, V: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights such that v' f(N) v is about sum(weights * f(nodes)), by column."""
    norm = np.linalg.norm(V, axis=0)
    T = np.zeros((len(norm), N_STEPS, N_STEPS))
    Q, before, beta = _normalised(V, norm), np.zeros_like(V), np.zeros_like(norm)
    for i in range(N_STEPS):
        U = solve_triangular(R, Q, check_finite=False)
        U = solve_triangular(R, U, trans="T", overwrite_b=True, check_finite=False)
        T[:, i, i] = np.einsum("ij,ij->j", Q, U)
        U -= beta * before + T[:, i, i] * Q
        before, beta = Q, np.linalg.norm(U, axis=0)
        Q = _normalised(U, beta)
        if i + 1 < N_STEPS:
            T[:, i, i + 1] = T[:, i + 1, i] = beta
    nodes, S = np.linalg.eigh(T)
    return nodes, norm[:, np.newaxis] ** 2 * S[:, 0] ** 2


def _normalised(V: Floats, norm: Floats) -> Floats:
    return V / np.where(norm > 0, norm, 1)


def _signs(n_rows: int) -> Floats:
    """Return random signs from a fixed seed, so that answers do not depend on chance."""
    return np.random.default_rng(0).choice([-1.0, 1.0], (n_rows, N_PROBES))
