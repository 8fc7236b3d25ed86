"""Ridge regression from exact sums: each class predicted from all cells together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_DOUBLE_CLASSES, MAX_LEVEL, LeastSquares
from kenyon.circuit import PairingMemory
from kenyon.circuit.defaults import RIDGE_LAYER
from kenyon.circuit.forks import no_forks
from kenyon.circuit.updates import SampleUpdate, count_samples
from kenyon.readouts import lapack
from kenyon.readouts.blas_threads import blas_threads
from kenyon.readouts.readout import LinearScores, Readout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Memory, Snapshot
    from kenyon.circuit.calibration_sample import CalibrationSample
    from kenyon.circuit.updates import Update
    from kenyon.readouts.readout import Derived, Floats

PENALTY = 0.1
"""The automatic penalty for as many samples as cells; it falls with the square of the samples.

Validation accuracy is highest there (benchmarks/results/penalty.md).
"""
PENALTIES = 1e-4, 1.0
"""The bounds of the automatic penalty."""
UPDATES_PER_CELL = 1.0
"""Rank-one updates for each cell after which the solution is computed again.

So the time of all refreshes stays in proportion to that of the updates, and rounding errors stay
below 1e-9 of the largest score (benchmarks/results/rounding.md); those of float32 weights, below
1e-6.
"""
MIN_PENALTY = 1e-5
"""The smallest penalty with which solutions are updated: smaller ones lose too many digits."""
FEW_PER_CELL = 1 / 64
"""Up to this many samples per cell, a factor is inverted and updated instead of solving again."""
MAX_LEVERAGE = 1 - 1e-6
"""Held-out scores divide by one minus the leverage."""
MAX_SHIFT = 1e300
N_CLASSES = 256
"""Classes that are solved for at a time."""
_SOLUTION = "ridge solution"
_SLACK = 1.001
"""For the rounding of weights."""
_MAX_WEIGHT = 1e30
"""Scores of larger weights could overflow."""


@dataclass(frozen=True)
class RidgeReadout(Readout):
    """The least-squares weights from codes to one-hot targets, with a ridge penalty.

    They solve (G + shift I) W = C. The pairs G and the counters C are exact; the weights are
    rounded. Weights of a class are divided by the root of its number of samples, so that rare
    classes are predicted too.

    After few further samples the weights are updated sample by sample (recursive least squares).
    The shift is a function of the sums, so equal sums give the same scores up to rounding.

    The novelty score is the mean of two numbers from 0 to 1: the distance of the best score to 1,
    and the leverage that the sample would have once learned.

    Parameters
    ----------
    penalty : float or None
        The shift relative to the mean of G's diagonal. The shift is rounded to a power of two, so
        that it does not change with every sample. None: 0.1 (cells / samples)², from 1e-4 to 1.
    """

    penalty: float | None
    name = "ridge"
    layer = RIDGE_LAYER

    def check_memory(self, memory: Memory) -> None:
        _pairs(memory)

    def scores(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        solution = self._solution(snapshot, n_threads)
        return solution.solver.scores(codes, solution.balance, solution.order, n_threads)

    def best(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> NDArray[np.int32]:
        solution = self._solution(snapshot, n_threads)
        return solution.solver.best(codes, solution.balance, solution.order, n_threads)

    def best_one(self, snapshot: Snapshot, codes: Codes) -> int:
        return int(self.best(snapshot, codes, 1)[0])

    def weights(self, snapshot: Snapshot, codes: Codes) -> Floats:
        solution, cells = self._solution(snapshot, 1), codes.to_csr()[1]
        slots = solution.order.tolist()
        weights = np.stack([solution.solver.get(slot, 1)[0, cells] for slot in slots], axis=1)
        weights *= MAX_LEVEL * solution.balance[solution.order]
        return weights

    def linear_scores(self, snapshot: Snapshot, n_threads: int) -> list[LinearScores]:
        solution = self._solution(snapshot, n_threads)
        return [LinearScores(solution.weights(), 1 / solution.balance[solution.order])]

    def derived_values(self, snapshot: Snapshot) -> Derived | None:
        solution = self._cached(snapshot, inverse=False)
        if solution is None:
            return None
        weights, memory = solution.weights(), _pairs(snapshot.memory)
        if not _largest(weights) <= _bound(memory, solution.shift):
            # The pairs are no sums of products. No file with such weights can be loaded.
            return None
        return {"shift": solution.shift}, {"weights": weights}

    def restore_derived(self, snapshot: Snapshot, derived: Derived, n_threads: int) -> bool:
        (parameters, tensors), memory = derived, _pairs(snapshot.memory)
        shift, weights = self._shift(memory), tensors["weights"]
        solver = LeastSquares(memory.n_cells, len(memory))
        expected = np.float32 if solver.has_float_weights else np.float64
        if parameters.get("shift") != shift or weights.dtype != expected:
            return False
        if not (largest := _largest(weights)) <= _bound(memory, shift):
            raise ValueError(f"its weights are up to {largest:g}, too large for its sums")
        # A restored memory has its classes in the order of ranks.
        solver.set(0, weights, n_threads)
        reading = _reading(memory)
        version = snapshot.version
        solution = _Solution(self, shift, version, version, solver, _Matrix.NONE, 0, *reading)
        snapshot.cache.put(_SOLUTION, None, solution)
        return True

    def calibration_version(self, snapshot: Snapshot, n_threads: int) -> int:
        """Return the version of the last refresh: to calibrate after every update is too slow."""
        return self._solution(snapshot, n_threads).refreshed

    def held_out_scores(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        return self._held_out(snapshot, sample, np.ones_like(sample.counts), n_threads)[0]

    def novelty(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        solution = self._solution(snapshot, n_threads, inverse=True)
        best = solution.solver.top(codes, 1, solution.balance, solution.order, n_threads)[1][:, 0]
        h = solution.solver.leverages(codes, n_threads)
        return _novelty(codes, best, h / (1 + h))

    def held_out_novelty(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        scores, leverages = self._held_out(snapshot, sample, sample.counts, n_threads)
        return _novelty(sample.codes, scores.max(axis=1), leverages)

    def _held_out(
        self,
        snapshot: Snapshot,
        sample: CalibrationSample,
        n_without: NDArray[np.int64],
        n_threads: int,
    ) -> tuple[Floats, Floats]:
        """Return the scores without m samples of each code, and the leverage of one of them then.

        They are (f - m h y) / (1 - m h) and h / (1 - (m - 1) h); f are scores, y targets and h
        leverages.
        """
        solution = self._solution(snapshot, n_threads, inverse=True)
        scores = self.scores(snapshot, sample.codes, n_threads)
        h = solution.solver.leverages(sample.codes, n_threads)
        removed = np.minimum(n_without * h, MAX_LEVERAGE)
        samples = snapshot.memory.samples
        own, n = (np.arange(len(h)), sample.ranks), samples[sample.ranks]
        scores[own] -= removed * _balance(samples)[sample.ranks]
        # Without these samples, their class is divided by the root of fewer samples.
        scores[own] *= np.sqrt(n / np.maximum(n - n_without, 1))
        left = 1 - removed
        return scores / left[:, np.newaxis], h / (left + h)

    def _solution(self, snapshot: Snapshot, n_threads: int, *, inverse: bool = False) -> _Solution:
        """Return the solution for this version, by rank-one updates if possible."""
        solution = self._cached(snapshot, inverse)
        if solution is None:
            with snapshot.cache.lock, blas_threads(n_threads):
                solution = self._cached(snapshot, inverse)
                if solution is None:
                    solution = self._compute(snapshot, n_threads, inverse)
                    snapshot.cache.put(_SOLUTION, None, solution)
        return solution

    def _cached(self, snapshot: Snapshot, inverse: bool) -> _Solution | None:
        """Return the cached solution if it can be read at once."""
        solution: _Solution | None = snapshot.cache.peek(_SOLUTION)
        is_current = solution is not None and solution.is_for(self, snapshot, inverse)
        return solution if is_current else None

    def _compute(self, snapshot: Snapshot, n_threads: int, inverse: bool) -> _Solution:
        # No caller holds the old solution, so its memory is free before the new one is made.
        before: _Solution | None = snapshot.cache.peek(_SOLUTION)
        memory, version = _pairs(snapshot.memory), snapshot.version
        memory.check_not_empty()
        shift = self._shift(memory)
        if before is not None and (before.readout, before.shift) == (self, shift):
            if snapshot.cache.is_shared(_SOLUTION):
                before = replace(before, solver=before.solver.copy())
            # The solver changes: after an error it must not be used again.
            snapshot.cache.discard(_SOLUTION)
            updated = before.updated(snapshot, n_threads, inverse)
            if updated is not None:
                return updated
        del before
        snapshot.cache.discard(_SOLUTION)
        solver = _solve(memory, shift, n_threads)
        if inverse:
            _invert(solver)
        matrix = _Matrix.INVERSE if inverse else _Matrix.FACTOR
        return _Solution(self, shift, version, version, solver, matrix, 0, *_reading(memory))

    def _shift(self, memory: PairingMemory) -> float:
        """Return the penalty in the units of G, rounded to a power of two."""
        penalty = self.penalty
        if penalty is None:
            cells_per_sample = memory.n_cells / max(1, memory.pairs.n_samples)
            penalty = min(max(PENALTY * cells_per_sample**2, PENALTIES[0]), PENALTIES[1])
        mean = max(memory.pairs.trace / memory.n_cells, 1.0)
        return 2.0 ** round(math.log2(min(penalty * mean, MAX_SHIFT)))


class _Matrix(Enum):
    """The content of a solver's matrix. Weights that come from a file have none."""

    NONE, FACTOR, INVERSE = range(3)


