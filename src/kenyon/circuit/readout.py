"""How a memory is read: what each class receives from a code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from kenyon._native import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.keeping import Kept
    from kenyon.circuit.memory import Memory, Rates

M = TypeVar("M", bound="Memory")

# Whoever else wants to read what is being derived waits for it, rather than derive it too; and
# libraries that compute have one number of threads for all that call them. What is derived may need
# something else that is.
deriving = RLock()


def keep_derived(memory: Memory, key: Any, basis: int, found: object) -> None:
    """Keep what was derived from a memory, and drop what is of its kind but of another basis."""
    with deriving:
        # Others may be looking something up in what is there now.
        memory.derived = {
            k: (b, other)
            for k, (b, other) in memory.derived.items()
            if type(other) is not type(found) or b == basis
        } | {key: (basis, found)}


class Readout(ABC):
    """Reads a memory, and changes nothing that was learned."""

    @abstractmethod
    def scores(self, memory: Any, codes: Codes, n_threads: int) -> NDArray[np.float64]:
        """Return what each of the memory's classes receives from each code."""

    @abstractmethod
    def best(self, memory: Any, codes: Codes, n_threads: int) -> NDArray[np.int32]:
        """Return the place in `classes` of the class that receives most, the first of equals."""

    @abstractmethod
    def best_one(self, memory: Any, codes: Codes) -> int:
        """Return the same for one code."""

    @abstractmethod
    def weights(self, memory: Any, codes: Codes) -> NDArray[np.float64]:
        """Return the weights that one code is read with: active cells by classes."""

    @abstractmethod
    def held_out_scores(self, memory: Any, kept: Kept, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of codes that are kept, each as if it had not been learned."""

    def basis(self, memory: Any) -> int:
        """Return the age of what held-out scores are made from: they hold as long as that does."""
        return int(memory.age)


@dataclass(frozen=True)
class FlyReadout(Readout):
    """Weights that grow with every sample up to a cap: the paper's model."""

    rates: Rates

    def scores(  # noqa: D102
        self, memory: Memory, codes: Codes, n_threads: int
    ) -> NDArray[np.float64]:
        return memory.scores(codes, self.rates, n_threads)

    def best(  # noqa: D102
        self, memory: Memory, codes: Codes, n_threads: int
    ) -> NDArray[np.int32]:
        return memory.best(codes, self.rates, n_threads)

    def best_one(self, memory: Memory, codes: Codes) -> int:  # noqa: D102
        return memory.best_one(codes, self.rates)

    def weights(self, memory: Memory, codes: Codes) -> NDArray[np.float64]:  # noqa: D102
        return memory.weights_of(codes, self.rates)

    def held_out_scores(  # noqa: D102
        self, memory: Any, kept: Kept, n_threads: int
    ) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = memory.held_out_scores(kept, self.rates, n_threads)
        return scores


@dataclass(frozen=True)
class DerivedReadout(Readout, Generic[M]):
    """Weights that are computed from all that was learned, when first read after learning."""

    name: ClassVar[str]
    needs: ClassVar[type[Memory]]
    why: ClassVar[str]

    @abstractmethod
    def derive(self, memory: M, n_threads: int) -> NDArray[np.float64]:
        """Return the weights: a row for each of the memory's classes, a column for each cell."""

    def scores(self, memory: M, codes: Codes, n_threads: int) -> NDArray[np.float64]:  # noqa: D102
        return self._store(memory, n_threads).scores(codes, n_threads)

    def best(self, memory: M, codes: Codes, n_threads: int) -> NDArray[np.int32]:  # noqa: D102
        return self._store(memory, n_threads).best(codes, n_threads)

    def best_one(self, memory: M, codes: Codes) -> int:  # noqa: D102
        return self._store(memory, 1).best_one(codes)

    def weights(self, memory: M, codes: Codes) -> NDArray[np.float64]:  # noqa: D102
        store, cells = self._store(memory, 1), codes.to_csr()[1]
        return np.stack([store.get(slot)[cells] for slot in range(len(memory))], axis=1)

    def _store(self, memory: M, n_threads: int) -> Weights:
        memory.check_not_empty()
        if not isinstance(memory, self.needs):
            raise ValueError(f"readout is {self.name!r}, {self.why}: only fit changes that")
        if (kept := self._kept(memory)) is not None:
            return kept
        with deriving:
            if (kept := self._kept(memory)) is not None:
                return kept
            store = Weights(memory.n_cells)
            for rank, row in enumerate(self.derive(memory, n_threads)):
                store.insert(rank)
                store.set(rank, row, 0)
            keep_derived(memory, self, memory.age, store)
            return store

    def _kept(self, memory: M) -> Weights | None:
        age, store = memory.derived.get(self, (None, None))
        return cast("Weights", store) if age == memory.age else None
