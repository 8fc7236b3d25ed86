"""One rule for labels: plain strings, booleans or integers, whatever they came as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Label: TypeAlias = str | bool | int

_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)


def plain_label(label: Any) -> Label:
    """Return a label as Python's own string, boolean or integer.

    Subclasses, such as members of string enumerations, and scalars of NumPy become the plain value
    that they equal. A float must be integral. Everything else raises ValueError.
    """
    if isinstance(label, np.ndarray) and label.ndim == 0:
        label = label[()]
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, int | np.integer) and not isinstance(label, np.timedelta64):
        return int.__int__(label) if isinstance(label, int) else int(label)
    if isinstance(label, float | np.floating):
        if not label.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. A label must be integral, not {label!r}"
            )
        return int(label)
    raise ValueError(f"labels must be strings or numbers, but one is {label!r:.80}")


def plain_labels(y: NDArray[Any]) -> list[Label]:
    """Return the labels of a one-dimensional array, see `plain_label`."""
    if y.dtype.kind in "biuU":
        labels: list[Label] = y.tolist()
        return labels
    # tolist would make integers of times in nanoseconds.
    return [*map(plain_label, y if y.dtype.kind in "Mm" else y.tolist())]


def label_array(labels: list[Label]) -> NDArray[Any]:
    """Return labels of one kind as an array that holds them exactly.

    Its type depends on their values alone: a string type as long as the longest, bool, int64,
    uint64, or object where none of these holds all labels.
    """
    array = np.empty(len(labels), _common_dtype(labels))
    array[:] = labels
    return array


def _common_dtype(labels: list[Label]) -> np.dtype[Any]:
    if not labels:
        return np.dtype(np.int64)
    if isinstance(labels[0], str):
        # NumPy's strings lose NUL characters at their ends.
        if any(str(label).endswith("\0") for label in labels):
            return np.dtype(object)
        return np.dtype(f"U{max(1, max(len(str(label)) for label in labels))}")
    if isinstance(labels[0], bool):
        return np.dtype(np.bool_)
    lowest, highest = int(min(labels)), int(max(labels))
    for limits in (_INT64, _UINT64):
        if limits.min <= lowest and highest <= limits.max:
            return np.dtype(limits.dtype)
    return np.dtype(object)
