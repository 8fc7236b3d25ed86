"""The paper's readout: weights that grow with every sample up to a cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_LEVEL, Counters
from kenyon.circuit import SummingMemory
from kenyon.readouts.readout import LinearScores, Readout, sum_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Memory, Rates, Snapshot
    from kenyon.circuit.calibration_sample import CalibrationSample
    from kenyon.readouts.readout import Floats


@dataclass(frozen=True)
class FlyReadout(Readout):
    """Weights min(1, learning rate * activity), summed over a class's samples.

    With compartments the score of a class is the highest of its compartments. So a compartment
    that has just learned a code decides its class, and one that does not know the code does not
    matter. A sum would let the latest samples change all answers through shared cells.

    The novelty score is the share of the highest possible score that the best class lacks.
    """

    rates: tuple[Rates, ...]
    name = "fly"

    def check_memory(self, memory: Memory) -> None:
        memory.compartments(self.rates)

    def scores(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        first, *others = self._compartment_scores(snapshot.memory, codes, n_threads)
        for scores in others:
            np.maximum(first, scores, out=first)
        return first

    def best(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> NDArray[np.int32]:
        memory = snapshot.memory
        parts = self._compartments(memory)
        if len(parts) > 1:
            ranks: NDArray[np.int32] = self.scores(snapshot, codes, n_threads).argmax(axis=1)
            return ranks.astype(np.int32)
        return memory.store.best(codes, n_threads=n_threads, **_rate(*parts[0]))

    def best_one(self, snapshot: Snapshot, codes: Codes) -> int:
        memory = snapshot.memory
        parts = self._compartments(memory)
        if len(parts) > 1:
            return int(self.scores(snapshot, codes, 1)[0].argmax())
        if isinstance(memory.store, Counters):
            return memory.store.best_one(codes, parts[0][1].learning_rate)
        return memory.store.best_one(codes)

    def weights(self, snapshot: Snapshot, codes: Codes) -> Floats:
        memory, cells = snapshot.memory, codes.to_csr()[1]
        each = [_weights(part, cells, own) for part, own in self._compartments(memory)]
        scores = [of_part[0] for of_part in self._compartment_scores(memory, codes, 1)]
        weights: Floats = np.choose(np.argmax(scores, axis=0), each)
        return weights

    def linear_scores(self, snapshot: Snapshot, n_threads: int) -> list[LinearScores]:
        return [_linear_scores(part, own) for part, own in self._compartments(snapshot.memory)]

    def saturation(self, snapshot: Snapshot) -> float:
        """Return the share of synapses that are at their cap."""
        memory = snapshot.memory
        parts = memory.compartments(self.rates)
        n_saturated = sum(part.store.n_saturated(**_rate(part, own)) for part, own in parts)
        return n_saturated / max(1, memory.n_cells * len(memory) * len(parts))

    def held_out_scores(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        return self._scores_without(snapshot, sample, np.ones_like(sample.counts), n_threads)

    def novelty(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        return _novelty(codes, self.scores(snapshot, codes, n_threads))

    def held_out_novelty(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        scores = self._scores_without(snapshot, sample, sample.counts, n_threads)
        return _novelty(sample.codes, scores)

    def _scores_without(
        self,
        snapshot: Snapshot,
        sample: CalibrationSample,
        n_without: NDArray[np.int64],
        n_threads: int,
    ) -> Floats:
        """Return the scores of each code as if its class had learned it so many times less."""
        memory = snapshot.memory
        assert isinstance(memory, SummingMemory), "only sums have a calibration sample"
        scores, rate = self.scores(snapshot, sample.codes, n_threads), self.rates[0].learning_rate
        slots = memory.store.slot_of_rank[sample.ranks].tolist()
        each = zip(slots, n_without.tolist(), strict=True)
        caps = np.array([memory.store.cap(slot, rate, n) for slot, n in each], np.int64)
        starts, levels, counts = memory.class_counts(sample)
        n_cells = np.diff(starts)
        left = counts - levels * np.repeat(n_without, n_cells)
        terms = levels * np.clip(left, 0, np.repeat(caps, n_cells))
        own = np.arange(len(caps)), sample.ranks
        scores[own] = sum_rows(terms, starts) / (float(MAX_LEVEL) * caps)
        return scores

    def _compartments(self, memory: Memory) -> Sequence[tuple[Memory, Rates]]:
        memory.check_not_empty()
        return memory.compartments(self.rates)

    def _compartment_scores(self, memory: Memory, codes: Codes, n_threads: int) -> list[Floats]:
        return [
            part.store.scores(codes, n_threads=n_threads, **_rate(part, own))
            for part, own in self._compartments(memory)
        ]


def _rate(part: Memory, rates: Rates) -> dict[str, Any]:
    """Return the arguments for reading a store: counters need the learning rate, weights do not."""
    return {"learning_rate": rates.learning_rate} if isinstance(part.store, Counters) else {}


def _weights(part: Memory, cells: NDArray[np.int32], rates: Rates) -> Floats:
    """Return the weights, 0 to 1, from some cells (rows) to all classes (columns)."""
    store, slots = part.store, part.store.slot_of_rank.tolist()
    if not isinstance(store, Counters):
        return np.stack([store.get(slot)[cells] * store.factor for slot in slots], axis=1)
    caps = [store.cap(slot, rates.learning_rate) for slot in slots]
    columns = zip(slots, caps, strict=True)
    return np.stack(
        [np.minimum(store.get(slot)[cells], cap) / cap for slot, cap in columns], axis=1
    )


def _linear_scores(part: Memory, rates: Rates) -> LinearScores:
    store, weights = part.store, part.synapses
    if not isinstance(store, Counters):
        return LinearScores(weights, np.full(len(weights), MAX_LEVEL / store.factor))
    slots = store.slot_of_rank.tolist()
    caps = np.array([store.cap(slot, rates.learning_rate) for slot in slots], weights.dtype)
    return LinearScores(np.minimum(weights, caps[:, np.newaxis]), float(MAX_LEVEL) * caps)


def _novelty(codes: Codes, scores: Floats) -> Floats:
    """Return the share of the highest possible score that the best class lacks."""
    starts, _, levels = codes.to_csr()
    highest = sum_rows(levels.astype(np.int64), starts) / MAX_LEVEL
    # A sample that activates no cell is as novel as possible.
    novelty = np.ones(len(codes))
    np.divide(highest - scores.max(axis=1), highest, out=novelty, where=highest > 0)
    return np.clip(novelty, 0, 1)
