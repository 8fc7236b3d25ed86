"""Samples as requests send them: as JSON, or many vectors as an array."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.server.wire import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

JSON_ROWS = 16
"""Vectors that are sent as JSON; more are sent as `.npy`."""
MAX_TEXT = 64
"""Characters of a label or an id in an array, where all take as much space as the longest."""


def plain_label(label: Any) -> Any:
    """Return a label that JSON can hold: scalars of NumPy become Python's own."""
    return label.item() if isinstance(label, np.generic) else label


def many_vectors(X: Any) -> Any:
    """Return samples as an array if they are more vectors than JSON should hold, or None."""
    array = _as_vectors(X)
    return None if array is None or len(array) <= JSON_ROWS else array


def label_rows(X: Any, labels: Sequence[Any], ids: Sequence[Any]) -> NDArray[Any] | None:
    """Return many vectors with their labels and ids as a structured array.

    None: they must be sent as JSON, because an array would change them.
    """
    vectors = many_vectors(X)
    if vectors is None or len({type(label) for label in labels}) != 1:
        return None
    given = [id_ for id_ in ids if id_ is not None]
    texts = [text for text in (*labels, *given) if isinstance(text, str)]
    # Arrays do not tell zeros at the end of a text, and an empty id is none.
    is_exact = all(len(text) <= MAX_TEXT and not text.endswith("\0") for text in texts)
    column = np.array(labels)
    if not is_exact or column.dtype.kind not in "biU":
        return None
    if not all(isinstance(id_, str) and id_ for id_ in given):
        return None
    names = np.array([id_ or "" for id_ in ids])
    fields = [
        ("vector", vectors.dtype, vectors.shape[1:]),
        ("label", column.dtype),
        ("id", names.dtype),
    ]
    rows = np.empty(len(vectors), fields)
    rows["vector"], rows["label"], rows["id"] = vectors, column, names
    return rows


def npy(array: NDArray[Any]) -> bytes:
    """Return an array as the body of a request."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def questions(X: Any) -> list[Question]:
    """Return samples as JSON holds them."""
    array = _as_vectors(X)
    if array is not None:
        return [Question(vector=row) for row in array.astype(np.float64).tolist()]
    return [_question(x) for x in X]


def _as_vectors(X: Any) -> Any:
    """Return samples as an array if they are vectors, otherwise None."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf":
        return X
    if hasattr(X, "to_numpy"):
        return _as_vectors(X.to_numpy())
    return None


def _question(x: Any) -> Question:
    if isinstance(x, str):
        return Question(text=x)
    array = np.asarray(x)
    if array.ndim == 2:
        return Question(image=array.tolist())
    if array.ndim == 1 and array.dtype.kind in "iuf":
        return Question(vector=array.astype(np.float64).tolist())
    raise ValueError(
        f"a sample must be a vector, a text or a grey image, but one has shape {array.shape}"
    )
