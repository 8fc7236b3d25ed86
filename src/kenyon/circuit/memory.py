"""Layer 2: the numbers learned of each class, one for each cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kenyon.circuit.labels import Labels
from kenyon.circuit.plain_labels import plain_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon._native import Codes, Counters, Weights
    from kenyon.circuit.plain_labels import Label
    from kenyon.circuit.updates import Update


class Rates(NamedTuple):
    """The learning rate and the decay of one compartment.

    A learning rate of None means 20 / (samples of the class).
    """

    learning_rate: float | None = None
    decay: float = 0.0


class Memory(ABC):
    """The synapses of all classes; readouts read them.

    A method that changes the memory first prepares everything that can fail or be interrupted.
    Then one call of the kernel changes the sums, the classes and the labels. So an exception at
    any moment, KeyboardInterrupt included, leaves the memory as it was before or as it is after the
    change. Further operations are capabilities, see `kenyon.circuit.capabilities`.
    """

    store: Counters | Weights
    dtype: ClassVar[type[np.generic]]
    # Larger batches are learned into a copy, so that readers do not wait for them.
    max_in_place: ClassVar[int] = 1 << 20
    max_pending = 0
    """Samples whose codes a readout may need to update what it has computed."""
    missing_because: ClassVar[str] = ""
    """Why the memory lacks a capability."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells = n_cells

    def __len__(self) -> int:
        return self.store.n_classes

    @property
    def labels(self) -> Labels:
        """The labels of all classes."""
        labels: Labels = self.store.labels
        return labels

    @property
    def version(self) -> int:
        """A number that every change increases."""
        return self.store.version

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of all classes, sorted."""
        return self.labels.classes

    @property
    def samples(self) -> NDArray[np.int64]:
        """The number of samples learned of each of `classes`."""
        return self.store.samples[self.store.slot_of_rank]

    @property
    def window_size(self) -> int | None:
        """The number of latest samples that the memory holds; None: it holds all."""
        return None

    @property
    def nbytes(self) -> int:
        """The size of all that was learned."""
        return self.store.nbytes

    @property
    def synapses(self) -> NDArray[Any]:
        """The stored numbers: a row for each of `classes`, a column for each cell."""
        return self.store.get_all()

    @abstractmethod
    def learn(
        self,
        codes: Codes,
        y: Sequence[Label],
        rates: Sequence[Rates],
        n_threads: int = 1,
        classes: Sequence[Label] = (),
    ) -> None:
        """Strengthen, for each sample, the synapses from its active cells to its class.

        `classes` are added even if they have no samples.
        """

    def lacks(self, capability: str) -> ValueError:
        """Return the error for a capability that this memory does not have."""
        return ValueError(f"{capability} is not possible: {self.missing_because}")

    def compartments(self, rates: Sequence[Rates]) -> Sequence[tuple[Memory, Rates]]:
        """Return each compartment with its rates, or raise ValueError if they do not match."""
        if len(rates) != 1:
            raise ValueError(
                f"compartments has {len(rates)} entries, but the model has one compartment: "
                "only fit changes that"
            )
        return ((self, rates[0]),)

    def take_updates(self) -> Sequence[Update] | None:
        """Return the changes since the last call, or None if they were not recorded."""
        return None

    def check_not_empty(self) -> None:
        """Raise ValueError if there are no classes."""
        if len(self) == 0:
            raise ValueError("the model has no classes left: learn something first")

    def drop_class(self, label: Label) -> None:
        """Drop a class."""
        slot = self.labels.slot(label)
        self.store.drop(slot, self.labels.without([slot]))

    def rename_class(self, old: Label, new: Label) -> None:
        """Give a class a new label."""
        labels, slot, rank = self.labels.renamed(old, new)
        self.store.move(slot, rank, labels)

    def copy(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.store = self.store.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        """Return everything learned as arrays, for `restore`."""
        return {"synapses": self.synapses, "samples": self.samples}

    @classmethod
    def restore(
        cls,
        classes: NDArray[Any],
        content: dict[str, NDArray[Any]],
        labels: Labels | None = None,
    ) -> Self:
        """Return the memory with these classes, which are sorted, and this content.

        `labels` are the same classes, for memories that share them.
        """
        synapses = np.ascontiguousarray(content["synapses"], dtype=cls.dtype)
        memory = cls(synapses.shape[1])
        labels = Labels(plain_labels(classes)) if labels is None else labels
        memory.store.insert(np.arange(len(classes), dtype=np.int32), labels)
        memory.store.set_all(synapses, content["samples"])
        return memory
