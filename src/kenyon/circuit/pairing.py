"""A memory that also counts which cells are active together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import _native
from kenyon.circuit.available_ram import available_ram
from kenyon.circuit.summing import SummingMemory
from kenyon.circuit.updates import ClassDrop, SampleUpdate, count_samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon.circuit.summing import Samples
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
        f"learned more than {_native.MAX_SAMPLES} samples in all"
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
        self._updates: Sequence[Update] | None = []

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.pairs.nbytes

    def take_updates(self) -> Sequence[Update] | None:
        taken, self._updates = self._updates, []
        return taken

    def _record(
        self,
        n_classes: int,
        learned: Samples | None = None,
        unlearned: Samples | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        if self._updates is None:
            return
        updates = [*self._updates]
        if learned is not None:
            updates.append(SampleUpdate(n_classes, 1, *learned))
        if unlearned is not None:
            updates.append(SampleUpdate(n_classes, -1, *unlearned))
        updates += [ClassDrop(n_classes - i, slot) for i, slot in enumerate(dropped)]
        self._updates = None if count_samples(updates) > self.max_pending else updates

    def _record_unknown(self) -> None:
        self._updates = None

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
