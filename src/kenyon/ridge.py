"""A memory read as ridge regression reads it: each class predicted from all cells together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dtrtri
from threadpoolctl import threadpool_limits

from kenyon.circuit import PairingMemory
from kenyon.circuit.bayes import FULL
from kenyon.circuit.readout import DerivedReadout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.keeping import Kept

    Matrix = NDArray[np.float64]

PENALTIES = 10.0 ** np.arange(-6, 2)
"""Tried where none is given, relative to the mean sum of squares of a cell."""
USUAL = 3
"""The place of the penalty that is tried first."""
RESIDUAL = 1e-8
FEWEST_STEPS = 8
LEAST_FREEDOM = 1e-6
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class RidgeReadout(DerivedReadout[PairingMemory]):
    """The weights that predict best, in the least squares sense, which class a code came with.

    They solve (G + penalty I) W = C, with G the pairs and C the counters, both exact. What G was
    when it was last factored is kept: soon after, the solution is found from it and the last one by
    conjugate gradients, to a relative residual of 1e-8, with the penalty that was chosen then. So
    the same counters are read the same up to that, and up to a penalty chosen a little earlier.

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

    def basis(self, memory: PairingMemory) -> int:
        """Return the age of the last factor: one for every few samples would take too long."""
        solution = memory.derived.get(_Solution, (0, None))[1]
        return -1 if solution is None else solution.factored

    def held_out_scores(self, memory: PairingMemory, kept: Kept, n_threads: int) -> Matrix:
        """Return (f - h y) / (1 - h), with f the scores, h the leverages and y the targets."""
        scores = self.scores(memory, kept.codes, n_threads)
        solution = memory.derived[_Solution][1]
        with threadpool_limits(n_threads):
            factor = solution.factor[0]
            if solution.factored != memory.age:
                # Without its own samples a factor overrates them.
                G = memory.pairs.expand(n_threads)
                factor = _factor(G, solution.penalty * _unit(G))[0]
            h = np.minimum(leverages(factor, kept.codes), 1 - LEAST_FREEDOM)
        scores[np.arange(len(h)), kept.ranks] -= h
        held_out: Matrix = scores / (1 - h)[:, np.newaxis]
        return held_out

    def _solve(self, G: Matrix, C: Matrix, memory: PairingMemory) -> _Solution:
        """Factor G, with the best penalty if none is given."""
        unit = _unit(G)

        def solve(penalty: float) -> _Solution:
            try:
                factor = _factor(G, penalty * unit)
            except LinAlgError:
                raise ValueError(
                    f"penalty is too small to solve for the weights: {penalty:g}"
                ) from None
            W = cho_solve(factor, C, check_finite=False)
            return _Solution(self, memory.classes, W, factor, penalty, memory.age)

        if self.penalty is not None:
            return solve(self.penalty)

        def judge(penalty: float) -> tuple[float, _Solution]:
            solution = solve(penalty)
            n_labelled, n_all = int(memory.samples.sum()), memory.pairs.n_samples
            return cross_validation(solution, C, penalty * unit, n_labelled, n_all), solution

        return _descend(judge)

    def _follow(
        self, before: _Solution | None, G: Matrix, C: Matrix, memory: PairingMemory
    ) -> _Solution | None:
        """Go on from the last solution, as long as that takes less than factoring anew."""
        if before is None or before.readout != self:
            return None
        A = _shifted(G, before.penalty * _unit(G))
        # As many as there are in the m³ / 3 of a factorisation, at 4 m² for each class and step.
        n_steps = max(FEWEST_STEPS, len(A) // (12 * C.shape[1]))
        W = conjugate_gradients(A, C, before.columns(memory.classes), before.precondition, n_steps)
        if W is None:
            return None
        return _Solution(self, memory.classes, W, before.factor, before.penalty, before.factored)


@dataclass(frozen=True, eq=False)
class _Solution:
    """Weights, the factor that they were found with, and the age at which that was made."""

    readout: RidgeReadout
    classes: NDArray[Any]
    W: Matrix
    factor: tuple[Matrix, bool]
    penalty: float
    factored: int

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
    P, rho = np.zeros_like(R), np.ones(C.shape[1])
    for _ in range(n_steps):
        if (np.linalg.norm(R, axis=0) <= enough).all():
            return W
        Z = precondition(R)
        before, rho = rho, np.einsum("ij,ij->j", R, Z)
        P = Z + rho / np.maximum(before, _TINY) * P
        Q = A @ P
        # A column that is solved has nothing left to be divided.
        alpha = rho / np.maximum(np.einsum("ij,ij->j", P, Q), _TINY)
        W, R = W + alpha * P, R - alpha * Q
    return W if (np.linalg.norm(R, axis=0) <= enough).all() else None


def leverages(factor: Matrix, codes: Codes) -> NDArray[np.float64]:
    """Return how much each code decides its own score, from 0 to 1."""
    starts, cells, levels = codes.to_csr()
    dense = np.zeros((len(factor), len(codes)), order="F")
    dense[cells, np.repeat(np.arange(len(codes)), np.diff(starts))] = levels
    solved = solve_triangular(factor, dense, lower=True, overwrite_b=True, check_finite=False)
    squares: NDArray[np.float64] = np.einsum("ij,ij->j", solved, solved)
    return squares


def cross_validation(
    solution: _Solution, C: Matrix, shift: float, n_labelled: int, n_samples: int
) -> float:
    """Return the generalised cross-validation of one-hot targets, up to a factor.

    Samples of classes that were forgotten have targets of zero.
    """
    W = solution.W
    residual = n_labelled - np.vdot(W, C) - shift * np.vdot(W, W)
    inverse, _ = dtrtri(solution.factor[0], lower=1)
    trace = np.square(np.tril(inverse)).sum()
    freedom = n_samples - (len(W) - shift * trace)
    # What fits all samples without freedom cannot be told from what fits noise.
    return float(residual / freedom**2) if freedom > LEAST_FREEDOM * n_samples else math.inf


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


def _unit(G: Matrix) -> float:
    """Return the mean sum of squares of a cell, which penalties are relative to."""
    return float(max(G.trace() / len(G), 1.0))


def _factor(G: Matrix, shift: float) -> tuple[Matrix, bool]:
    # Symmetric, so that it can be factored where it is, as LAPACK has its columns.
    factor: tuple[Matrix, bool] = cho_factor(_shifted(G, shift).T, True, True, False)
    return factor


def _shifted(G: Matrix, shift: float) -> Matrix:
    A = G.copy()
    A.flat[:: len(A) + 1] += shift
    return A