@dataclass(frozen=True, eq=False)
class _Solution:
    """A solver with the weights at a version; `balance` is by slot, `order` are slots by rank."""

    readout: RidgeReadout
    shift: float
    refreshed: int
    version: int
    solver: LeastSquares
    matrix: _Matrix
    n_updates: int
    balance: Floats
    order: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """The size of the matrix and the weights."""
        return self.solver.nbytes + self.balance.nbytes + self.order.nbytes

    def weights(self) -> NDArray[Any]:
        """Return the weights as they are stored, classes by cells, in the order of ranks."""
        dtype = np.float32 if self.solver.has_float_weights else np.float64
        weights = np.empty((len(self.order), self.solver.n_cells), dtype)
        for rank, slot in enumerate(self.order.tolist()):
            weights[rank] = self.solver.get(slot, 1)[0]
        return weights

    def is_for(self, readout: RidgeReadout, snapshot: Snapshot, inverse: bool) -> bool:
        """Return whether it can be read at once."""
        return (
            self.version == snapshot.version
            and self.readout == readout
            and (self.matrix is _Matrix.INVERSE or not inverse)
        )

    def _is_delicate(self, memory: PairingMemory) -> bool:
        """Return whether rounding errors of updates would grow too fast."""
        return self.shift < MIN_PENALTY * memory.pairs.trace / memory.n_cells

    def updated(self, snapshot: Snapshot, n_threads: int, inverse: bool) -> _Solution | None:
        """Update the solver, or return None if a new one is needed or cheaper."""
        memory = _pairs(snapshot.memory)
        updates = snapshot.cache.updates.between(self.version, snapshot.version)
        if updates is None:
            return None
        n_samples, matrix = count_samples(updates), self.matrix
        n_updates = self.n_updates + n_samples
        if n_updates > UPDATES_PER_CELL * memory.n_cells:
            return None
        if n_samples and self._is_delicate(memory):
            return None
        if self.solver.has_float_weights and len(memory) <= MAX_DOUBLE_CLASSES:
            return None
        if matrix is not _Matrix.INVERSE and (inverse or n_samples):
            if matrix is _Matrix.NONE or n_samples > FEW_PER_CELL * memory.n_cells:
                return None
            _invert(self.solver)
            matrix = _Matrix.INVERSE
        if not _apply(self.solver, updates, n_threads):
            return None
        self.solver.resize(len(memory))
        balance, order = _reading(memory)
        return replace(
            self,
            version=snapshot.version,
            matrix=matrix,
            n_updates=n_updates,
            balance=balance,
            order=order,
        )


