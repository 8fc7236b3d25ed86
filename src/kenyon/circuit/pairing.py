"""A memory that also counts which cells were active together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kenyon._native import Pairs
from kenyon.circuit.counting import CountingMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.memory import Memory, Rates

Self = TypeVar("Self", bound="PairingMemory")


class PairingMemory(CountingMemory):
    """Counters, and for each pair of cells the sum of products of their levels over all samples.

    Pairs belong to no class: what is forgotten, not unlearned, stays in them as samples of none.
    """

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        self.pairs = Pairs(n_cells)
        self.n_paired = 0

    @property
    def nbytes(self) -> int:  # noqa: D102
        return super().nbytes + self.pairs.nbytes

    def learn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], rates: Rates, n_threads: int = 1
    ) -> None:
        super().learn(codes, y, rates)
        self.pairs.learn(codes, n_threads)
        self.n_paired += len(codes)

    def unlearn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], n_threads: int = 1
    ) -> None:
        if not self.pairs.unlearn(codes, n_threads):
            raise ValueError(
                "X and y hold samples that were not learned: a pair's sum would fall below zero"
            )
        try:
            super().unlearn(codes, y)
        except BaseException:
            self.pairs.learn(codes, n_threads)
            raise
        self.n_paired -= len(codes)

    def merge(self, other: Memory) -> None:  # noqa: D102
        if not isinstance(other, PairingMemory):
            raise ValueError(
                "a model that counts pairs of cells, as readout 'ridge' does, cannot be merged "
                "with one that does not"
            )
        super().merge(other)
        self.pairs.merge(other.pairs)
        self.n_paired += other.n_paired

    def copy(self: Self) -> Self:  # noqa: D102
        other = super().copy()
        other.pairs = self.pairs.copy()
        other.n_paired = self.n_paired
        return other

    def content(self) -> dict[str, NDArray[Any]]:  # noqa: D102
        pairs = {"pairs": self.pairs.get(), "n_paired": np.array([self.n_paired], np.int64)}
        return {**super().content(), **pairs}

    @classmethod
    def restore(  # noqa: D102
        cls: type[Self], classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> Self:
        memory = super().restore(classes, content)
        memory.pairs.set(np.ascontiguousarray(content["pairs"], dtype=np.int64))
        memory.n_paired = int(content["n_paired"][0])
        return memory
