"""A memory read as ridge regression reads it: each class predicted from all cells together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, solve_triangular
from threadpoolctl import threadpool_limits

from kenyon.circuit import FULL, PairingMemory
from kenyon.circuit.readout import DerivedReadout, NoveltyReadout, deriving
from kenyon.cross_validation import cross_validation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.keeping import Kept

    Matrix = NDArray[np.float64]

PENALTIES = 10.0 ** np.arange(-6, 2)
"""Tried where none is given, relative to the mean sum of squares of a cell."""
USUAL = 0.1
"""The penalty that is tried first where there are as many samples as cells.

It falls with the square of the number of samples; with few, it is `MOST_AT_FIRST`. So labels of
samples put aside are predicted best (benchmarks/results/penalty.md).
"""
MOST_AT_FIRST = 1.0
N_COLUMNS = 256
"""Codes that are solved for at a time."""
LEAST_FREEDOM = 1e-6
"""What a code leaves at least to others of its own score."""
BETTER = 0.85
"""The share of a cross-validation below which another penalty is worth factoring anew.

Cross-validation of targets likes larger penalties than labels do, so what it gains must be much.
"""


@dataclass(frozen=True)
class RidgeReadout(DerivedReadout[PairingMemory], NoveltyReadout):
    """The weights that predict best, in the least squares sense, which class a code came with.

    They solve (G + shift I) W = C, with G the pairs and C the counters, both exact. Weights of a
    class are then divided by the root of its number of samples, so that rare classes are predicted
    too. The factor of G + shift I is kept: soon after, when few samples were learned or unlearned,
    the solution is found from it and the codes of these samples by Woodbury's formula, with the
    penalty that was chosen then. So the same counters are read the same up to rounding, and up to a
    penalty chosen a little earlier.

    Parameters
    ----------
    penalty : float or None
        Relative to the mean of G's diagonal, itself rounded to a power of two, so that the shift
        stays where it is while little is learned. None: one of `PENALTIES`, by the number of
        samples to a cell, then ten times more, or less, for as long as generalised cross-validation
        gains much by it.
    """

    penalty: float | None
    name = "ridge"
    needs = PairingMemory
    why = "which reads pairs of cells, but the model was begun without counting them"

    def derive(self, memory: PairingMemory, n_threads: int) -> Matrix:  # noqa: D102
        C = np.asfortranarray(memory.synapses.T, dtype=np.float64)
        with deriving, threadpool_limits(n_threads):
            solution = self._solution(memory, C, n_threads)
            return FULL * _balance(memory.samples)[:, np.newaxis] * solution.solve(C).T

    def basis(self, memory: PairingMemory) -> int:
        """Return the age of the last factor: one for every few samples would take too long."""
        solution = self._last(memory)
        return -1 if solution is None else solution.factored

    def held_out_scores(  # noqa: D102
        self, memory: PairingMemory, kept: Kept, n_threads: int
    ) -> Matrix:
        return self._held_out(memory, kept, n_threads)[0]

    def novelty(self, memory: PairingMemory, codes: Codes, n_threads: int) -> Matrix:  # noqa: D102
        best = self.scores(memory, codes, n_threads).max(axis=1)
        h = self._leverages(memory, codes, n_threads)
        return _novelty(codes, best, h / (1 + h))

    def held_out_novelty(  # noqa: D102
        self, memory: PairingMemory, kept: Kept, n_threads: int
    ) -> Matrix:
        scores, h = self._held_out(memory, kept, n_threads)
        return _novelty(kept.codes, scores.max(axis=1), h)

    def _held_out(self, memory: PairingMemory, kept: Kept, n_threads: int) -> tuple[Matrix, Matrix]:
        """Return (f - h y) / (1 - h) and h, the leverages; f are the scores and y the targets."""
        scores = self.scores(memory, kept.codes, n_threads)
        h = np.minimum(self._leverages(memory, kept.codes, n_threads), 1 - LEAST_FREEDOM)
        own = np.arange(len(h)), kept.ranks
        n = memory.samples[kept.ranks]
        scores[own] -= h * _balance(memory.samples)[kept.ranks]
        # Without it, its class has one sample less to be divided by the root of.
        scores[own] *= np.sqrt(n / np.maximum(n - 1, 1))
        return scores / (1 - h)[:, np.newaxis], h

    def _leverages(self, memory: PairingMemory, codes: Codes, n_threads: int) -> Matrix:
        C = np.asfortranarray(memory.synapses.T, dtype=np.float64)
        with deriving, threadpool_limits(n_threads):
            return self._solution(memory, C, n_threads).leverages(codes)

    def _last(self, memory: PairingMemory) -> _Solution | None:
        """Return the last solution, if it is this readout's."""
        solution: _Solution | None = memory.factor
        return solution if solution is not None and solution.readout == self else None

    def _solution(self, memory: PairingMemory, C: Matrix, n_threads: int) -> _Solution:
        """Return the solution for the memory as it is now."""
        solution = self._follow(memory)
        if solution is None:
            # The next factor needs the memory that the last one takes.
            memory.factor = None
            solution = self._factor(memory, C, n_threads)
        memory.factor = solution
        return solution

    def _follow(self, memory: PairingMemory) -> _Solution | None:
        """Go on from the last solution, if the samples since are few and known."""
        before = self._last(memory)
        if before is None or before.unit != _unit(memory):
            return None
        changes = memory.journal.since(before.moment)
        if changes is None:
            return None
        if len(before.signs) + sum(len(codes) for _, codes in changes) > memory.journal.most:
            return None
        after = before.updated(changes, memory.journal.moment)
        # What was interrupted between learning and noting it is missing.
        return after if after.trace == memory.pairs.trace else None

    def _factor(self, memory: PairingMemory, C: Matrix, n_threads: int) -> _Solution:
        """Factor G, with the best penalty if none is given."""
        if self.penalty is not None:
            return _factored(self, memory, self.penalty, n_threads)
        place, last = _usual_place(memory), None
        while True:
            solution = _factored(self, memory, PENALTIES[place], n_threads)
            near = [i for i in (place, place - 1, place + 1) if 0 <= i < len(PENALTIES)]
            shifts = [PENALTIES[i] * solution.unit for i in near]
            n_labelled, n_all = int(memory.samples.sum()), memory.pairs.n_samples
            judged = cross_validation(solution.R, C, shifts[0], shifts, n_labelled, n_all)
            best = int(np.argmin(judged))
            if not judged[best] < BETTER * judged[0] or near[best] == last:
                return solution
            place, last = near[best], place
            del solution  # the next one needs its memory


