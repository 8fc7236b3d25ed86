"""Features as a store keeps them: quantised, as the first layer quantises them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kenyon.circuit import Coder

    Features = NDArray[np.int16]

MAX_SUM = 2**15 - 1
"""The sum of `fan_in` inputs fits into 16 bits."""


def quantise(coder: Coder, X: NDArray[np.float32] | NDArray[np.float64]) -> Features:
    """Return the integers that the first layer computes from rows of finite numbers.

    Their largest magnitude is the largest integer. So quantised rows are quantised to themselves:
    they have the codes of the original rows, bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.circuit import Coder
    >>> coder = Coder(2, 10, 1, 2, "cut", channels="raw", seed=0)
    >>> quantise(coder, np.array([[0.5, -0.25]])).tolist()
    [[32767, -16384]]
    """
    rows = X.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(largest > 0, largest, 1.0)
    rows *= MAX_SUM // coder.fan_in
    return np.rint(rows).astype(np.int16)


def to_blobs(features: Features) -> list[bytes]:
    """Return each row as bytes, little-endian."""
    return [row.tobytes() for row in features.astype("<i2", copy=False)]


def from_blobs(blobs: Iterable[bytes], n_features: int) -> Features:
    """Return the rows of which `to_blobs` made bytes."""
    joined = np.frombuffer(b"".join(blobs), "<i2")
    return joined.astype(np.int16, copy=False).reshape(-1, n_features)
