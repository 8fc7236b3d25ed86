"""Class labels, and the slot of a memory that holds each class."""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import lru_cache, reduce
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Labels:
    """Labels by slot, and by rank in their sorted order.

    Labels are strings or numbers, not both: they must sort.
    """

    def __init__(self) -> None:
        self._by_slot: list[Any] = []
        self._by_rank: list[Any] = []
        self._dtypes: list[np.dtype[Any]] = []
        self._slots: dict[Any, int] = {}
        self._classes: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self._by_slot)

    def __contains__(self, label: object) -> bool:
        try:
            return label in self._slots
        except TypeError:
            return False

    def copy(self) -> Labels:
        """Return an independent copy."""
        other = Labels()
        other._by_slot = self._by_slot.copy()
        other._by_rank = self._by_rank.copy()
        other._dtypes = self._dtypes.copy()
        other._slots = self._slots.copy()
        other._classes = self._classes
        return other

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted, as a read-only array."""
        # Concurrent readers may each compute it, with the same result.
        if self._classes is None:
            classes = np.empty(len(self), dtype=common_dtype(self._dtypes))
            classes[:] = self._by_rank
            # Among floats, distinct large integers would become equal.
            if classes.tolist() != self._by_rank:
                classes = classes.astype(object)
                classes[:] = self._by_rank
            classes.setflags(write=False)
            self._classes = classes
        return self._classes

    def at(self, rank: int) -> Any:
        """Return the label of a rank."""
        return self._by_rank[rank]

    def slot(self, label: Any) -> int:
        """Return the slot of a known label."""
        if label not in self:
            raise ValueError(f"the label {label!r} has not been learned")
        return self._slots[label]

    def label(self, slot: int) -> Any:
        """Return the label of a slot."""
        return self._by_slot[slot]

    def slots(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return the slots of known labels."""
        try:
            return np.array([*map(self._slots.__getitem__, y.tolist())], dtype=np.int32)
        except KeyError as error:
            raise ValueError(f"the label {error.args[0]!r} has not been learned") from None
        except TypeError:
            raise ValueError("labels must be strings or numbers, but some are not") from None

    def new_among(self, y: NDArray[Any]) -> list[Any]:
        """Return the labels of y that are new, or raise ValueError."""
        try:
            new = [label for label in dict.fromkeys(y.tolist()) if label not in self._slots]
        except TypeError:
            raise ValueError("labels must be strings or numbers, but some are not") from None
        # An array of objects may hold scalars of NumPy.
        new = [label.item() if isinstance(label, np.generic) else label for label in new]
        for label in new:
            self._check(label, like=self._by_slot[0] if self._by_slot else new[0])
        return new

    def ranks(self, new: list[Any]) -> NDArray[np.int32]:
        """Return the ranks that new labels would have after `insert`."""
        ranks = np.empty(len(new), np.int32)
        for n_before, i in enumerate(sorted(range(len(new)), key=new.__getitem__)):
            ranks[i] = bisect_left(self._by_rank, new[i]) + n_before
        return ranks

    def insert(self, new: list[Any], dtype: np.dtype[Any]) -> None:
        """Add new labels in the next slots."""
        if len(new) == 1:
            insort(self._by_rank, new[0])
        else:
            self._by_rank = sorted(self._by_rank + new)
        self._slots.update(zip(new, count(len(self._by_slot)), strict=False))
        self._by_slot += new
        self._dtypes += [_own_dtype(label, dtype) for label in new]
        self._classes = None

    def drop(self, label: Any) -> int:
        """Remove a label and return its slot, to which the last label moves."""
        slot = self.slot(label)
        del self._slots[label]
        del self._by_rank[bisect_left(self._by_rank, label)]
        last, dtype = self._by_slot.pop(), self._dtypes.pop()
        if slot < len(self._by_slot):
            self._by_slot[slot], self._dtypes[slot] = last, dtype
            self._slots[last] = slot
        self._classes = None
        return slot

    def rename(self, old: Any, new: Any) -> tuple[int, int]:
        """Replace the label `old`; return its slot and its new rank."""
        slot = self.slot(old)
        new_label = np.asarray(new)
        if new_label.ndim != 0:
            raise ValueError(f"new must be one label, but is {new!r:.80}")
        label = new_label.item()
        if label in self:
            raise ValueError(f"the label {label!r} exists already: merging classes is not renaming")
        self._check(label, like=self._by_slot[slot - 1] if len(self) > 1 else label)
        del self._slots[old]
        del self._by_rank[bisect_left(self._by_rank, old)]
        rank = bisect_left(self._by_rank, label)
        self._by_rank.insert(rank, label)
        self._slots[label] = slot
        self._by_slot[slot], self._dtypes[slot] = label, _own_dtype(label, new_label.dtype)
        self._classes = None
        return slot, rank

    def _check(self, label: Any, like: Any) -> None:
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. A label must be integral, not {label!r}"
            )
        if not isinstance(label, str | int | float):
            raise ValueError(f"labels must be strings or numbers, but one is {label!r:.80}")
        if isinstance(label, str) is not isinstance(like, str):
            raise ValueError(
                f"labels must be all strings or all numbers, but {like!r} and {label!r} are mixed"
            )


def _own_dtype(label: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of one label: that of its array, but a string type of its own length."""
    if isinstance(label, str) and dtype.kind != "O":
        return _string_dtype(max(1, len(label)))
    return dtype


@lru_cache
def _string_dtype(length: int) -> np.dtype[Any]:
    return np.dtype(f"U{length}")


def common_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return a type that holds all labels exactly; for int64 with uint64 that is object."""
    if not dtypes:
        return np.dtype(np.int64)
    different = set(dtypes)
    common = reduce(np.promote_types, different)
    lossy = common.kind == "f" and all(dtype.kind != "f" for dtype in different)
    return np.dtype(object) if lossy else common
