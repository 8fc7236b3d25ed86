"""Incremental ridge regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from kenyon_lab.methods.method import blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PENALTIES = tuple(10.0**power for power in range(-8, 9))
"""Candidates for the penalty."""

_ROWS = 1024


class Ridge:
    """Ridge regression of class indicators on codes, from sums over samples.

    With h the code of a sample and y the indicator vector of its class, the sums are
    ``G = sum h h'``, of which only the lower triangle is stored, and ``Q = sum h y'``, in double
    precision. The weights are ``(G + penalty I)^-1 Q``. The order of samples does not matter.

    Parameters
    ----------
    encode : callable
        Returns the codes of samples as rows of float64 in C order.
    n_cells, n_classes : int
        The widths of a code and of y.
    """

    def __init__(
        self,
        encode: Callable[[NDArray[Any]], NDArray[np.float64]],
        n_cells: int,
        n_classes: int,
    ) -> None:
        self.encode = encode
        self.G = np.zeros((n_cells, n_cells), order="F")
        self.Q = np.zeros((n_cells, n_classes))
        self.seen = np.zeros(n_classes, dtype=bool)
        self.weights = self.Q[:, self.seen]

    @property
    def n_parameters(self) -> int:
        """Size of Q and of one triangle of G."""
        n_cells, n_classes = self.Q.shape
        return n_cells * (n_cells + 1) // 2 + n_cells * n_classes

    @property
    def classes(self) -> NDArray[np.intp]:
        """The classes seen so far."""
        return np.flatnonzero(self.seen)

    def add(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        """Add samples to the sums."""
        self.seen[y] = True
        classes = np.unique(y)
        for rows in blocks(len(X), _ROWS):
            H = self.encode(X[rows])
            self.G = dsyrk(1.0, H.T, beta=1.0, c=self.G, lower=1, overwrite_c=1)
            self.Q[:, classes] += H.T @ unit_vectors(y[rows], classes)
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


def unit_vectors(y: NDArray[np.intp], classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the indicator vector of each label, one row per label."""
    return np.equal.outer(y, classes).astype(np.float64)