@dataclass(frozen=True, eq=False)
class _Solution:
    """The factor R of R' R = G + shift I as G was, and what was learned and unlearned since.

    `factored` is the age of the memory as it was.
    """

    readout: RidgeReadout
    penalty: float
    unit: float
    factored: int
    moment: int
    trace: float
    R: Matrix
    signs: Matrix
    Y: Matrix
    """R'^-1 times the codes since, as columns."""
    S: Matrix

    def solve(self, B: Matrix) -> Matrix:
        """Solve (G + shift I) X = B for G as it is now, by Woodbury's formula."""
        U = solve_triangular(self.R, B, trans="T", check_finite=False)
        if len(self.signs):
            U -= self.Y @ np.linalg.solve(self.S, self.Y.T @ U)
        X: Matrix = solve_triangular(self.R, U, overwrite_b=True, check_finite=False)
        return X

    def leverages(self, codes: Codes) -> Matrix:
        """Return phi' (G + shift I)^-1 phi: of a code that was learned, its say in its own score.

        Of one that was not it may be above 1, the less was learned that is like it.
        """
        return np.concatenate([np.zeros(0), *map(self._leverages, _columns(codes, len(self.R)))])

    def _leverages(self, Phi: Matrix) -> Matrix:
        U = solve_triangular(self.R, Phi, trans="T", overwrite_b=True, check_finite=False)
        leverages: Matrix = np.einsum("ij,ij->j", U, U)
        if len(self.signs):
            V = self.Y.T @ U
            leverages -= np.einsum("ij,ij->j", V, np.linalg.solve(self.S, V))
        return leverages

    def updated(self, changes: list[tuple[int, Codes]], moment: int) -> _Solution:
        """Return what also knows these changes."""
        if not changes:
            return replace(self, moment=moment)
        signs = np.concatenate([np.full(len(codes), float(sign)) for sign, codes in changes])
        Phi = np.hstack([Phi for _, codes in changes for Phi in _columns(codes, len(self.R))])
        trace = self.trace + float(np.square(Phi).sum(axis=0) @ signs)
        Y = solve_triangular(self.R, Phi, trans="T", overwrite_b=True, check_finite=False)
        across = self.Y.T @ Y
        S = np.block([[self.S, across], [across.T, Y.T @ Y + np.diag(signs)]])
        return replace(
            self,
            moment=moment,
            trace=trace,
            signs=np.concatenate([self.signs, signs]),
            Y=np.hstack([self.Y, Y]),
            S=S,
        )


