"""Checks of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_texts(X: Any) -> list[str]:
    """Return texts as a list of strings, or raise ValueError."""
    if isinstance(X, str | bytes):
        raise ValueError(f"X must be a list of texts, but is one text: {X!r:.80}")
    texts = _as_list(X)
    if all(type(text) is str for text in texts):
        _check_unicode(texts)
        return texts
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"X must hold texts, but X[{i}] is {text!r:.80}")
    # Subclasses, such as NumPy's strings and members of enumerations, become plain strings.
    texts = [str.__str__(text) for text in texts]
    _check_unicode(texts)
    return texts


def _as_list(X: Any) -> list[Any]:
    # A lazy frame of polars has columns, but no length.
    if hasattr(X, "__len__") and hasattr(X, "columns"):
        if len(X.columns) != 1:
            raise ValueError(
                f"X must be a list of texts or a frame of one column, but has {len(X.columns)} "
                "columns"
            )
        X = X[X.columns[0]]
    if hasattr(X, "to_list"):
        return list(X.to_list())
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise ValueError(
                f"X must be a list of texts or an array of one column, but has the shape {X.shape}"
            )
        return list(X.tolist())
    if not isinstance(X, Sequence):
        raise ValueError(f"X must be a list of texts, but is of type {type(X).__name__}")
    return list(X)


def _check_unicode(texts: list[str]) -> None:
    """Raise ValueError for half a surrogate pair, which no tokenizer can read."""
    for i, text in enumerate(texts):
        if not text.isascii() and _SURROGATE.search(text):
            raise ValueError(f"X must hold texts of valid Unicode, but X[{i}] is {text!a:.80}")
