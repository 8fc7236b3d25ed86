"""Shifted symmetric linear systems by one tridiagonal reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, eigvalsh_tridiagonal
from scipy.linalg.lapack import dormqr, dptsv, dsytrd, dsytrd_lwork

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