def _balance(samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what weights of each class are multiplied by: 1 if all have as many samples.

    What least squares predicts of a class grows with its share of the samples, so that rare ones
    would never be predicted. Divided by the share, they would be predicted too often, since their
    weights are less certain; the root is between.
    """
    n = np.maximum(samples, 1)
    balance: NDArray[np.float64] = np.sqrt(n.mean() / n)
    return balance


def _factored(
    readout: RidgeReadout, memory: PairingMemory, penalty: float, n_threads: int
) -> _Solution:
    """Factor G as it is now."""
    # As LAPACK has its columns, this is the upper triangle.
    A, scale = memory.pairs.expand(n_threads).T, _unit(memory)
    A[np.diag_indices_from(A)] += penalty * scale
    try:
        R, _ = cho_factor(A, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise ValueError(f"penalty is too small to solve for the weights: {penalty:g}") from None
    moment, trace, none = memory.journal.moment, memory.pairs.trace, np.zeros(0)
    Y, S = np.zeros((len(R), 0)), np.zeros((0, 0))
    return _Solution(readout, penalty, scale, memory.age, moment, trace, R, none, Y, S)


def _unit(memory: PairingMemory) -> float:
    """Return the mean sum of squares of a cell, to a power of two."""
    return 2.0 ** round(math.log2(max(memory.pairs.trace / memory.n_cells, 1.0)))


def _usual_place(memory: PairingMemory) -> int:
    """Return the place of the penalty to begin with."""
    cells_to_a_sample = memory.n_cells / max(1, memory.pairs.n_samples)
    penalty = min(USUAL * cells_to_a_sample**2, MOST_AT_FIRST)
    return max(0, round(math.log10(penalty / PENALTIES[0])))


def _novelty(codes: Codes, best: Matrix, own: Matrix) -> Matrix:
    """Return what the best class lacks, and the say that each code has or would have in its score.

    Where a code is all that there is of its kind, it alone would decide what it is taken for.
    """
    # A sample that no cell answers to is like nothing.
    answered = np.diff(codes.to_csr()[0]) > 0
    return np.where(answered, (1 - np.clip(best, 0, 1) + own) / 2, 1.0)


def _columns(codes: Codes, n_cells: int) -> Iterator[Matrix]:
    """Yield codes as the columns of matrices that do not take much memory."""
    starts, cells, levels = codes.to_csr()
    for first in range(0, len(codes), N_COLUMNS):
        own = starts[first : first + N_COLUMNS + 1]
        Phi = np.zeros((len(own) - 1, n_cells))
        rows = np.repeat(np.arange(len(Phi)), np.diff(own))
        Phi[rows, cells[own[0] : own[-1]]] = levels[own[0] : own[-1]]
        yield Phi.T
