"""RanPAC and Fly-CL as their published code computes them, in single precision."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, svd
from scipy.linalg.lapack import sgesv

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.fly_cl import FlyCL
from kenyon_lab.methods.ranpac import RanPAC
from kenyon_lab.methods.ridge import PENALTIES, Ridge, unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Single = NDArray[np.float32]

FLY_CL_PENALTIES = tuple(10.0**power for power in range(6, 10))
"""The candidates of Fly-CL's script for CIFAR-100."""


class SingleRidge(Ridge, ABC):
    """Ridge regression with all sums and solutions in single precision."""

    dtype = np.float32

    def solve(self, penalty: float) -> float:
        """Compute the weights for `predict`, and return the penalty used.

        Where single precision does not suffice, the published code stops with an error. Here the
        penalty is multiplied by 10 until it suffices, with a warning.
        """
        used = penalty
        while (weights := self.weights_for(used, self.G, self.Q)) is None:
            used *= 10
        if used != penalty:
            warnings.warn(
                f"the penalty {penalty:g} is too small for single precision; it was raised to "
                f"{used:g}",
                RuntimeWarning,
                stacklevel=2,
            )
        self.weights = weights[:, self.seen]
        return used

    def weights_for(self, penalty: float, G: Single, Q: Single) -> Single | None:
        """Return ``(G + penalty I)^-1 Q``, or None where the solver fails."""
        matrix = G.copy(order="F")
        np.einsum("ii->i", matrix)[:] += np.float32(penalty)
        try:
            weights = self._solve_system(matrix, Q)
        except LinAlgError:
            return None
        return weights if np.isfinite(weights).all() else None

    @abstractmethod
    def _solve_system(self, matrix: Single, Q: Single) -> Single:
        """Solve a system given by the lower triangle of its matrix, which may be overwritten."""


class LURidge(SingleRidge):
    """A regression that is solved by LU decomposition."""

    def _solve_system(self, matrix: Single, Q: Single) -> Single:
        matrix += np.tril(matrix, -1).T  # The upper triangle is zero.
        _, _, weights, failed = sgesv(matrix, Q, overwrite_a=1)
        if failed:
            raise LinAlgError("the matrix is singular")
        return np.asarray(weights, dtype=np.float32)


class CholeskyRidge(SingleRidge):
    """A regression that is solved by Cholesky decomposition."""

    def _solve_system(self, matrix: Single, Q: Single) -> Single:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, Q, check_finite=False), dtype=np.float32)


@dataclass(kw_only=True, eq=False)
class PublishedRanPAC(RanPAC):
    """`RanPAC` as its published code computes it, in single precision.

    The penalty is selected on the current task alone: with it, the regression on a random four
    fifths of the task has the smallest squared error on the others. All sums so far, including all
    samples of the task, are then solved by LU decomposition.

    Parameters
    ----------
    n_cells, seed, n_threads
        As in `RanPAC`. The same seed gives the same projection.
    """

    ridge_type = LURidge

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        order = self.generator.permutation(len(X))
        fitted, held_out = np.split(order, [int(0.8 * len(X))])
        self.ridge.add(X, y)
        self.penalty = self._best_on_task(X[fitted], y[fitted], X[held_out], y[held_out])
        self.penalty = self.ridge.solve(self.penalty)
        self.n_shown += len(X) + len(held_out)

    def _best_on_task(
        self, X: NDArray[Any], y: NDArray[np.intp], X_held: NDArray[Any], y_held: NDArray[np.intp]
    ) -> float:
        """Return the penalty whose regression on samples predicts held-out samples best."""
        task = LURidge(self.encode, len(self.ridge.G), self.n_classes)
        task.add(X, y)
        H, Y = self.encode(X_held), unit_vectors(y_held, np.arange(self.n_classes))

        def error(penalty: float) -> float:
            weights = task.weights_for(penalty, task.G, task.Q)
            return np.inf if weights is None else float(((H @ weights - Y) ** 2).sum())

        return min(PENALTIES, key=error)


@dataclass(kw_only=True, eq=False)
class PublishedFlyCL(FlyCL):
    """`FlyCL` as its published code computes it, in single precision.

    The penalty is the element of `FLY_CL_PENALTIES` with the smallest generalised cross-validation
    error on the current task, from a singular value decomposition of its codes. These penalties
    suit the authors' features, whose scale differs from that of others.

    Parameters
    ----------
    share_active, share_inputs, n_cells, seed, n_threads
        As in `FlyCL`. The same seed gives the same projection.
    """

    ridge_type = CholeskyRidge

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.ridge.add(X, y)
        self.penalty = _best_by_cross_validation(self.encode(X), unit_vectors(y, np.unique(y)))
        self.penalty = self.ridge.solve(self.penalty)
        self.n_shown += len(X)


def _best_by_cross_validation(H: Single, Y: NDArray[np.float64]) -> float:
    """Return the penalty with the smallest ``|Y - H W|^2 / n / (1 - tr S / n)^2``.

    S is the hat matrix.
    """
    Y = Y.astype(np.float32)
    U, values, _ = svd(H, full_matrices=False, overwrite_a=True, check_finite=False)
    rotated, n = U.T @ Y, len(H)

    def criterion(penalty: float) -> float:
        shares = values**2 / (values**2 + np.float32(penalty))
        residual = ((Y - U @ (shares[:, None] * rotated)) ** 2).sum()
        return float(residual / n / (1 - shares.sum() / n) ** 2)

    return min(FLY_CL_PENALTIES, key=criterion)


ENTRIES = (
    MethodEntry(
        name="ranpac-published",
        title="RanPAC, published",
        cls=PublishedRanPAC,
        group="modern",
        summary="RanPAC in single precision, its penalty from the current task",
        look=Look("green", "X", "-."),
    ),
    MethodEntry(
        name="fly-cl-published",
        title="Fly-CL, published",
        cls=PublishedFlyCL,
        group="modern",
        summary="Fly-CL in single precision, with its authors' penalties",
        look=Look("vermilion", "X", "-."),
    ),
)
