"""Methods that are ridge regression on random projections."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.method import Method
from kenyon_lab.methods.ridge import Ridge
from kenyon_lab.shared import MAX_CELLS, SPARSE, check_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 10_000
"""Chosen where nothing else is asked for: the sums of their pairs take 0.8 GB."""


@dataclass(kw_only=True, eq=False)
class RidgeMethod(Method):
    """A method that projects at random, and solves for weights anew after each task.

    Parameters
    ----------
    n_cells : int, default=None
        Width of the projection. None: as many as `kenyon.SparseCoder` has cells, but no more than
        the 10,000 of the authors.
    seed, n_threads
        As of every `Method`; the seed draws the projection.

    Attributes
    ----------
    penalty : float
        That of the latest task.
    """

    n_cells: int | None = None
    penalty: float = field(default=1.0, init=False, repr=False)
    projection: NDArray[np.float64] = field(init=False, repr=False)
    ridge: Ridge = field(init=False, repr=False)

    def _start(self) -> None:
        n_cells = self.n_cells
        if n_cells is None:
            n_cells = min(SPARSE.n_cells(self.n_features), MOST_CELLS)
        self.penalty = 1.0
        self.ridge = Ridge(self.encode, check_whole("n_cells", n_cells, MAX_CELLS), self.n_classes)

    @abstractmethod
    def encode(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the codes of samples."""

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.ridge.predict(X)

    @property
    def n_parameters(self) -> int:  # noqa: D102
        return self.ridge.n_parameters
