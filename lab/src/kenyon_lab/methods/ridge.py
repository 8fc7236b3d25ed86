"""Ridge regression on random projections, from sums over samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh_tridiagonal
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import dormqr, dptsv, dsytrd, dsytrd_lwork

from kenyon_lab.methods.layer import FLY_LAYER
from kenyon_lab.methods.method import Method, blocks
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PENALTIES = tuple(10.0**power for power in range(-8, 9))
"""Candidates for the penalty."""

MAX_DEFAULT_CELLS = 10_000
"""The width that the authors of both methods use; G then takes 0.8 GB."""

_ROWS = 1024


class Ridge:
    """Ridge regression of class indicators on codes, from sums over samples.

    With h the code of a sample and y the indicator vector of its class, the sums are
    ``G = sum h h'``, of which only the lower triangle is stored, and ``Q = sum h y'``. The weights
    are ``(G + penalty I)^-1 Q``. The order of samples does not matter.

    Parameters
    ----------
    encode : callable
        Returns the codes of samples as rows of `dtype` in C order.
    n_cells, n_classes : int
        The widths of a code and of y.
    """

    dtype: ClassVar[type[np.floating[Any]]] = np.float64

    def __init__(
        self,
        encode: Callable[[NDArray[Any]], NDArray[Any]],
        n_cells: int,
        n_classes: int,
    ) -> None:
        self.encode = encode
        self.G: NDArray[Any] = np.zeros((n_cells, n_cells), self.dtype, order="F")
        self.Q: NDArray[Any] = np.zeros((n_cells, n_classes), self.dtype)
        self.seen = np.zeros(n_classes, dtype=bool)
        self.weights = self.Q[:, self.seen]

    @property
    def n_parameters(self) -> int:
        """Size of Q and of one triangle of G."""
        n_cells, n_classes = len(self.G), len(self.seen)
        return n_cells * (n_cells + 1) // 2 + n_cells * n_classes

    @property
    def classes(self) -> NDArray[np.intp]:
        """The classes seen so far."""
        return np.flatnonzero(self.seen)

    def add(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        """Add samples to the sums."""
        self.seen[y] = True
        classes = np.unique(y)
        syrk = get_blas_funcs("syrk", dtype=self.dtype)
        for rows in blocks(len(X), _ROWS):
            H = self.encode(X[rows])
            self.G = syrk(1.0, H.T, beta=1.0, c=self.G, lower=1, overwrite_c=1)
            self.Q[:, classes] += H.T @ unit_vectors(y[rows], classes).astype(self.dtype)
        if not np.isfinite(np.trace(self.G)):
            raise ValueError("X must hold numbers whose squares have a finite sum")

    def join(self, other: Ridge) -> None:
        """Add the sums of another regression."""
        self.seen |= other.seen
        self.G += other.G
        self.Q += other.Q

    def solve(self, penalty: float) -> float:
        """Compute the weights for `predict`, and return the penalty used.

        The penalty is multiplied by 10 until ``G + penalty I`` is positive definite in spite of
        rounding.
        """
        matrix = np.empty_like(self.G)
        diagonal = np.einsum("ii->i", matrix)
        while True:
            np.copyto(matrix, self.G)
            diagonal += penalty
            try:
                factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                penalty *= 10
            else:
                self.weights = cho_solve(factor, self.Q[:, self.seen], check_finite=False)
                return penalty

    def predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the class of each sample, among the classes seen at the last `solve`."""
        best = [
            (self.encode(X[rows]) @ self.weights).argmax(axis=1) for rows in blocks(len(X), _ROWS)
        ]
        labels: NDArray[np.intp] = self.classes[np.concatenate(best)]
        return labels


@dataclass(kw_only=True, eq=False)
class RidgeMethod(Method):
    """A method that projects at random, and solves for all weights after each task.

    Parameters
    ----------
    n_cells : int, default=None
        Width of the projection. None: as many as the fly has cells, at most 10,000.
    seed, n_threads
        As in every `Method`; the seed draws the projection.

    Attributes
    ----------
    penalty : float
        The penalty of the latest task.
    """

    n_cells: int | None = None
    penalty: float = field(default=1.0, init=False, repr=False)
    projection: NDArray[Any] = field(init=False, repr=False)
    ridge: Ridge = field(init=False, repr=False)
    ridge_type: ClassVar[type[Ridge]] = Ridge

    def _start(self) -> None:
        n_cells = self.n_cells
        if n_cells is None:
            n_cells = min(FLY_LAYER.n_cells(self.n_features), MAX_DEFAULT_CELLS)
        self.penalty = 1.0
        n_cells = check_integer("n_cells", n_cells, MAX_CELLS)
        self.ridge = self.ridge_type(self.encode, n_cells, self.n_classes)

    @abstractmethod
    def encode(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of samples, in the precision of the regression."""

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.ridge.predict(X)

    @property
    def n_parameters(self) -> int:
        return self.ridge.n_parameters


class Tridiagonal:
    """A symmetric matrix A as ``P T P'``, with P orthogonal and T tridiagonal.

    ``A + c I`` is ``P (T + c I) P'`` for every c, and solving a tridiagonal system is cheap.

    Parameters
    ----------
    A : array of float64 in Fortran order
        The matrix. Its lower triangle is read, and the array is overwritten.
    """

    def __init__(self, A: NDArray[np.float64]) -> None:
        work, _ = dsytrd_lwork(len(A), lower=1)
        A, self.diagonal, self.off_diagonal, self._scales, _ = dsytrd(
            A, lower=1, lwork=int(work), overwrite_a=1
        )
        self._reflections = np.asfortranarray(A[1:, :-1])

    def rotate(self, B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``P' B``."""
        return self._apply("T", B)

    def rotate_back(self, B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``P B``."""
        return self._apply("N", B)

    def solve(self, c: float, B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``(T + c I)^-1 B``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If T + c I is not positive definite.
        """
        # LAPACK requires an off-diagonal element even for a matrix of size 1.
        off_diagonal = self.off_diagonal if len(B) > 1 else np.zeros(1)
        _, _, solution, failed = dptsv(self.diagonal + c, off_diagonal, B)
        if failed:
            raise LinAlgError("the matrix is not positive definite")
        return np.asarray(solution, dtype=np.float64)

    def eigenvalues(self) -> NDArray[np.float64]:
        """Return the eigenvalues of A in ascending order."""
        values: NDArray[Any] = eigvalsh_tridiagonal(self.diagonal, self.off_diagonal)
        return values

    def _apply(self, which: Any, B: NDArray[np.float64]) -> NDArray[np.float64]:
        B = np.array(B, order="F")
        if len(B) > 1:
            rest = np.asfortranarray(B[1:])
            _, work, _ = dormqr("L", which, self._reflections, self._scales, rest, -1)
            B[1:], _, _ = dormqr(
                "L", which, self._reflections, self._scales, rest, int(work[0]), overwrite_c=1
            )
        return B


def unit_vectors(y: NDArray[np.intp], classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the indicator vector of each label, one row per label."""
    return np.equal.outer(y, classes).astype(np.float64)
