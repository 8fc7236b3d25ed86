"""Several memories of the same codes: fast learning that fades beside slow learning that stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kenyon.circuit.counting import CountingMemory
from kenyon.circuit.decaying import ORDER_MATTERS, DecayingMemory
from kenyon.circuit.keeping import keep_none
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from kenyon._native import Codes

T = TypeVar("T")
PerCompartment: TypeAlias = T | tuple[T, ...]
"""A parameter: one for all, or an entry for each compartment."""


class CompartmentMemory(Memory):
    """Memories that each learn every sample at their own rates, of which the surest speaks.

    A class receives the highest of what it receives from each compartment. So a compartment that
    has just learned a new label for a code speaks for it at full strength, and one that knows
    nothing of a code is silent. A sum would let what was learned last speak, through the cells that
    codes share, in the answers to everything else.

    All compartments but one decay, so two such memories cannot be merged and no sample can be taken
    back. No codes are kept, since what fades cannot be read as if it had not learned one.

    Parameters
    ----------
    n_cells : int
    decays : sequence of float
        One for each compartment. Of those that decay only whether they do matters here.
    """

    # Between two compartments an interrupt would leave them at odds, so only copies are changed.
    n_quick = 0

    def __init__(self, n_cells: int, decays: Sequence[float]) -> None:
        super().__init__(n_cells)
        self._take([DecayingMemory(n_cells) if d else CountingMemory(n_cells) for d in decays])

    def _take(self, parts: Sequence[Memory]) -> None:
        self.parts = tuple(parts)
        # All have the same classes in the same order; the first answers for them.
        self.labels, self.store = self.parts[0].labels, self.parts[0].store

    @property
    def synapses(self) -> NDArray[Any]:
        """What is stored, compartment by compartment."""
        return np.stack([part.synapses for part in self.parts])

    @property
    def nbytes(self) -> int:  # noqa: D102
        return sum(part.nbytes for part in self.parts)

    def check_compartments(self, rates: Rates) -> None:
        """Refuse rates of other compartments."""
        decays = [isinstance(part, DecayingMemory) for part in self.parts]
        if [bool(one.decay) for one in rates.each] != decays:
            begun = ", ".join("some" if fades else "0" for fades in decays)
            raise ValueError(
                f"decay is {tuple(one.decay for one in rates.each)}, but the model was begun with "
                f"({begun}): only fit changes that"
            )

    def learn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], rates: Rates, n_threads: int = 1
    ) -> None:
        self.check_compartments(rates)
        new = self.declare(y)
        # A memory that counts may refuse; one that fades does not, once it knows the classes.
        order = sorted(self._each(rates), key=lambda each: bool(each[1].decay))
        try:
            for part, own in order:
                part.learn(codes, y, own, n_threads)
        except BaseException:
            self.retract(new)
            raise

    def declare(self, y: NDArray[Any]) -> list[Any]:  # noqa: D102
        first, *others = self.parts
        new = first.declare(y)
        try:
            for part in others:
                part.declare(y)
        except MemoryError:
            for part in self.parts:
                part.retract([label for label in new if label in part.labels])
            raise
        self._keep_none(new)
        return new

    def _keep_none(self, labels: Sequence[Any]) -> None:
        for part in self.parts:
            if isinstance(part, CountingMemory):
                for label in labels:
                    keep_none(part.store, part.labels.slot(label))

    def forget(self, label: Any) -> None:  # noqa: D102
        for part in self.parts:
            part.forget(label)

    def rename(self, old: Any, new: Any) -> None:  # noqa: D102
        for part in self.parts:
            part.rename(old, new)

    def unlearn(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], n_threads: int = 1
    ) -> None:
        raise ValueError(f"unlearn is not possible: {ORDER_MATTERS}")

    def merge(self, other: Memory) -> None:  # noqa: D102
        raise ValueError(f"merge is not possible: {ORDER_MATTERS}")

    def extinguish(  # noqa: D102
        self, codes: Codes, y: NDArray[Any], share: float, rates: Rates
    ) -> None:
        self.check_compartments(rates)
        for part, own in self._each(rates):
            part.extinguish(codes, y, share, own)

    def scores(  # noqa: D102
        self, codes: Codes, rates: Rates, n_threads: int
    ) -> NDArray[np.float64]:
        self.check_readable(rates)
        first, *others = (part.scores(codes, own, n_threads) for part, own in self._each(rates))
        for scores in others:
            np.maximum(first, scores, out=first)
        return first

    def best(self, codes: Codes, rates: Rates, n_threads: int) -> NDArray[np.int32]:  # noqa: D102
        ranks: NDArray[np.int32] = self.scores(codes, rates, n_threads).argmax(1).astype(np.int32)
        return ranks

    def best_one(self, codes: Codes, rates: Rates) -> int:  # noqa: D102
        return int(self.scores(codes, rates, 1)[0].argmax())

    def weights(self, cells: NDArray[Any], rates: Rates) -> NDArray[np.float64]:
        """Return the strongest weight that each synapse has in any compartment."""
        each = [part.weights(cells, own) for part, own in self._each(rates)]
        strongest: NDArray[np.float64] = np.max(each, axis=0)
        return strongest

    def weights_of(self, codes: Codes, rates: Rates) -> NDArray[np.float64]:
        """Return, for each class, the weights in the compartment that speaks for it."""
        self.check_readable(rates)
        surest = np.argmax([part.scores(codes, own, 1)[0] for part, own in self._each(rates)], 0)
        each = [part.weights_of(codes, own) for part, own in self._each(rates)]
        weights: NDArray[np.float64] = np.choose(surest, each)
        return weights

    def n_saturated(self, rates: Rates) -> int:  # noqa: D102
        return sum(part.n_saturated(own) for part, own in self._each(rates))

    def saturation(self, rates: Rates) -> float:  # noqa: D102
        return super().saturation(rates) / len(self.parts)

    def copy(self) -> CompartmentMemory:  # noqa: D102
        other = object.__new__(CompartmentMemory)
        vars(other).update(vars(self))
        other.derived = self.derived.copy()
        other._take([part.copy() for part in self.parts])
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        """Return what each compartment has learned; the first is named 0."""
        return {
            f"{i}.{name}": tensor
            for i, part in enumerate(self.parts)
            for name, tensor in part.content().items()
        }

    @classmethod
    def restore(  # noqa: D102
        cls, classes: NDArray[Any], content: dict[str, NDArray[Any]]
    ) -> CompartmentMemory:
        parts = split_content(content)
        kinds = [DecayingMemory if "factor" in part else CountingMemory for part in parts]
        memory = object.__new__(cls)
        Memory.__init__(memory, parts[0]["synapses"].shape[1])
        memory._take([kind.restore(classes, part) for kind, part in zip(kinds, parts, strict=True)])
        memory._keep_none(classes.tolist())
        return memory

    def _each(self, rates: Rates) -> list[tuple[Memory, Rates]]:
        return list(zip(self.parts, rates.each, strict=True))


def split_content(content: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Return what each compartment has learned, by the names that a memory alone gives it."""
    parts: list[dict[str, NDArray[Any]]] = []
    while own := {
        name.removeprefix(prefix): tensor
        for prefix in [f"{len(parts)}."]
        for name, tensor in content.items()
        if name.startswith(prefix)
    }:
        parts.append(own)
    return parts
