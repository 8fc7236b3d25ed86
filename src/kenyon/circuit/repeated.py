"""Samples that count several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Repeated:
    """The rows of an array or sparse matrix, each as often as its count says, as `np.repeat` does.

    Rows are copied only when a slice is taken, so counts may be large.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.circuit import Repeated
    >>> rows = Repeated(np.array(["a", "b", "c"]), np.array([2, 0, 1_000_000]))
    >>> print(len(rows), rows[0:4])
    1000002 ['a' 'a' 'c' 'c']
    """

    def __init__(self, rows: Any, counts: NDArray[np.int64]) -> None:
        self._rows = rows
        self._ends = np.cumsum(counts)
        self.shape: tuple[int, ...] = (int(self._ends[-1]), *rows.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice) -> Any:
        positions = np.arange(*part.indices(len(self)))
        return self._rows[np.searchsorted(self._ends, positions, side="right")]
