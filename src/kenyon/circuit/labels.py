"""Class labels, and the slot of a memory that holds each class."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.circuit.plain_labels import label_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label

    Slots = NDArray[np.int32]


class Admission(NamedTuple):
    """The slots of some samples' labels, of which some may be new.

    Parameters
    ----------
    slots : ndarray of int32
        The slot of each sample's class.
    ranks : ndarray of int32 or None
        The ranks of new classes, which take the next slots. None: there are none.
    labels : Labels
        The labels with the new ones.
    """

    slots: Slots
    ranks: Slots | None
    labels: Labels


class Labels:
    """The labels of all classes, by slot, and by rank in their sorted order.

    Labels are plain, see `plain_label`, and all of one kind: strings, booleans or numbers. A
    `Labels` object never changes. Methods that add, drop or rename labels return another one; the
    memory's store takes it in the same call of the kernel that changes the sums.

    Parameters
    ----------
    by_slot : list
    extinguished : frozenset
        Labels of classes whose counters were weakened and are no longer sums of samples.
    """

    __slots__ = ("_by_rank", "_by_slot", "_classes", "_kinds", "_slots", "extinguished")

    def __init__(
        self, by_slot: list[Label] | None = None, extinguished: frozenset[Label] = frozenset()
    ) -> None:
        self._by_slot = by_slot or []
        self._by_rank = sorted(self._by_slot)
        self._slots = {label: slot for slot, label in enumerate(self._by_slot)}
        self._kinds = {*map(type, self._by_slot)}
        self._classes: NDArray[Any] | None = None
        self.extinguished = extinguished

    def __len__(self) -> int:
        return len(self._by_slot)

    def __contains__(self, label: Label) -> bool:
        # True and 1 are equal, but not of one kind.
        return label in self._slots and type(label) in self._kinds

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted, as a read-only array."""
        # Concurrent readers may each compute it, with the same result.
        if self._classes is None:
            classes = label_array(self._by_rank)
            classes.setflags(write=False)
            self._classes = classes
        return self._classes

    def at(self, rank: int) -> Label:
        """Return the label of a rank."""
        return self._by_rank[rank]

    def label(self, slot: int) -> Label:
        """Return the label of a slot."""
        return self._by_slot[slot]

    def slot(self, label: Label) -> int:
        """Return the slot of a known label."""
        if label not in self:
            raise ValueError(f"the label {label!r} has not been learned")
        return self._slots[label]

    def slots(self, y: Iterable[Label]) -> Slots:
        """Return the slots of known labels."""
        return np.array([*map(self.slot, y)], dtype=np.int32)

    def admit(self, y: Sequence[Label], others: Sequence[Label] = ()) -> Admission:
        """Return the slots of labels; those that are new are added, with `others`.

        Raises
        ------
        ValueError
            If labels are of different kinds.
        """
        if {*map(type, y), *map(type, others)} != self._kinds:
            self._check_kinds([*y, *others])
        known = self._slots
        new = [label for label in dict.fromkeys([*y, *others]) if label not in known]
        if not new:
            return Admission(np.array([*map(known.__getitem__, y)], dtype=np.int32), None, self)
        labels = self._copy()
        labels._extend(new)
        slots = np.array([*map(labels._slots.__getitem__, y)], dtype=np.int32)
        ranks = np.array([bisect_left(labels._by_rank, label) for label in new], dtype=np.int32)
        return Admission(slots, ranks, labels)

    def without(self, slots: Iterable[int]) -> Labels:
        """Return the labels without those of some slots, which are in descending order.

        The last label moves to each slot that becomes free, as in the kernel.
        """
        labels = self._copy()
        for slot in slots:
            labels._remove(slot)
        return labels

    def renamed(self, old: Label, new: Label) -> tuple[Labels, int, int]:
        """Return the labels with another one, its slot and its new rank."""
        slot = self.slot(old)
        if new in self:
            raise ValueError(f"the label {new!r} exists already: merging classes is not renaming")
        if len(self) > 1:
            self._check_kinds([new])
        labels = self._copy()
        labels._by_slot[slot] = new
        del labels._slots[old], labels._by_rank[bisect_left(labels._by_rank, old)]
        labels._slots[new] = slot
        insort(labels._by_rank, new)
        labels._kinds = {type(new)}
        if old in self.extinguished:
            labels.extinguished = self.extinguished - {old} | {new}
        return labels, slot, bisect_left(labels._by_rank, new)

    def weakened(self, slots: Iterable[int]) -> Labels:
        """Return the labels with those of some slots marked as extinguished."""
        labels = self._copy()
        labels.extinguished = self.extinguished.union(map(self.label, slots))
        return labels

    # A copy is much faster than to sort and hash again. Only a copy is changed, before it is
    # returned.

    def _copy(self) -> Labels:
        labels = object.__new__(Labels)
        labels._by_slot, labels._by_rank = self._by_slot.copy(), self._by_rank.copy()
        labels._slots, labels._kinds = self._slots.copy(), self._kinds
        labels._classes, labels.extinguished = None, self.extinguished
        return labels

    def _extend(self, new: list[Label]) -> None:
        self._slots.update(zip(new, count(len(self)), strict=False))
        self._by_slot += new
        if len(new) == 1:
            insort(self._by_rank, new[0])
        else:
            self._by_rank = sorted(self._by_rank + new)
        self._kinds = {type(new[0])}

    def _remove(self, slot: int) -> None:
        label, last = self._by_slot[slot], self._by_slot.pop()
        if slot < len(self):
            self._by_slot[slot] = last
        self._slots[last] = slot
        del self._slots[label], self._by_rank[bisect_left(self._by_rank, label)]
        self._kinds = self._kinds if self._by_slot else set()
        self.extinguished -= {label}

    def _check_kinds(self, new: list[Label]) -> None:
        """Raise ValueError if new labels and the known ones are not all of one kind."""
        like, *others = [*self._by_slot[:1], *new]
        for other in others:
            if type(other) is not type(like):
                raise ValueError(
                    f"labels must be all strings, all booleans or all numbers, but {like!r} and "
                    f"{other!r} are mixed"
                )
