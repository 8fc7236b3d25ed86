"""Ridge regression from exact sums: each class predicted from all cells together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, solve_triangular

from kenyon._native import MAX_LEVEL
from kenyon.circuit import PairingMemory
from kenyon.circuit.defaults import RIDGE_LAYER
from kenyon.readouts.blas_threads import blas_threads
from kenyon.readouts.gcv import cross_validate
from kenyon.readouts.readout import LinearReadout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Snapshot
    from kenyon.circuit.calibration_sample import CalibrationSample
    from kenyon.circuit.updates import Update
    from kenyon.readouts.readout import Floats

PENALTIES = 10.0 ** np.arange(-6, 2)
"""Candidates for the automatic penalty, relative to the mean sum of squares of a cell."""
FIRST_PENALTY = 0.1
"""The first candidate for as many samples as cells; it falls with the square of the samples.

Validation accuracy is highest there (benchmarks/results/penalty.md).
"""
MAX_FIRST_PENALTY = 1.0
MIN_GAIN = 0.15
"""The relative gain in cross-validation error that is worth another factorisation.

Generalised cross-validation on the targets selects a larger penalty than label accuracy does, so a
small gain does not count.
"""
MAX_LEVERAGE = 1 - 1e-6
N_COLUMNS = 256
"""Codes that are solved for at a time."""
_FACTOR = "ridge factor"


@dataclass(frozen=True)
class RidgeReadout(LinearReadout):
    """The least-squares weights from codes to one-hot targets, with a ridge penalty.

    They solve (G + shift I) W = C; the pairs G and the counters C are exact, the weights are
    rounded. Weights of a class are divided by the root of its number of samples, so that rare
    classes are predicted too. The Cholesky factor of G + shift I is cached. After few further
    samples a low-rank update (Woodbury's formula) replaces a new factorisation; it keeps the
    penalty of the cached factor.

    The novelty score is the mean of two numbers from 0 to 1: the distance of the best score to 1,
    and the leverage that the sample would have once learned.

    Parameters
    ----------
    penalty : float or None
        Relative to the mean of G's diagonal, rounded to a power of two, so that the shift does not
        change with every sample. None: one of `PENALTIES`, first by the number of samples for each
        cell, then by steps of 10 while generalised cross-validation gains enough.
    """

    penalty: float | None
    name = "ridge"
    layer = RIDGE_LAYER

    def compute_weights(self, snapshot: Snapshot, n_threads: int) -> Floats:
        memory = _pairs(snapshot)
        with blas_threads(n_threads):
            solution, C = self._solution(snapshot, n_threads), _counters(memory)
            return MAX_LEVEL * _balance(memory.samples)[:, np.newaxis] * solution.solve(C).T

    def calibration_version(self, snapshot: Snapshot, n_threads: int) -> int:
        """Return the version of the factor: to calibrate after every update would be too slow."""
        return self._solution(snapshot, n_threads).factored

    def held_out_scores(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        return self._held_out(snapshot, sample, n_threads)[0]

    def novelty(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        best = self.scores(snapshot, codes, n_threads).max(axis=1)
        h = self._leverages(snapshot, codes, n_threads)
        return _novelty(codes, best, h / (1 + h))

    def held_out_novelty(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        scores, leverages = self._held_out(snapshot, sample, n_threads)
        return _novelty(sample.codes, scores.max(axis=1), leverages)

    def _held_out(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> tuple[Floats, Floats]:
        """Return (f - h y) / (1 - h) and h; f are scores, y targets and h leverages."""
        scores = self.scores(snapshot, sample.codes, n_threads)
        h = np.minimum(self._leverages(snapshot, sample.codes, n_threads), MAX_LEVERAGE)
        samples = snapshot.memory.samples
        own, n = (np.arange(len(h)), sample.ranks), samples[sample.ranks]
        scores[own] -= h * _balance(samples)[sample.ranks]
        # Without the sample, its class is divided by the root of one sample less.
        scores[own] *= np.sqrt(n / np.maximum(n - 1, 1))
        return scores / (1 - h)[:, np.newaxis], h

    def _leverages(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        with blas_threads(n_threads):
            return self._solution(snapshot, n_threads).leverages(codes)

    def _solution(self, snapshot: Snapshot, n_threads: int) -> _Solution:
        """Return the solution for this version, by a low-rank update if possible."""
        cache = snapshot.cache
        with cache.lock, blas_threads(n_threads):
            solution = self._updated(snapshot)
            if solution is None:
                # The new factor needs the memory of the old one.
                cache.discard(_FACTOR)
                solution = self._factorise(_pairs(snapshot), snapshot.version, n_threads)
            cache.put(_FACTOR, None, solution)
        return solution

    def _updated(self, snapshot: Snapshot) -> _Solution | None:
        """Update the cached solution, or return None if a new factor is needed or cheaper."""
        before: _Solution | None = snapshot.cache.peek(_FACTOR)
        if before is None or before.readout != self or before.unit != _unit(_pairs(snapshot)):
            return None
        updates = snapshot.cache.updates
        changes = updates.between(before.version, snapshot.version)
        if changes is None:
            return None
        if len(before.signs) + sum(len(codes) for _, codes in changes) > updates.max_samples:
            return None
        return before.updated(changes, snapshot.version)

    def _factorise(self, memory: PairingMemory, version: int, n_threads: int) -> _Solution:
        """Factorise G + shift I, with the best penalty if none is given."""
        if self.penalty is not None:
            return _factorised(self, memory, self.penalty, version, n_threads)
        C, index, last = _counters(memory), _first_index(memory), None
        while True:
            solution = _factorised(self, memory, PENALTIES[index], version, n_threads)
            near = [i for i in (index, index - 1, index + 1) if 0 <= i < len(PENALTIES)]
            shifts = [PENALTIES[i] * solution.unit for i in near]
            n_labelled, n_all = int(memory.samples.sum()), memory.pairs.n_samples
            errors = cross_validate(solution.R, C, shifts[0], shifts, n_labelled, n_all)
            best = int(np.argmin(errors))
            if not errors[best] < (1 - MIN_GAIN) * errors[0] or near[best] == last:
                return solution
            index, last = near[best], index
            del solution  # the next one needs its memory


@dataclass(frozen=True, eq=False)
class _Solution:
    """The factor R of R' R = G + shift I at version `factored`, and the updates since.

    `Y` is R'^-1 times the codes of the updates, as columns; `S` is Woodbury's inner matrix.
    """

    readout: RidgeReadout
    penalty: float
    unit: float
    factored: int
    version: int
    R: Floats
    signs: Floats
    Y: Floats
    S: Floats

    def solve(self, B: Floats) -> Floats:
        """Solve (G + shift I) X = B for the present G, by Woodbury's formula."""
        U = solve_triangular(self.R, B, trans="T", check_finite=False)
        if len(self.signs):
            U -= self.Y @ np.linalg.solve(self.S, self.Y.T @ U)
        X: Floats = solve_triangular(self.R, U, overwrite_b=True, check_finite=False)
        return X

    def leverages(self, codes: Codes) -> Floats:
        """Return phi' (G + shift I)^-1 phi for each code.

        It is at most 1 for a code that was learned, and may be larger for others.
        """
        return np.concatenate([np.zeros(0), *map(self._leverages, _columns(codes, len(self.R)))])

    def _leverages(self, Phi: Floats) -> Floats:
        U = solve_triangular(self.R, Phi, trans="T", overwrite_b=True, check_finite=False)
        leverages: Floats = np.einsum("ij,ij->j", U, U)
        if len(self.signs):
            V = self.Y.T @ U
            leverages -= np.einsum("ij,ij->j", V, np.linalg.solve(self.S, V))
        return leverages

    def updated(self, changes: list[Update], version: int) -> _Solution:
        """Return the solution after further updates."""
        signs = np.concatenate(
            [np.zeros(0), *(np.full(len(codes), float(sign)) for sign, codes in changes)]
        )
        if not len(signs):
            return replace(self, version=version)
        Phi = np.hstack([Phi for _, codes in changes for Phi in _columns(codes, len(self.R))])
        Y = solve_triangular(self.R, Phi, trans="T", overwrite_b=True, check_finite=False)
        across = self.Y.T @ Y
        S = np.block([[self.S, across], [across.T, Y.T @ Y + np.diag(signs)]])
        signs, Y = np.concatenate([self.signs, signs]), np.hstack([self.Y, Y])
        return replace(self, version=version, signs=signs, Y=Y, S=S)


def _pairs(snapshot: Snapshot) -> PairingMemory:
    if not isinstance(snapshot.memory, PairingMemory):
        raise ValueError(
            "readout is 'ridge', which reads pairs of cells, but the model was fitted without "
            "counting them: only fit changes that"
        )
    return snapshot.memory


def _counters(memory: PairingMemory) -> Floats:
    return np.asfortranarray(memory.synapses.T, dtype=np.float64)


def _balance(samples: NDArray[np.int64]) -> Floats:
    """Return a factor for the weights of each class: 1 if all classes have as many samples.

    A least-squares score grows with the class's share of the samples, so rare classes would never
    win. Division by the share would let them win too often, since their weights are less certain;
    the root is in between.
    """
    n = np.maximum(samples, 1)
    balance: Floats = np.sqrt(n.mean() / n)
    return balance


def _factorised(
    readout: RidgeReadout, memory: PairingMemory, penalty: float, version: int, n_threads: int
) -> _Solution:
    # LAPACK stores columns, so the lower triangle of the pairs is its upper one.
    A, unit = memory.pairs.expand(n_threads).T, _unit(memory)
    A[np.diag_indices_from(A)] += penalty * unit
    try:
        R, _ = cho_factor(A, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise ValueError(f"penalty is too small to solve for the weights: {penalty:g}") from None
    none, Y, S = np.zeros(0), np.zeros((len(R), 0)), np.zeros((0, 0))
    return _Solution(readout, penalty, unit, version, version, R, none, Y, S)


def _unit(memory: PairingMemory) -> float:
    """Return the mean sum of squares of a cell, rounded to a power of two."""
    return 2.0 ** round(math.log2(max(memory.pairs.trace / memory.n_cells, 1.0)))


def _first_index(memory: PairingMemory) -> int:
    """Return the index of the first candidate in `PENALTIES`."""
    cells_per_sample = memory.n_cells / max(1, memory.pairs.n_samples)
    penalty = min(FIRST_PENALTY * cells_per_sample**2, MAX_FIRST_PENALTY)
    return max(0, round(math.log10(penalty / PENALTIES[0])))


def _novelty(codes: Codes, best: Floats, leverages: Floats) -> Floats:
    # A sample that activates no cell is as novel as possible.
    is_active = np.diff(codes.to_csr()[0]) > 0
    return np.where(is_active, (1 - np.clip(best, 0, 1) + leverages) / 2, 1.0)


def _columns(codes: Codes, n_cells: int) -> Iterator[Floats]:
    """Yield codes as the columns of dense matrices, `N_COLUMNS` at a time."""
    starts, cells, levels = codes.to_csr()
    for first in range(0, len(codes), N_COLUMNS):
        own = starts[first : first + N_COLUMNS + 1]
        Phi = np.zeros((len(own) - 1, n_cells))
        rows = np.repeat(np.arange(len(Phi)), np.diff(own))
        Phi[rows, cells[own[0] : own[-1]]] = levels[own[0] : own[-1]]
        yield Phi.T
