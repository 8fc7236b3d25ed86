"""A memory that fades, exactly as the paper writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import Weights
from kenyon.circuit.extinction import count_hits
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes


ORDER_MATTERS = "with decay the weights depend on the order in which the samples came"


class DecayingMemory(Memory):
    """A weight for each cell and class, multiplied by 1 - decay at every sample of any class.

    Decay, growth and the cap at 1 happen at every sample. The same samples in another order leave
    other weights, so two such memories cannot be merged and no sample can be taken back.
    """

    dtype = np.float64

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        self.store: Weights = Weights(n_cells)

    def learn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], rates: Rates, n_threads: int = 1
    ) -> None:
        self.check_compartments(rates)
        if not rates.decay:
            raise ValueError(
                "decay is 0, but the model was begun with it: only fit can change that"
            )
        if rates.learning_rate is None:
            raise ValueError("learning_rate must be a number where decay is not 0, but is 'auto'")
        self.declare(y)
        self.store.learn(codes, self.labels.slots(y), rates.learning_rate, rates.decay)

    def extinguish(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], share: float, rates: Rates
    ) -> None:
        self.check_compartments(rates)
        samples = self.store.samples
        for slot, hits in count_hits(codes, self.labels.slots(y), self.n_cells):
            numbers = self.store.get(slot)
            for n_before in range(hits.max()):
                numbers[hits > n_before] *= 1 - share
            self.store.set(slot, numbers, int(samples[slot]))

    def scores(  # noqa: D102
        self,
        codes: Codes,
        rates: Rates,
        n_threads: int,
    ) -> NDArray[np.float64]:
        self.check_readable(rates)
        return self.store.scores(codes, n_threads)

    def best(  # noqa: D102
        self,
        codes: Codes,
        rates: Rates,
        n_threads: int,
    ) -> NDArray[np.int32]:
        self.check_readable(rates)
        return self.store.best(codes, n_threads)

    def best_one(self, codes: Codes, rates: Rates) -> int:  # noqa: D102
        self.check_readable(rates)
        return self.store.best_one(codes)

    def weights(self, cells: NDArray[Any], rates: Rates) -> NDArray[np.float64]:  # noqa: D102
        weights: NDArray[np.float64] = self.synapses.T[cells] * self.store.factor
        return weights

    def n_saturated(self, rates: Rates) -> int:  # noqa: D102
        return self.store.n_saturated()

    def unlearn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], n_threads: int = 1
    ) -> None:
        raise ValueError(f"unlearn is not possible: {ORDER_MATTERS}")

    def merge(self, other: Memory) -> None:  # noqa: D102
        raise ValueError(f"merge is not possible: {ORDER_MATTERS}")

    def content(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned; the weights are `synapses` times `factor`."""
        return {**super().content(), "factor": np.array([self.store.factor])}

    @classmethod
    def restore(  # noqa: D102
        cls, classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> DecayingMemory:
        memory = super().restore(classes, content)
        memory.store.factor = float(content["factor"][0])
        return memory
