"""Memories of exact sums, which do not depend on the order of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_COUNT, Counters
from kenyon.circuit import calibration_sample
from kenyon.circuit.calibration_sample import CalibrationSample
from kenyon.circuit.capabilities import Merges, Unlearns
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon._native import Codes

_NOT_LEARNED = "X and y hold samples that were not learned: "


class SummingMemory(Memory, Unlearns, Merges):
    """A counter for each cell and class: the sum of the cell's levels in the class's samples.

    Of each class it also keeps a calibration sample: the codes whose fingerprint, a hash, is below
    a threshold. A class with too many codes lowers its threshold; if all classes together have too
    many, a threshold common to all is lowered; nothing raises them. So the sample depends on the
    samples learned and not on their order, and it merges exactly. After `unlearn` it holds the
    remaining samples below the thresholds, which may be fewer than if the others had never come.
    """

    dtype = np.int32
    overflow = f"a counter would exceed {MAX_COUNT}: too many samples of one class"
    """The error of too many samples."""

    def __init__(self, n_cells: int) -> None:
        super().__init__(n_cells)
        self.store: Counters = Counters(n_cells)
        self.extinguished: set[Any] = set()
        """Labels whose counters were weakened and are no longer sums of samples."""

    def learn(
        self, codes: Codes, y: NDArray[Any], rates: Sequence[Rates], n_threads: int = 1
    ) -> None:
        ((_, own),) = self.compartments(rates)
        if own.decay:
            raise ValueError(
                f"decay is {own.decay}, but the model was fitted without decay: only fit changes "
                "that"
            )
        new = self.declare(y)
        if not self._learn(codes, self.labels.slots(y), n_threads):
            self.drop_classes(new)
            raise OverflowError(self.overflow)

    def unlearn(self, codes: Codes, y: NDArray[Any], n_threads: int = 1) -> None:
        slots = self.labels.slots(y)
        self._check_sums("unlearn", y.tolist(), self.extinguished)
        if not self._unlearn(codes, slots, n_threads):
            raise ValueError(
                f"{_NOT_LEARNED}a counter would fall below zero, or a code is missing from the "
                "calibration sample"
            )
        samples, touched = self.store.samples, np.unique(slots).tolist()
        emptied = [slot for slot in touched if samples[slot] == 0]
        if any(self.store.has_residue(slot) for slot in emptied):
            self._learn(codes, slots, n_threads)
            raise ValueError(f"{_NOT_LEARNED}a class without samples would keep counts")
        if not all(map(self.store.includes_calibration, touched)):
            self._learn(codes, slots, n_threads)
            raise ValueError(
                f"{_NOT_LEARNED}a counter would fall below the sum over the calibration sample"
            )
        for label in [self.labels.label(slot) for slot in emptied]:
            self.drop_class(label)

    def merge(self, other: Memory) -> None:
        if not isinstance(other, SummingMemory):
            raise other.lacks("merge")
        if type(other) is not type(self):
            raise ValueError(
                "a model that counts pairs of cells, as readout 'ridge' does, cannot be merged "
                "with one that does not"
            )
        weakened = self.extinguished | other.extinguished
        self._check_sums("merge", other.classes.tolist(), weakened)
        new = self.declare(other.classes)
        slots = np.empty(len(other), dtype=np.int32)
        slots[other.store.slot_of_rank] = self.labels.slots(other.classes)
        if not self._merge(other, slots):
            self.drop_classes(new)
            raise OverflowError(self.overflow)
        self.extinguished |= other.extinguished

    def _check_sums(self, change: str, labels: list[Any], extinguished: set[Any]) -> None:
        """Raise ValueError if the counters of a label are not sums of samples."""
        for label in labels:
            if label in extinguished and label in self.labels:
                raise ValueError(
                    f"{change} is not possible for the label {label!r}: some of its synapses were "
                    "extinguished, so its counters are not sums of samples"
                )

    def drop_class(self, label: Any) -> None:
        super().drop_class(label)
        self.extinguished.discard(label)

    def rename_class(self, old: Any, new: Any) -> None:
        slot = self.labels.slot(old)
        super().rename_class(old, new)
        if old in self.extinguished:
            self.extinguished.remove(old)
            self.extinguished.add(self.labels.label(slot))

    def calibration_sample(self) -> CalibrationSample:
        """Return the calibration sample of all classes with two samples or more.

        A class with one sample has nothing left to be read without it.
        """
        ranks = np.flatnonzero(self.samples > 1).astype(np.int32)
        codes, places, counts = self.store.calibration_codes(self.store.slot_of_rank[ranks])
        return CalibrationSample(codes, ranks[places], counts)

    def class_counts(self, sample: CalibrationSample) -> tuple[NDArray[np.int64], ...]:
        """Return the start of each code, its levels, and its class's counters of their cells."""
        starts, _, levels = sample.codes.to_csr()
        counts = self.store.gather(sample.codes, self.store.slot_of_rank[sample.ranks])
        return starts, levels.astype(np.int64), counts.astype(np.int64)

    def copy(self) -> Self:
        other = super().copy()
        other.extinguished = self.extinguished.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        content = {**super().content(), **calibration_sample.to_tensors(self.store)}
        if self.extinguished:
            marks = [label in self.extinguished for label in self.classes.tolist()]
            content["extinguished"] = np.array(marks)
        return content

    @classmethod
    def restore(cls, classes: NDArray[Any], content: dict[str, NDArray[Any]]) -> Self:
        memory = super().restore(classes, content)
        calibration_sample.restore(memory.store, content)
        if "extinguished" in content:
            memory.extinguished = set(classes[content["extinguished"]].tolist())
        return memory

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.learn(codes, slots)

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.unlearn(codes, slots)

    def _merge(self, other: Self, slots: NDArray[np.int32]) -> bool:
        return self.store.merge(other.store, slots)
