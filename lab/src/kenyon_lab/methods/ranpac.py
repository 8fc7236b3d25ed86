"""RanPAC: ridge regression on random projections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.ridge import PENALTIES, RidgeMethod, Tridiagonal, unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class RanPAC(RidgeMethod):
    """Ridge regression on a dense Gaussian projection, rectified.

    A random fifth of each task is held out. The penalty is the element of `PENALTIES` whose
    regression on all other samples so far has the smallest squared error on the held-out fifth (the
    published code uses the current task alone). Then the held-out samples are learned too. A task
    of fewer than five samples keeps the penalty of the previous task; the initial penalty is 1.

    Parameters
    ----------
    n_cells, seed, n_threads
        As in every `RidgeMethod`; the seed draws the projection and the held-out samples.

    References
    ----------
    McDonnell, Gong, Parvaneh, Abbasnejad, van den Hengel (2023). RanPAC: random projections and
    pre-trained models for continual learning.
    """

    generator: np.random.Generator = field(init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        n_cells = len(self.ridge.G)
        self.generator = np.random.default_rng(self.seed)
        projection = self.generator.standard_normal((self.n_features, n_cells))
        self.projection = projection.astype(self.ridge.dtype, copy=False)

    def encode(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the projections of samples, rectified."""
        H: NDArray[Any] = X.astype(self.ridge.dtype, copy=False) @ self.projection
        np.maximum(H, 0, out=H)
        return H

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        order = self.generator.permutation(len(X))
        held_out, rest = np.sort(order[: len(X) // 5]), np.sort(order[len(X) // 5 :])
        self.ridge.add(X[rest], y[rest])
        if len(held_out):
            self.penalty = self._best_penalty(X[held_out], y[held_out])
            self.ridge.add(X[held_out], y[held_out])
        self.penalty = self.ridge.solve(self.penalty)
        self.n_shown += len(X) + len(held_out)

    def _best_penalty(self, X: NDArray[Any], y: NDArray[np.intp]) -> float:
        """Return the penalty with the smallest squared error on held-out samples."""
        H, Y = self.encode(X), unit_vectors(y, self.ridge.classes)
        system = Tridiagonal(self.ridge.G.copy(order="F"))
        Q = system.rotate(self.ridge.Q[:, self.ridge.seen])

        def error(penalty: float) -> float:
            try:
                weights = system.rotate_back(system.solve(penalty, Q))
            except LinAlgError:  # not positive definite, by rounding
                return np.inf
            return float(((H @ weights - Y) ** 2).sum())

        return min(PENALTIES, key=error)


ENTRIES = (
    MethodEntry(
        name="ranpac",
        title="RanPAC",
        cls=RanPAC,
        group="modern",
        summary="random projection, then ridge regression",
        look=Look("green", "*", ":"),
    ),
)
