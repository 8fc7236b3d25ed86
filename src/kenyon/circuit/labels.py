"""Class labels and where in a memory each class is kept."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Labels:
    """Labels by slot, in the order in which they came, and sorted.

    Labels are strings or numbers, not both: they must sort. Adding one costs the same however many
    there are; sorting is left to `sort`.
    """

    def __init__(self) -> None:
        self._by_slot: list[Any] = []
        self._dtypes: list[np.dtype[Any]] = []
        self._slots: dict[Any, int] = {}
        self._sorted: tuple[NDArray[Any], NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return len(self._by_slot)

    def __contains__(self, label: object) -> bool:
        try:
            return label in self._slots
        except TypeError:
            return False

    def copy(self) -> Labels:
        """Return labels that can change without these."""
        other = Labels()
        other._by_slot = self._by_slot.copy()
        other._dtypes = self._dtypes.copy()
        other._slots = self._slots.copy()
        other._sorted = self._sorted
        return other

    @property
    def is_sorted(self) -> bool:
        """Whether `classes` and `order` are up to date."""
        return self._sorted is not None

    def sort(self) -> None:
        """Bring `classes` and `order` up to date."""
        order = sorted(range(len(self)), key=self._by_slot.__getitem__)
        classes = np.empty(len(self), dtype=_common_dtype(self._dtypes))
        classes[:] = [self._by_slot[slot] for slot in order]
        classes.setflags(write=False)
        self._sorted = classes, np.array(order, dtype=np.int32)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as last sorted."""
        assert self._sorted is not None, "sort first"
        return self._sorted[0]

    @property
    def order(self) -> NDArray[np.int32]:
        """The slot of each of `classes`."""
        assert self._sorted is not None, "sort first"
        return self._sorted[1]

    def slot(self, label: Any) -> int:
        """Return where a known label is kept."""
        if label not in self:
            raise ValueError(f"the label {label!r} has not been learned")
        return self._slots[label]

    def label(self, slot: int) -> Any:
        """Return the label that is kept there."""
        return self._by_slot[slot]

    def slots(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return where each of many known labels is kept."""
        try:
            return np.array([*map(self._slots.__getitem__, y.tolist())], dtype=np.int32)
        except KeyError as error:
            raise ValueError(f"the label {error.args[0]!r} has not been learned") from None
        except TypeError:
            raise ValueError("labels must be strings or numbers, but y holds others") from None

    def add(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return where each of many labels is kept, new ones behind the rest."""
        try:
            return self.slots(y)
        except ValueError:
            self.extend(y.tolist(), y.dtype)
            return self.slots(y)

    def extend(self, labels: Iterable[Any], dtype: np.dtype[Any]) -> None:
        """Add those labels that are new; all of them or, if one is refused, none."""
        try:
            new = [label for label in dict.fromkeys(labels) if label not in self._slots]
        except TypeError:
            raise ValueError("labels must be strings or numbers, but y holds others") from None
        if not new:
            return
        # An array of objects may hold NumPy's numbers and strings.
        new = [label.item() if isinstance(label, np.generic) else label for label in new]
        for label in new:
            self._check(label, like=self._by_slot[0] if self._by_slot else new[0])
        for label in new:
            self._slots[label] = len(self._by_slot)
            self._by_slot.append(label)
            self._dtypes.append(_own_dtype(label, dtype))
        self._sorted = None

    def truncate(self, n: int) -> None:
        """Take back all but the first n."""
        for label in self._by_slot[n:]:
            del self._slots[label]
        del self._by_slot[n:], self._dtypes[n:]
        self._sorted = None

    def drop(self, label: Any) -> int:
        """Remove a label and return its slot, which the last one moves to."""
        slot = self.slot(label)
        del self._slots[label]
        last, dtype = self._by_slot.pop(), self._dtypes.pop()
        if slot < len(self._by_slot):
            self._by_slot[slot], self._dtypes[slot] = last, dtype
            self._slots[last] = slot
        self._sorted = None
        return slot

    def rename(self, old: Any, new: Any) -> None:
        """Call the class `old` by a new name."""
        slot = self.slot(old)
        new_label = np.asarray(new)
        if new_label.ndim != 0:
            raise ValueError(f"new must be one label, but is {new!r:.80}")
        label = new_label.item()
        if label in self:
            raise ValueError(f"the label {label!r} exists already: merging classes is not renaming")
        others = [self._by_slot[s] for s in range(len(self)) if s != slot]
        self._check(label, like=others[0] if others else label)
        del self._slots[old]
        self._slots[label] = slot
        self._by_slot[slot], self._dtypes[slot] = label, _own_dtype(label, new_label.dtype)
        self._sorted = None

    def _check(self, label: Any, like: Any) -> None:
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(f"Unknown label type: continuous. y must hold classes, not {label!r}")
        if not isinstance(label, str | int | float):
            raise ValueError(f"labels must be strings or numbers, but y holds {label!r:.80}")
        if isinstance(label, str) is not isinstance(like, str):
            raise ValueError(
                f"labels must be all strings or all numbers, but {like!r} and {label!r} are mixed"
            )


def _own_dtype(label: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that one label of an array needs: a string not the width of the others."""
    if isinstance(label, str) and dtype.kind != "O":
        return np.dtype(f"U{max(1, len(label))}")
    return dtype


def _common_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type that all labels fit, which follows from the labels present alone."""
    if not dtypes:
        return np.dtype(np.int64)
    different = set(dtypes)
    common = reduce(np.promote_types, different)
    # int64 and uint64 meet in float64, which would make different labels equal.
    lossy = common.kind == "f" and all(dtype.kind != "f" for dtype in different)
    return np.dtype(object) if lossy else common
