"""Several memories of the same codes: one learns fast and decays, one learns slowly and keeps."""

from __future__ import annotations

from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.circuit.capabilities import Extinguishes
from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.decaying import ORDER_MATTERS, DecayingMemory
from kenyon.circuit.labels import Labels
from kenyon.circuit.memory import Memory, Rates
from kenyon.circuit.plain_labels import plain_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.plain_labels import Label

    Compartment = CountingMemory | DecayingMemory


class CompartmentMemory(Memory, Extinguishes):
    """Memories that each learn every sample at their own rates.

    At most one of them has no decay. None keeps a calibration sample, since a code cannot be read
    as if a decaying memory had not learned it.

    Parameters
    ----------
    n_cells : int
    decays : sequence of float
        One for each compartment; here it only matters which are zero.
    """

    # A change takes one call of the kernel for each compartment, and may fail between two calls.
    # So only copies change.
    max_in_place = 0
    missing_because = ORDER_MATTERS

    def __init__(self, n_cells: int, decays: Sequence[float]) -> None:
        super().__init__(n_cells)
        self._set_parts([DecayingMemory(n_cells) if d else CountingMemory(n_cells) for d in decays])

    def _set_parts(self, parts: Sequence[Compartment]) -> None:
        self.parts = tuple(parts)
        # All compartments have the same classes in the same order.
        self.store = self.parts[0].store

    @property
    def version(self) -> int:
        return sum(part.version for part in self.parts)

    @property
    def synapses(self) -> NDArray[Any]:
        """The stored numbers, compartment by compartment."""
        return np.stack([part.synapses for part in self.parts])

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def compartments(self, rates: Sequence[Rates]) -> Sequence[tuple[Compartment, Rates]]:
        decays = [isinstance(part, DecayingMemory) for part in self.parts]
        if [bool(one.decay) for one in rates] != decays:
            fitted = ", ".join("above 0" if decay else "0" for decay in decays)
            raise ValueError(
                f"the decays of the compartments are {[one.decay for one in rates]}, but the model "
                f"was fitted with [{fitted}]: only fit changes that"
            )
        return tuple(zip(self.parts, rates, strict=True))

    def learn(
        self,
        codes: Codes,
        y: Sequence[Label],
        rates: Sequence[Rates],
        n_threads: int = 1,
        classes: Sequence[Label] = (),
    ) -> None:
        parts = self.compartments(rates)
        _, ranks, labels = self.labels.admit(y, classes)
        if ranks is not None:
            for part in self.parts:
                part.store.insert(ranks, labels)
            self._disable_calibration()
        for part, own in parts:
            part.learn(codes, y, (own,), n_threads)

    def _disable_calibration(self) -> None:
        for part in self.parts:
            if isinstance(part, CountingMemory):
                part.store.disable_calibration(part.store.slot_of_rank)

    def drop_class(self, label: Label) -> None:
        for part in self.parts:
            part.drop_class(label)

    def rename_class(self, old: Label, new: Label) -> None:
        for part in self.parts:
            part.rename_class(old, new)

    def extinguish(
        self, codes: Codes, y: Sequence[Label], share: float, rates: Sequence[Rates]
    ) -> None:
        for part, own in self.compartments(rates):
            part.extinguish(codes, y, share, (own,))

    def copy(self) -> CompartmentMemory:
        other = object.__new__(CompartmentMemory)
        vars(other).update(vars(self))
        other._set_parts([part.copy() for part in self.parts])
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        """Return everything learned; names begin with the number of the compartment, as in "0."."""
        return {
            f"{i}.{name}": tensor
            for i, part in enumerate(self.parts)
            for name, tensor in part.content().items()
        }

    @classmethod
    def restore(
        cls,
        classes: NDArray[Any],
        content: dict[str, NDArray[Any]],
        labels: Labels | None = None,
    ) -> CompartmentMemory:
        labels = Labels(plain_labels(classes)) if labels is None else labels
        restored: list[Compartment] = []
        for part in split_content(content):
            kind = DecayingMemory if "factor" in part else CountingMemory
            restored.append(kind.restore(classes, part, labels))
        memory = object.__new__(cls)
        Memory.__init__(memory, restored[0].n_cells)
        memory._set_parts(restored)
        memory._disable_calibration()
        return memory


def split_content(content: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Return the content of each compartment, without the prefixes of the names."""

    def select(prefix: str) -> dict[str, NDArray[Any]]:
        names = [name for name in content if name.startswith(prefix)]
        return {name.removeprefix(prefix): content[name] for name in names}

    return list(takewhile(bool, (select(f"{i}.") for i in count())))
