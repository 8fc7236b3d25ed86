"""Methods that learn from the codes of the fly's first layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.methods.layer import FLY_LAYER
from kenyon_lab.methods.method import Method, blocks
from kenyon_lab.shared import MAX_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

MAX_COUNT = 2**31 - 1
_ROWS = 4096


@dataclass(kw_only=True, eq=False)
class CodedMethod(Method):
    """A method on the fly's first layer. The same seed gives every such method the same layer.

    Parameters
    ----------
    n_cells, fan_in, n_active
        As in `kenyon.SparseCoder`. None: by the rule `FLY_LAYER`.
    seed, n_threads
        As in every `Method`; the seed draws the connections.
    """

    n_cells: int | None = None
    fan_in: int | None = None
    n_active: int | None = None
    coder: SparseCoder = field(init=False, repr=False)
    n_units: int = field(default=0, init=False, repr=False)
    """Cells of the first layer."""

    def _start(self) -> None:
        layer = FLY_LAYER.complete(self.n_features, self.n_cells, self.fan_in, self.n_active)
        coder = SparseCoder(**layer, random_state=self.seed, n_threads=self.n_threads)
        self.coder = coder.fit(np.zeros((1, self.n_features)))
        self.n_units = len(self.coder.connections_)

    def codes(self, X: NDArray[Any]) -> Iterator[tuple[slice, csr_matrix[Any]]]:
        """Yield the levels of samples, some thousand rows at a time."""
        for rows in blocks(len(X), _ROWS):
            yield rows, self.coder.levels(X[rows])

    @property
    def n_parameters(self) -> int:
        return self.n_units * self.n_classes


def sum_by_class(
    codes: NDArray[Any] | csr_matrix[Any], y: NDArray[np.intp], n_classes: int
) -> NDArray[np.float64]:
    """Return the summed codes of each class, one column per class."""
    sums: NDArray[np.float64] = codes.T @ np.eye(n_classes)[y]
    return sums


def find_cap(learning_rate: float) -> int:
    """Return the sum of levels at which a weight, of at most 1, stops growing."""
    return max(1, round(min(MAX_LEVEL / learning_rate, MAX_COUNT)))
