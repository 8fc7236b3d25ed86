"""A memory read as ridge regression reads it: each class predicted from all cells together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from kenyon.circuit import PairingMemory
from kenyon.circuit.bayes import FULL
from kenyon.circuit.readout import DerivedReadout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

PENALTIES = 10.0 ** np.arange(-6, 2)
"""Tried where none is given, relative to the mean sum of squares of a cell."""
USUAL = 3
"""The place of the penalty that is tried first."""
RESIDUAL = 1e-8
N_PROBES = 32
FEWEST_STEPS = 8


@dataclass(frozen=True)
class RidgeReadout(DerivedReadout[PairingMemory]):
    """The weights that predict best, in the least squares sense, which class a code came with.

    They solve (G + penalty I) W = C, with G the pairs and C the counters, both exact. What G was
    when it was last factored is kept: soon after, the solution is found from it and the last one by
    conjugate gradients, to a relative residual of 1e-8.

    Parameters
    ----------
    penalty : float or None
        Relative to the mean of G's diagonal. None: the one of `PENALTIES` with the smallest
        generalised cross-validation.
    """

    penalty: float | None
    name = "ridge"
    needs = PairingMemory
    why = "which reads pairs of cells, but the model was begun without counting them"

    def derive(self, memory: PairingMemory, n_threads: int) -> Matrix:  # noqa: D102
        G = memory.pairs.expand(n_threads)
        C = memory.synapses.T.astype(np.float64)
        before = memory.derived.get(_Solution, (0, None))[1]
        with threadpool_limits(n_threads):
            solution = self._follow(before, G, C, memory) or self._solve(G, C, memory)
        memory.derived[_Solution] = memory.age, solution
        return FULL * solution.W.T

    def _solve(self, G: Matrix, C: Matrix, memory: PairingMemory) -> _Solution:
        """Factor G, with the best penalty if none is given."""
        unit = max(G.trace() / len(G), 1.0)

        def solve(penalty: float) -> _Solution:
            factor = cho_factor(_shifted(G, penalty * unit), True, True, False)
            W = cho_solve(factor, C, check_finite=False)
            return _Solution(self, memory.classes, W, factor, penalty)

        if self.penalty is not None:
            return solve(self.penalty)

        def judge(penalty: float) -> tuple[float, _Solution]:
            solution = solve(penalty)
            return cross_validation(solution, C, penalty * unit, memory.n_paired), solution

        return _descend(judge)

    def _follow(
        self, before: _Solution | None, G: Matrix, C: Matrix, memory: PairingMemory
    ) -> _Solution | None:
        """Go on from the last solution, as long as that takes less than factoring anew."""
        if before is None or before.readout != self:
            return None
        unit = max(G.trace() / len(G), 1.0)
        A = _shifted(G, before.penalty * unit)
        # As many as there are in the m³ / 3 of a factorisation, at 4 m² for each class and step.
        n_steps = max(FEWEST_STEPS, len(A) // (12 * C.shape[1]))
        W = conjugate_gradients(
            A, C, before.columns(memory.classes), lambda R: before.precondition(R), n_steps
        )
        if W is None:
            return None
        return _Solution(self, memory.classes, W, before.factor, before.penalty)


@dataclass(frozen=True, eq=False)
class _Solution:
    """Weights, and the factor that they were found with."""

    readout: RidgeReadout
    classes: NDArray[Any]
    W: Matrix
    factor: tuple[Matrix, bool]
    penalty: float

    def precondition(self, R: Matrix) -> Matrix:
        """Solve for the matrix that was factored."""
        solved: Matrix = cho_solve(self.factor, R, check_finite=False)
        return solved

    def columns(self, classes: NDArray[Any]) -> Matrix:
        """Return the weights of these classes, zero for those that are new."""
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        W = np.zeros((len(self.W), len(classes)))
        for j, label in enumerate(classes.tolist()):
            if label in place:
                W[:, j] = self.W[:, place[label]]
        return W


def conjugate_gradients(
    A: Matrix, C: Matrix, W: Matrix, precondition: Callable[[Matrix], Matrix], n_steps: int
) -> Matrix | None:
    """Solve A W = C column by column, all at once, from a first guess; None if not in time."""
    enough = RESIDUAL * np.linalg.norm(C, axis=0)
    R = C - A @ W
    Z = precondition(R)
    P, rho = Z, np.einsum("ij,ij->j", R, Z)
    for _ in range(n_steps + 1):
        if (np.linalg.norm(R, axis=0) <= enough).all():
            return W
        Q = A @ P
        # A column that is solved has nothing left to be divided.
        alpha = rho / np.maximum(np.einsum("ij,ij->j", P, Q), np.finfo(float).tiny)
        W, R = W + alpha * P, R - alpha * Q
        Z = precondition(R)
        after = np.einsum("ij,ij->j", R, Z)
        P, rho = Z + after / np.maximum(rho, np.finfo(float).tiny) * P, after
    return None


def cross_validation(solution: _Solution, C: Matrix, shift: float, n_samples: int) -> float:
    """Return the generalised cross-validation of one-hot targets, up to a factor.

    The trace of the inverse is estimated by random signs, always the same.
    """
    W = solution.W
    residual = n_samples - np.vdot(W, C) - shift * np.vdot(W, W)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(W), N_PROBES))
    trace = np.vdot(signs, solution.precondition(signs)) / N_PROBES
    freedom = n_samples - (len(W) - shift * trace)
    return float(residual / max(freedom, 1.0) ** 2)


def _descend(judge: Callable[[float], tuple[float, _Solution]]) -> _Solution:
    """Return the solution of the best penalty, walking downhill from the usual one."""
    place, step, tried = USUAL, -1, 0
    lowest, best = judge(PENALTIES[place])
    while tried < 2 and 0 <= place + step < len(PENALTIES):
        value, solution = judge(PENALTIES[place + step])
        if value < lowest:
            place, lowest, best, tried = place + step, value, solution, 1
        else:
            step, tried = -step, tried + 1
    return best


def _shifted(G: Matrix, shift: float) -> Matrix:
    A = G.copy()
    A.flat[:: len(A) + 1] += shift
    return A
