"""Memories of exact sums, which do not depend on the order of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon._native import MAX_COUNT, MAX_PAIR_SAMPLES, Counters, Window
from kenyon.circuit import calibration_sample, window
from kenyon.circuit.calibration_sample import CalibrationSample
from kenyon.circuit.capabilities import Merges, Unlearns
from kenyon.circuit.memory import Memory, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon._native import Codes, Pairs

_NOT_LEARNED = "X and y hold samples that were not learned: "


class SummingMemory(Memory, Unlearns, Merges):
    """A counter for each cell and class: the sum of the cell's levels in the class's samples.

    Of each class it also keeps a calibration sample: the codes whose fingerprint, a hash, is below
    a threshold. A class with too many codes lowers its threshold; if all classes together have too
    many, a threshold common to all is lowered; nothing raises them. So the sample depends on the
    samples learned and not on their order, and it merges exactly. After `unlearn` it holds the
    remaining samples below the thresholds, which may be fewer than if the others had never come.

    Parameters
    ----------
    n_cells : int
    window_size : int or None
        Hold the latest samples alone, this many: each is unlearned as it leaves the window. Their
        codes are stored, so only samples of the window can be unlearned, and dropping a class
        unlearns it. A class whose last sample leaves is dropped.
    """

    dtype = np.int32
    overflow = f"a counter would exceed {MAX_COUNT}: too many samples of one class"
    """The error of too many samples."""

    pairs: Pairs | None = None
    """The sums of pairs of cells, for memories that count them."""

    def __init__(self, n_cells: int, window_size: int | None = None) -> None:
        super().__init__(n_cells)
        self.store: Counters = Counters(n_cells)
        self.window = None if window_size is None else Window(n_cells, window_size)
        self.extinguished: set[Any] = set()
        """Labels whose counters were weakened and are no longer sums of samples."""

    @property
    def window_size(self) -> int | None:
        return None if self.window is None else self.window.capacity

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self.window is None else self.window.nbytes)

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
        slots = self.labels.slots(y)
        if self.window is not None:
            left = self.window.slide(self.store, self.pairs, codes, slots, n_threads)
            if left is not None:
                self._record(1, codes, slots)
                self._record(-1, *left)
                self._drop_emptied(left[1])
                return
        elif self._learn(codes, slots, n_threads):
            return
        self.drop_classes(new)
        raise OverflowError(self.overflow)

    def unlearn(self, codes: Codes, y: NDArray[Any], n_threads: int = 1) -> None:
        slots = self.labels.slots(y)
        if self.window is not None:
            if not self.window.unlearn(self.store, self.pairs, codes, slots, n_threads):
                raise ValueError(f"{_NOT_LEARNED}they are not in the window")
            self._record(-1, codes, slots)
            self._drop_emptied(slots)
            return
        self._check_sums("unlearn", y.tolist(), self.extinguished)
        if not self._unlearn(codes, slots, n_threads):
            raise ValueError(
                f"{_NOT_LEARNED}a counter would fall below zero, or a code is missing from the "
                "calibration sample"
            )
        touched = np.unique(slots).tolist()
        if any(self.store.has_residue(slot) for slot in self._emptied(slots)):
            self._learn(codes, slots, n_threads)
            raise ValueError(f"{_NOT_LEARNED}a class without samples would keep counts")
        if any(map(self.store.exceeds_samples, touched)):
            self._learn(codes, slots, n_threads)
            raise ValueError(f"{_NOT_LEARNED}a counter would be too large for the other samples")
        if not all(map(self.store.includes_calibration, touched)):
            self._learn(codes, slots, n_threads)
            raise ValueError(
                f"{_NOT_LEARNED}a counter would fall below the sum over the calibration sample"
            )
        self._drop_emptied(slots)

    def _emptied(self, slots: NDArray[np.int32]) -> list[int]:
        """Return those of the slots whose classes have no samples."""
        samples = self.store.samples
        emptied: list[int] = np.unique(slots[samples[slots] == 0]).tolist()
        return emptied

    def _drop_emptied(self, slots: NDArray[np.int32]) -> None:
        self.drop_classes([self.labels.label(slot) for slot in self._emptied(slots)])

    def merge(self, other: Memory) -> None:
        if not isinstance(other, SummingMemory):
            raise other.lacks("merge")
        if type(other) is not type(self):
            raise ValueError(
                "a model that counts pairs of cells, as readout 'ridge' does, cannot be merged "
                "with one that does not"
            )
        if self.window is not None or other.window is not None:
            raise ValueError(
                "merge is not possible: a window holds the latest samples, and those of two models "
                "have no common order"
            )
        weakened = self.extinguished | other.extinguished
        self._check_sums("merge", other.classes.tolist(), weakened)
        if int(self.samples.sum()) + int(other.samples.sum()) > MAX_PAIR_SAMPLES:
            raise OverflowError(f"the model would have more than {MAX_PAIR_SAMPLES} samples")
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
        if self.window is not None:
            self._drop_from_window(self.window, label)
            return
        super().drop_class(label)
        self.extinguished.discard(label)

    def _drop_from_window(self, window: Window, label: Any) -> None:
        slot, last = self.labels.slot(label), len(self) - 1
        codes = window.codes_of(slot)
        slots = np.full(len(codes), slot, np.int32)
        removed = window.unlearn(self.store, self.pairs, codes, slots, 1)
        assert removed, "the sums hold the samples of the window"
        self._record(-1, codes, slots)
        super().drop_class(label)
        # The last class has moved to the slot.
        window.move(last, slot)

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
        other.window = None if self.window is None else self.window.copy()
        return other

    def content(self) -> dict[str, NDArray[Any]]:
        content = {**super().content(), **calibration_sample.to_tensors(self.store)}
        if self.extinguished:
            marks = [label in self.extinguished for label in self.classes.tolist()]
            content["extinguished"] = np.array(marks)
        if self.window is not None:
            content |= window.to_tensors(self.window, self.store)
        return content

    @classmethod
    def restore(cls, classes: NDArray[Any], content: dict[str, NDArray[Any]]) -> Self:
        memory = super().restore(classes, content)
        calibration_sample.restore(memory.store, content)
        if "extinguished" in content:
            memory.extinguished = set(classes[content["extinguished"]].tolist())
        memory._restore_pairs(content)
        if window.TENSORS[0] in content:
            memory.window = window.restore(content, memory.n_cells, memory.store, memory.pairs)
        return memory

    def _restore_pairs(self, content: dict[str, NDArray[Any]]) -> None:
        """Set the pairs, for memories that count them."""

    def _record(self, sign: int, codes: Codes, slots: NDArray[np.int32]) -> None:
        """Record samples that were learned (1) or unlearned (-1), for readouts that update."""

    def _learn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.learn(codes, slots)

    def _unlearn(self, codes: Codes, slots: NDArray[np.int32], n_threads: int) -> bool:
        return self.store.unlearn(codes, slots)

    def _merge(self, other: Self, slots: NDArray[np.int32]) -> bool:
        return self.store.merge(other.store, slots)
