"""The interface of all readouts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kenyon._native import MAX_LEVEL, Weights
from kenyon.circuit.defaults import FLY_LAYER, LayerDefaults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Memory, Snapshot
    from kenyon.circuit.calibration_sample import CalibrationSample

    Floats = NDArray[np.float64]
    Derived = tuple[dict[str, Any], dict[str, NDArray[Any]]]
    """The parameters of a computation, as JSON holds them, and its results."""


class LinearScores(NamedTuple):
    """Scores as sums over cells: `levels @ weights.T / divisors`.

    Parameters
    ----------
    weights : ndarray of shape (n_classes, n_cells)
        Integers if the sums are exact, otherwise floats.
    divisors : ndarray of shape (n_classes,)
    """

    weights: NDArray[Any]
    divisors: Floats


class Readout(ABC):
    """Computes answers from a memory, and changes nothing that was learned.

    Novelty scores are from 0 to 1. Held-out methods read each code of a calibration sample as if it
    had not been learned: scores without one sample that had the code, novelty scores without all.
    """

    name: ClassVar[str]
    layer: ClassVar[LayerDefaults] = FLY_LAYER
    """Default parameters of the first layer."""

    @abstractmethod
    def scores(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        """Return the score of each class (columns) for each code (rows)."""

    @abstractmethod
    def best(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> NDArray[np.int32]:
        """Return the rank of the class with the highest score, the lowest rank of equals."""

    @abstractmethod
    def best_one(self, snapshot: Snapshot, codes: Codes) -> int:
        """Return the same for one code."""

    @abstractmethod
    def weights(self, snapshot: Snapshot, codes: Codes) -> Floats:
        """Return the weights that one code is read with: active cells by classes."""

    @abstractmethod
    def linear_scores(self, snapshot: Snapshot, n_threads: int) -> list[LinearScores]:
        """Return the scores for all codes; that of a class is the highest of its entries.

        Classes are in the order of ranks.
        """

    @abstractmethod
    def held_out_scores(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        """Return the held-out scores of a calibration sample."""

    @abstractmethod
    def novelty(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        """Return the novelty score of each code."""

    @abstractmethod
    def held_out_novelty(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        """Return the held-out novelty scores of a calibration sample.

        A sample that was learned again, or with a weight, would make its own copies familiar.
        """

    @abstractmethod
    def check_memory(self, memory: Memory) -> None:
        """Raise ValueError if the readout cannot read a memory of this kind."""

    def derived_values(self, snapshot: Snapshot) -> Derived | None:
        """Return what was computed from the sums and takes long to compute, to be saved."""
        return None

    def restore_derived(self, snapshot: Snapshot, derived: Derived, n_threads: int) -> bool:
        """Use derived values that were saved with the same sums; return whether they apply."""
        return False

    def calibration_version(self, snapshot: Snapshot, n_threads: int) -> int:
        """Return the version for which values computed from the calibration sample are valid."""
        return snapshot.version


class LinearReadout(Readout):
    """A readout whose weights are computed from the sums, once for each version."""

    @abstractmethod
    def compute_weights(self, snapshot: Snapshot, n_threads: int) -> Floats:
        """Return the weights, classes by cells; raise ValueError if the memory lacks the sums."""

    def scores(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        return self._store(snapshot, n_threads).scores(codes, n_threads)

    def best(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> NDArray[np.int32]:
        return self._store(snapshot, n_threads).best(codes, n_threads)

    def best_one(self, snapshot: Snapshot, codes: Codes) -> int:
        return self._store(snapshot, 1).best_one(codes)

    def weights(self, snapshot: Snapshot, codes: Codes) -> Floats:
        store, cells = self._store(snapshot, 1), codes.to_csr()[1]
        return np.stack([store.get(rank)[cells] for rank in range(store.n_classes)], axis=1)

    def linear_scores(self, snapshot: Snapshot, n_threads: int) -> list[LinearScores]:
        weights = self._store(snapshot, n_threads).get_all()
        return [LinearScores(weights, np.full(len(weights), float(MAX_LEVEL)))]

    def _store(self, snapshot: Snapshot, n_threads: int) -> Weights:
        snapshot.memory.check_not_empty()
        kind, key = f"{self.name} weights", (self, snapshot.version)
        return snapshot.cache.get(kind, key, lambda: self._fill(snapshot, n_threads))

    def _fill(self, snapshot: Snapshot, n_threads: int) -> Weights:
        weights = np.ascontiguousarray(self.compute_weights(snapshot, n_threads))
        store = Weights(snapshot.memory.n_cells)
        store.insert(np.arange(len(weights), dtype=np.int32))
        store.set_all(weights, np.zeros(len(weights), np.int64))
        return store


def sum_rows(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of each row of a CSR matrix; rows may be empty."""
    sums = np.zeros(len(values) + 1, values.dtype)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[starts])