def _apply(solver: LeastSquares, updates: Sequence[Update], n_threads: int) -> bool:
    for update in updates:
        solver.resize(update.n_classes)
        if not isinstance(update, SampleUpdate):
            solver.drop(update.slot)
        elif not solver.update(update.codes, update.slots, update.sign, n_threads):
            return False
    return True


def _solve(memory: PairingMemory, shift: float, n_threads: int) -> LeastSquares:
    """Factorise G + shift I and solve for the weights of all classes."""
    n_cells, n_classes = memory.n_cells, len(memory)
    solver = LeastSquares(n_cells, n_classes)
    solver.set_matrix(memory.pairs, shift, n_threads)
    with no_forks:
        is_positive = lapack.factorise(n_cells, solver.matrix)
    if not is_positive:
        raise ValueError(f"penalty is too small to solve for the weights: the shift is {shift:g}")
    # In the order of ranks: the rounding of a solution depends on its place among the others.
    order = memory.store.slot_of_rank
    for first in range(0, n_classes, N_CLASSES):
        slots = order[first : first + N_CLASSES]
        counters = np.array([memory.store.get(slot) for slot in slots.tolist()], np.float64)
        with no_forks:
            lapack.solve(n_cells, solver.matrix, counters)
        solver.set_slots(slots, counters)
    return solver


