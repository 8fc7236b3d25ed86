"""The counters read as a multinomial naive Bayes classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kenyon._native import MAX_LEVEL
from kenyon.circuit import SummingMemory
from kenyon.readouts.readout import LinearReadout, sum_rows

if TYPE_CHECKING:
    from kenyon._native import Codes
    from kenyon.circuit import Memory, Snapshot
    from kenyon.circuit.calibration_sample import CalibrationSample
    from kenyon.readouts.fly import FlyReadout
    from kenyon.readouts.readout import Floats


@dataclass(frozen=True)
class BayesReadout(LinearReadout):
    """The log-likelihood of a code under each class, with a uniform prior.

    The weight of a synapse is the logarithm of the cell's share in the activity of the class.

    Parameters
    ----------
    pseudocount : float
        Activity added to every cell of every class, in samples at full strength.
    fly : FlyReadout
        The readout of novelty scores.
    """

    pseudocount: float
    fly: FlyReadout
    name = "bayes"

    def check_memory(self, memory: Memory) -> None:
        _counters(memory)

    def compute_weights(self, snapshot: Snapshot, n_threads: int) -> Floats:
        memory = _counters(snapshot.memory)
        activity = memory.synapses / MAX_LEVEL + self.pseudocount
        total = activity.sum(axis=1, keepdims=True)
        weights: Floats = np.log(activity) - np.log(total)
        learned = memory.samples > 0
        if learned.any():
            # A class without samples must not win: its smoothed likelihood would be uniform.
            weights[~learned] = weights[learned].min() - 1
        return weights

    def held_out_scores(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        memory = _counters(snapshot.memory)
        scores = self.scores(snapshot, sample.codes, n_threads)
        starts, levels, counts = memory.class_counts(sample)
        least = memory.n_cells * self.pseudocount
        total = memory.synapses.sum(axis=1) / MAX_LEVEL + least
        active = sum_rows(levels, starts) / MAX_LEVEL
        # Integers first, so that a cell active in this sample alone leaves exactly the pseudocount.
        activity = np.maximum(counts - levels, 0) / MAX_LEVEL + self.pseudocount
        terms = sum_rows(levels / MAX_LEVEL * np.log(activity), starts)
        own = terms - active * np.log(np.maximum(total[sample.ranks] - active, least))
        scores[np.arange(len(own)), sample.ranks] = own
        return scores

    def novelty(self, snapshot: Snapshot, codes: Codes, n_threads: int) -> Floats:
        return self.fly.novelty(snapshot, codes, n_threads)

    def held_out_novelty(
        self, snapshot: Snapshot, sample: CalibrationSample, n_threads: int
    ) -> Floats:
        return self.fly.held_out_novelty(snapshot, sample, n_threads)


def _counters(memory: Memory) -> SummingMemory:
    if not isinstance(memory, SummingMemory):
        raise ValueError(
            "readout is 'bayes', which reads counts, but the model was fitted with decay: only fit "
            "changes that"
        )
    return memory
