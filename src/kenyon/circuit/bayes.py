"""A memory read as the naive Bayes classifier reads its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kenyon.circuit.coder import FULL
from kenyon.circuit.counting import CountingMemory, sum_rows
from kenyon.circuit.readout import DerivedReadout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.circuit.keeping import Kept


@dataclass(frozen=True)
class BayesReadout(DerivedReadout[CountingMemory]):
    """The log-likelihood of a code under each class, its cells drawn one by one.

    The weight of a synapse is the logarithm of the cell's share in all activity that the class has
    seen. Classes count alike, however many samples each has.

    Parameters
    ----------
    smoothing : float
        Activity that every cell is taken to have had besides, in samples at full strength.
    """

    smoothing: float
    name = "bayes"
    needs = CountingMemory
    why = "which reads counts, but the model was begun with decay and has none"

    def derive(self, memory: CountingMemory, n_threads: int) -> NDArray[np.float64]:  # noqa: D102
        activity = memory.synapses / FULL + self.smoothing
        total = activity.sum(axis=1, keepdims=True)
        weights: NDArray[np.float64] = np.log(activity) - np.log(total)
        learned = memory.samples > 0
        if learned.any():
            # Of a class that is only named nothing is known, which speaks for no sample.
            weights[~learned] = weights[learned].min() - 1
        return weights

    def held_out_scores(  # noqa: D102
        self, memory: CountingMemory, kept: Kept, n_threads: int
    ) -> NDArray[np.float64]:
        scores = self.scores(memory, kept.codes, n_threads)
        starts, levels, counts = memory.own_counts(kept)
        least = memory.n_cells * self.smoothing
        total = memory.synapses.sum(axis=1) / FULL + least
        active = sum_rows(levels, starts) / FULL
        # Of the counters first, so that a cell that only this sample had leaves the smoothing.
        activity = np.maximum(counts - levels, 0) / FULL + self.smoothing
        given = sum_rows(levels / FULL * np.log(activity), starts)
        own = given - active * np.log(np.maximum(total[kept.ranks] - active, least))
        scores[np.arange(len(own)), kept.ranks] = own
        return scores