def _invert(solver: LeastSquares) -> None:
    """Replace the factor by the inverse."""
    with no_forks:
        lapack.invert(solver.n_cells, solver.matrix)


def _largest(weights: NDArray[Any]) -> float:
    """Return the largest magnitude."""
    return float(max(-weights.min(initial=0), weights.max(initial=0)))


def _bound(memory: PairingMemory, shift: float) -> float:
    """Return the largest weight that a solution can have: |W| <= |C| / shift."""
    length = math.sqrt(memory.n_cells) * MAX_LEVEL * float(memory.store.samples.max(initial=0))
    return min(_SLACK * length / shift, _MAX_WEIGHT)


def _pairs(memory: Memory) -> PairingMemory:
    if not isinstance(memory, PairingMemory):
        raise ValueError(
            "readout is 'ridge', which reads pairs of cells, but the model was fitted without "
            "counting them: only fit changes that"
        )
    return memory


def _reading(memory: PairingMemory) -> tuple[Floats, NDArray[np.int32]]:
    """Return the factor of each slot's weights, and the slot of each rank."""
    return _balance(memory.store.samples), memory.store.slot_of_rank


def _balance(samples: NDArray[np.int64]) -> Floats:
    """Return a factor for the weights of each class: 1 if all classes have as many samples.

    A least-squares score grows with the class's share of the samples, so rare classes would never
    win. Division by the share would let them win too often, since their weights are less certain;
    the root is in between.
    """
    n = np.maximum(samples, 1)
    balance: Floats = np.sqrt(n.mean() / n)
    return balance


def _novelty(codes: Codes, best: Floats, leverages: Floats) -> Floats:
    # A sample that activates no cell is as novel as possible.
    is_active = np.diff(codes.to_csr()[0]) > 0
    return np.where(is_active, (1 - np.clip(best, 0, 1) + leverages) / 2, 1.0)
