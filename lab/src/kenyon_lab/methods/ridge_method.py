"""Ridge regression on random projections."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.coded import count_default_cells
from kenyon_lab.methods.method import Method
from kenyon_lab.methods.ridge import Ridge
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_DEFAULT_CELLS = 10_000
"""The width that the authors of both methods use; G then takes 0.8 GB."""


@dataclass(kw_only=True, eq=False)
class RidgeMethod(Method):
    """A method that projects at random, and solves for all weights after each task.

    Parameters
    ----------
    n_cells : int, default=None
        Width of the projection. None: the number of cells of `kenyon.SparseCoder`, at most 10,000.
    seed, n_threads
        As in every `Method`; the seed draws the projection.

    Attributes
    ----------
    penalty : float
        The penalty of the latest task.
    """

    n_cells: int | None = None
    penalty: float = field(default=1.0, init=False, repr=False)
    projection: NDArray[np.float64] = field(init=False, repr=False)
    ridge: Ridge = field(init=False, repr=False)

    def _start(self) -> None:
        n_cells = self.n_cells
        if n_cells is None:
            n_cells = min(count_default_cells(self.n_features), MAX_DEFAULT_CELLS)
        self.penalty = 1.0
        self.ridge = Ridge(
            self.encode, check_integer("n_cells", n_cells, MAX_CELLS), self.n_classes
        )

    @abstractmethod
    def encode(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the codes of samples."""

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.ridge.predict(X)

    @property
    def n_parameters(self) -> int:
        return self.ridge.n_parameters
