"""How a memory is read: what each class receives from a code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from kenyon._native import Weights
from kenyon.circuit.coder import FULL
from kenyon.circuit.counting import sum_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit.keeping import Kept
    from kenyon.circuit.memory import Memory, Rates

M = TypeVar("M", bound="Memory")
T = TypeVar("T")

# Whoever else wants to read what is being derived waits for it, rather than derive it too; and
# libraries that compute have one number of threads for all that call them. What is derived may need
# something else that is.
deriving = RLock()


def derive_once(memory: Memory, key: Any, basis: Callable[[], int], derive: Callable[[], T]) -> T:
    """Return what is derived from a memory, anew only if it was derived from another basis."""
    before, found = memory.derived.get(key, (None, None))
    if before is not None and before == basis():
        return cast("T", found)
    with deriving:
        before, found = memory.derived.get(key, (None, None))
        if before is None or before != basis():
            found = derive()
            _keep(memory, key, basis(), found)
        return cast("T", found)


def _keep(memory: Memory, key: Any, basis: int, found: object) -> None:
    """Keep what was derived from a memory, and drop what is of its kind but of another basis."""
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
        """Return the age of what is told from kept codes: it holds as long as that does."""
        return int(memory.age)


class NoveltyReadout(Readout):
    """A readout that also tells how unlike everything learned a code is, from 0 to 1."""

    @abstractmethod
    def novelty(self, memory: Any, codes: Codes, n_threads: int) -> NDArray[np.float64]:
        """Return the novelty of each code."""

    @abstractmethod
    def held_out_novelty(self, memory: Any, kept: Kept, n_threads: int) -> NDArray[np.float64]:
        """Return the novelty of codes that are kept, each as if it had not been learned."""


@dataclass(frozen=True)
class FlyReadout(NoveltyReadout):
    """Weights that grow with every sample up to a cap: the paper's model.

    Novelty is what is missing from the highest score to what synapses at their cap would give.
    """

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

    def novelty(  # noqa: D102
        self, memory: Memory, codes: Codes, n_threads: int
    ) -> NDArray[np.float64]:
        return _missing(codes, self.scores(memory, codes, n_threads))

    def held_out_novelty(  # noqa: D102
        self, memory: Any, kept: Kept, n_threads: int
    ) -> NDArray[np.float64]:
        return _missing(kept.codes, self.held_out_scores(memory, kept, n_threads))


def _missing(codes: Codes, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    starts, _, levels = codes.to_csr()
    most = sum_rows(levels.astype(np.int64), starts) / FULL
    # A sample that no cell answers to is like nothing.
    novelty = np.ones(len(codes))
    np.divide(most - scores.max(axis=1), most, out=novelty, where=most > 0)
    return np.clip(novelty, 0, 1)


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
        return derive_once(memory, self, lambda: memory.age, lambda: self._fill(memory, n_threads))

    def _fill(self, memory: M, n_threads: int) -> Weights:
        store = Weights(memory.n_cells)
        for rank, row in enumerate(self.derive(memory, n_threads)):
            store.insert(rank)
            store.set(rank, row, 0)
        return store
