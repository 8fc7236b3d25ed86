"""Layer 2: what was learned of each class, one number for each cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from kenyon.circuit.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes, Counters, Weights
    from kenyon.circuit.keeping import Kept

Self = TypeVar("Self", bound="Memory")


class Rates(NamedTuple):
    """How fast a memory learns and fades, and how the further compartments do, if it has some.

    A learning rate of None stands for 20 / (samples of the class).
    """

    learning_rate: float | None = None
    decay: float = 0.0
    others: tuple[Rates, ...] = ()

    @property
    def each(self) -> tuple[Rates, ...]:
        """The rates of every compartment."""
        return (self._replace(others=()), *self.others) if self.others else (self,)


@lru_cache
def check_rates(learning_rate: object, decay: object) -> Rates:
    """Check what a user gave, where "auto" stands for None; remembered, since often asked."""
    if isinstance(learning_rate, tuple | list) or isinstance(decay, tuple | list):
        return _check_compartments(learning_rate, decay)
    if not 0 <= (fading := as_number(decay)) < 1:
        raise ValueError(f"decay must be a number from 0 to below 1, but is {decay!r}")
    if isinstance(learning_rate, str) and learning_rate == "auto":
        return Rates(None, fading)
    if not 0 < (rate := as_number(learning_rate)) < math.inf:
        raise ValueError(
            f"learning_rate must be 'auto' or a number above 0, but is {learning_rate!r}"
        )
    return Rates(rate, fading)


def _check_compartments(learning_rate: object, decay: object) -> Rates:
    """Check the rates of several compartments, an entry for each."""
    given = learning_rate, decay
    lengths = {len(one) if isinstance(one, tuple | list) else 0 for one in given}
    if len(lengths) > 1 or 0 in lengths:
        raise ValueError(
            "learning_rate and decay must both have an entry for each compartment, but are "
            f"{learning_rate!r} and {decay!r}"
        )
    rates = [check_rates.__wrapped__(*entry) for entry in zip(*given, strict=True)]  # type: ignore[call-overload]
    if sum(not one.decay for one in rates) > 1:
        raise ValueError(f"decay must be 0 for at most one compartment, but is {decay!r}")
    if any(one.decay and one.learning_rate is None for one in rates):
        raise ValueError(
            "learning_rate must be a number where decay is not 0, but is 'auto' in "
            f"{learning_rate!r}"
        )
    return rates[0]._replace(others=tuple(rates[1:]))


def as_number(value: object) -> float:
    """Return a number as a float, and what is none as NaN."""
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.inf


class Memory(ABC):
    """A store of synapses whose classes are known by their labels.

    Every method that changes the memory does all that it is asked to, or raises and changes
    nothing. Whoever changes it counts that in `age`, by which readouts know whether what they have
    derived, and keep here, still holds. Where synapses to a class were extinguished, its label is
    among `extinguished`: what is left of them tells no longer which samples were learned.
    """

    store: Counters | Weights
    dtype: type[np.generic]
    # Samples that can be learned while others wait.
    n_quick = 1 << 20

    def __init__(self, n_cells: int) -> None:
        self.n_cells = n_cells
        self.labels = Labels()
        self.extinguished: set[Any] = set()
        self.age = 0
        self.derived: dict[Any, tuple[int, Any]] = {}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of all classes, sorted."""
        return self.labels.classes

    @property
    def samples(self) -> NDArray[np.int64]:
        """How many samples were learned of each of `classes`."""
        return self.store.samples[self.store.slot_of_rank]

    @property
    def nbytes(self) -> int:
        """Memory that what was learned takes."""
        return self.store.nbytes

    @property
    def synapses(self) -> NDArray[Any]:
        """What is stored: a row for each of `classes`, a column for each cell."""
        synapses = np.empty((len(self), self.n_cells), dtype=self.dtype)
        for row, slot in zip(synapses, self.store.slot_of_rank.tolist(), strict=True):
            row[:] = self.store.get(slot)
        return synapses

    @abstractmethod
    def learn(self, codes: Codes, y: NDArray[Any], rates: Rates, n_threads: int = 1) -> None:
        """Strengthen, for each sample, the synapses from its active cells to its class."""

    @abstractmethod
    def unlearn(self, codes: Codes, y: NDArray[Any], n_threads: int = 1) -> None:
        """Take back what learning these samples did; a class without samples disappears."""

    @abstractmethod
    def merge(self, other: Memory) -> None:
        """Add what another memory learned, class by class."""

    @abstractmethod
    def extinguish(self, codes: Codes, y: NDArray[Any], share: float, rates: Rates) -> None:
        """Weaken, sample by sample, the synapses from its active cells to its class by a share."""

    @abstractmethod
    def scores(self, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.float64]:
        """Return what each of `classes` receives from each code."""

    @abstractmethod
    def best(self, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.int32]:
        """Return the place in `classes` of the class that receives most, the first of equals."""

    @abstractmethod
    def best_one(self, codes: Codes, rates: Rates) -> int:
        """Return the same for one code."""

    @abstractmethod
    def weights(self, cells: NDArray[Any], rates: Rates) -> NDArray[np.float64]:
        """Return the weights, 0 to 1, from some cells (rows) to all of `classes` (columns)."""

    @abstractmethod
    def n_saturated(self, rates: Rates) -> int:
        """Return the number of synapses that are at their cap."""

    def weights_of(self, codes: Codes, rates: Rates) -> NDArray[np.float64]:
        """Return the weights that one code is read with: a row for each of its active cells."""
        return self.weights(codes.to_csr()[1], rates)

    def saturation(self, rates: Rates) -> float:
        """Return the share of synapses that are at their cap."""
        self.check_compartments(rates)
        return self.n_saturated(rates) / max(1, self.n_cells * len(self))

    @property
    def kept(self) -> Kept | None:
        """Codes that were learned and can be read as if they had not, if the memory has such."""
        return None

    def check_compartments(self, rates: Rates) -> None:
        """Refuse rates of several compartments."""
        if rates.others:
            raise ValueError(
                f"learning_rate and decay are those of {len(rates.each)} compartments, but the "
                "model was begun with one: only fit changes that"
            )

    def check_readable(self, rates: Rates) -> None:
        """Refuse to be read where there is nothing, or with rates of another memory."""
        self.check_not_empty()
        self.check_compartments(rates)

    def check_not_empty(self) -> None:
        """Refuse to be read where there is nothing."""
        if len(self) == 0:
            raise ValueError("there are no classes left to choose from: learn something first")

    def declare(self, y: NDArray[Any]) -> list[Any]:
        """Make classes known, and return the labels that are new."""
        new = self.labels.new_among(y)
        for n_added, label in enumerate(new):
            rank = self.labels.insert(label, y.dtype)
            try:
                self.store.insert(rank)
            except MemoryError:
                self.labels.drop(label)
                self.retract(new[:n_added])
                raise
        return new

    def retract(self, labels: list[Any]) -> None:
        """Take back classes of which nothing was learned."""
        for label in reversed(labels):
            self.forget(label)

    def forget(self, label: Any) -> None:
        """Drop a class."""
        self.store.drop(self.labels.drop(label))
        self.extinguished.discard(label)

    def rename(self, old: Any, new: Any) -> None:
        """Call a class by a new name."""
        slot, rank = self.labels.rename(old, new)
        self.store.move(slot, rank)
        if old in self.extinguished:
            self.extinguished.remove(old)
            self.extinguished.add(self.labels.label(slot))

    def copy(self: Self) -> Self:
        """Return a memory that can change without this one."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.store = self.store.copy()
        other.labels = self.labels.copy()
        other.extinguished = self.extinguished.copy()
        other.derived = self.derived.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, for `restore`."""
        return {"synapses": self.synapses, "samples": self.samples}

    @classmethod
    def restore(cls: type[Self], classes: NDArray[Any], content: dict[str, NDArray[Any]]) -> Self:
        """Return the memory whose content this was."""
        synapses = np.ascontiguousarray(content["synapses"], dtype=cls.dtype)
        memory = cls(synapses.shape[1])
        memory.declare(classes)
        slots = memory.labels.slots(classes).tolist()
        for slot, row, samples in zip(slots, synapses, content["samples"].tolist(), strict=True):
            memory.store.set(slot, row, samples)
        return memory

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).restore, (self.classes, self.content())
