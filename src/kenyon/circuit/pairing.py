"""A memory that also counts which cells were active together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kenyon._native import Pairs, learn_both, merge_both, unlearn_both
from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.free_memory import free_memory
from kenyon.circuit.journal import Journal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.memory import Rates

Self = TypeVar("Self", bound="PairingMemory")

BYTES_OF_A_SQUARE = 18
"""Taken for each cell squared: up to 4 by the sums and by a copy of them while it is changed, 8 by
their factor, 2 by what was learned since and is being solved for."""
NOTED = 1 / 8
"""Samples for each cell that are noted before it is cheaper to factor anew."""


class PairingMemory(CountingMemory):
    """Counters, and for each pair of cells the sum of products of their levels over all samples.

    Pairs belong to no class: what is forgotten, not unlearned, stays in them as samples of none.
    Whoever reads them may leave a `factor` here, to go on from by the journal of what came after.

    Raises
    ------
    MemoryError
        If that would take more memory than there is.
    """

    # To count more pairs in place takes longer than to copy them.
    n_quick = 256

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        taken, free = BYTES_OF_A_SQUARE * n_cells**2, free_memory()
        if free is not None and taken > free:
            raise MemoryError(
                f"readout 'ridge' with n_cells {n_cells} takes {taken / 1e9:,.1f} GB to count and "
                f"read pairs of cells, but only {free / 1e9:,.1f} GB are free"
            )
        self.pairs = Pairs(n_cells)
        self.journal = Journal(int(NOTED * n_cells))
        self.factor: Any = None

    @property
    def nbytes(self) -> int:  # noqa: D102
        return super().nbytes + self.pairs.nbytes

    def extinguish(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], share: float, rates: Rates
    ) -> None:
        raise ValueError(
            "extinguish is not possible where pairs of cells are counted, as for readout 'ridge': "
            "every weight there follows from all of them"
        )

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        possible = learn_both(self.store, self.pairs, codes, slots, n_threads)
        if possible:
            self.journal.note(1, codes)
        return possible

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        possible = unlearn_both(self.store, self.pairs, codes, slots, n_threads)
        if possible:
            self.journal.note(-1, codes)
        return possible

    def _merge(self, other: Any, slots: NDArray[np.int32]) -> bool:
        possible = merge_both(self.store, self.pairs, other.store, other.pairs, slots)
        if possible:
            self.journal.lose()
        return possible

    def copy(self: Self) -> Self:  # noqa: D102
        other = super().copy()
        other.pairs = self.pairs.copy()
        other.journal = self.journal.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:  # noqa: D102
        n_paired = np.array([self.pairs.n_samples], np.int64)
        return {**super().content(), "pairs": self.pairs.get(), "n_paired": n_paired}

    @classmethod
    def restore(  # noqa: D102
        cls: type[Self], classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> Self:
        memory = super().restore(classes, content)
        sums = np.ascontiguousarray(content["pairs"], dtype=np.int64)
        memory.pairs.set(sums, int(content["n_paired"][0]))
        return memory
