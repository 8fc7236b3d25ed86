"""A memory with decay, as the paper defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import Weights
from kenyon.circuit.capabilities import Extinguishes
from kenyon.circuit.counting import count_hits
from kenyon.circuit.labels import Labels
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.plain_labels import Label

ORDER_MATTERS = "with decay the weights depend on the order of the samples"


class DecayingMemory(Memory, Extinguishes):
    """A weight for each cell and class, multiplied by 1 - decay at every sample of any class.

    Decay, growth and the cap at 1 happen at every sample. Another order of the samples gives other
    weights, so the memory cannot merge or unlearn.
    """

    dtype = np.float64
    missing_because = ORDER_MATTERS

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        self.store: Weights = Weights(n_cells, Labels())

    def learn(
        self,
        codes: Codes,
        y: Sequence[Label],
        rates: Sequence[Rates],
        n_threads: int = 1,
        classes: Sequence[Label] = (),
    ) -> None:
        ((_, own),) = self.compartments(rates)
        if not own.decay:
            raise ValueError(
                "decay is 0, but the model was fitted with decay: only fit changes that"
            )
        if own.learning_rate is None:
            raise ValueError("learning_rate must be a number where decay is not 0, but is 'auto'")
        slots, ranks, labels = self.labels.admit(y, classes)
        self.store.learn(codes, slots, own.learning_rate, own.decay, ranks, labels)

    def extinguish(
        self, codes: Codes, y: Sequence[Label], share: float, rates: Sequence[Rates]
    ) -> None:
        self.compartments(rates)
        weakened = {}
        for slot, hits in count_hits(codes, self.labels.slots(y), self.n_cells):
            weights = self.store.get(slot)
            for n_before in range(hits.max()):
                weights[hits > n_before] *= 1 - share
            weakened[slot] = weights
        self.store.weaken(np.array([*weakened], np.int32), np.array([*weakened.values()]))

    def content(self) -> dict[str, NDArray[Any]]:
        """Return everything learned; the weights are `synapses` times `factor`."""
        return {**super().content(), "factor": np.array([self.store.factor])}

    @classmethod
    def restore(
        cls,
        classes: NDArray[Any],
        content: dict[str, NDArray[Any]],
        labels: Labels | None = None,
    ) -> DecayingMemory:
        memory = super().restore(classes, content, labels)
        memory.store.factor = float(content["factor"][0])
        return memory
