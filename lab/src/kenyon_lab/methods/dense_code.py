"""The dense code that the paper compares with: the first layer without winner-take-all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.layer import ON_OFF_BELOW
from kenyon_lab.shared import MAX_LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon import SparseCoder

_MAX_SUM = 32767


class DenseCoder:
    """The sums of all cells, scaled per sample from 0 to 255.

    The sums are those of `kenyon.SparseCoder`: each sample is quantised to
    ``q = rint(x / max|x| * Q)`` with ``Q = floor(32767 / fan_in)``, and each cell sums its channels
    of q. The level of a cell is ``255 (sum - min) / (max - min)``, rounded, halves up.

    Parameters
    ----------
    coder : SparseCoder
        A fitted coder, whose connections are used.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon import SparseCoder
    >>> from kenyon_lab.methods.dense_code import DenseCoder
    >>> X = np.eye(50)
    >>> levels = DenseCoder(SparseCoder(n_cells=400, fan_in=5).fit(X)).levels(X)
    >>> print(levels.shape, levels.dtype, levels.min(), levels.max())
    (50, 400) uint8 0 255
    """

    def __init__(self, coder: SparseCoder) -> None:
        channels = coder.connections_
        n_cells, fan_in = channels.shape
        n_features = coder.n_features_in_
        self.on_off = n_features < ON_OFF_BELOW
        self.largest = _MAX_SUM // fan_in
        # Sums stay below 2**24, so that single precision is exact.
        self.wiring = np.zeros((n_features * (2 if self.on_off else 1), n_cells), np.float32)
        self.wiring[channels, np.arange(n_cells)[:, np.newaxis]] = 1

    def levels(self, X: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the level of each cell for each sample."""
        scale = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
        q = np.rint(X / np.where(scale > 0, scale, 1) * self.largest).astype(np.float32)
        if self.on_off:
            q = np.hstack([np.maximum(q, 0), np.maximum(-q, 0)])
        sums = (q @ self.wiring).astype(np.float64)
        sums -= sums.min(axis=1, keepdims=True)
        spread = np.maximum(sums.max(axis=1, keepdims=True), 1)
        # Quotients of such small integers never round up to an integer; the cast then floors them.
        sums *= 2 * MAX_LEVEL
        sums += spread
        sums /= 2 * spread
        levels: NDArray[np.uint8] = sums.astype(np.uint8)
        return levels
