"""A memory that also counts which cells are active together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import _native
from kenyon.circuit.available_ram import available_ram
from kenyon.circuit.summing import SummingMemory
from kenyon.circuit.updates import ClassDrop, SampleUpdate, count_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon._native import Codes
    from kenyon.circuit.updates import Update

BYTES_PER_PAIR = 12
"""Peak bytes for each cell squared: up to 4 for the sums, 4 for a copy while they change, and 4 for
the inverse of their matrix."""
PENDING_PER_CELL = 1 / 8
"""Samples for each cell after which a new solution is cheaper than rank-one updates."""


class PairingMemory(SummingMemory):
    """Counters, and for each pair of cells the sum of products of their levels over all samples.

    The pairs are the Gram matrix of the codes; they belong to no class. `drop_class` keeps the
    class's samples in them as unlabelled background.

    Raises
    ------
    MemoryError
        If the pairs would take more RAM than is available.
    """

    # Larger batches take longer to count than the pairs take to copy.
    max_in_place = 256
    missing_because = "readout 'ridge' computes every weight from all pairs of cells"
    overflow = (
        f"too many samples: a counter would exceed {_native.MAX_COUNT}, or the model would have "
        f"learned more than {_native.MAX_PAIR_SAMPLES} samples in all"
    )

    def __init__(self, n_cells: int, window_size: int | None = None) -> None:
        super().__init__(n_cells, window_size)
        needed, available = BYTES_PER_PAIR * n_cells**2, available_ram()
        if available is not None and needed > available:
            raise MemoryError(
                f"readout 'ridge' with n_cells {n_cells} takes {needed / 1e9:,.1f} GB to count and "
                f"read pairs of cells, but only {available / 1e9:,.1f} GB are available"
            )
        self.pairs: _native.Pairs = _native.Pairs(n_cells)
        self.max_pending = int(PENDING_PER_CELL * n_cells)
        self._updates: list[Update] | None = []

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.pairs.nbytes

    def take_updates(self) -> list[Update] | None:
        taken, self._updates = self._updates, []
        return taken

    def _record(self, sign: int, codes: Codes, slots: NDArray[np.int32]) -> None:
        self._append(SampleUpdate(len(self), sign, codes, slots))

    def _append(self, update: Update) -> None:
        if self._updates is not None:
            self._updates.append(update)
            if count_samples(self._updates) > self.max_pending:
                self._updates = None

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        learned = _native.learn_with_pairs(self.store, self.pairs, codes, slots, n_threads)
        if learned:
            self._record(1, codes, slots)
        return learned

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        unlearned = _native.unlearn_with_pairs(self.store, self.pairs, codes, slots, n_threads)
        if unlearned:
            self._record(-1, codes, slots)
        return unlearned

    def drop_class(self, label: Any) -> None:
        update = ClassDrop(len(self), self.labels.slot(label))
        super().drop_class(label)
        self._append(update)

    def _merge(self, other: Self, slots: NDArray[np.int32]) -> bool:
        self._updates = None
        return _native.merge_with_pairs(self.store, self.pairs, other.store, other.pairs, slots)

    def copy(self) -> Self:
        other = super().copy()
        other.pairs = self.pairs.copy()
        other._updates = []
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        n_paired = np.array([self.pairs.n_samples], np.int64)
        return {**super().content(), "pairs": self.pairs.get(), "n_paired": n_paired}

    def _restore_pairs(self, content: dict[str, NDArray[Any]]) -> None:
        self.pairs.set(content["pairs"], int(content["n_paired"][0]))
