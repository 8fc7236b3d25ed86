"""Operations that only some memories offer: ask with isinstance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon._native import Codes
    from kenyon.circuit.memory import Memory, Rates
    from kenyon.circuit.plain_labels import Label


class Unlearns(ABC):
    """A memory that removes samples exactly."""

    @abstractmethod
    def unlearn(self, codes: Codes, y: Sequence[Label], n_threads: int = 1) -> None:
        """Remove samples; a class without samples is dropped."""


class Merges(ABC):
    """A memory that adds another one exactly."""

    @abstractmethod
    def merge(self, other: Memory) -> None:
        """Add the sums of another memory, class by class."""


class Extinguishes(ABC):
    """A memory in which the association of a code with a class can be weakened alone."""

    @abstractmethod
    def extinguish(
        self, codes: Codes, y: Sequence[Label], share: float, rates: Sequence[Rates]
    ) -> None:
        """Reduce the weights from each sample's active cells to its class by a share."""
