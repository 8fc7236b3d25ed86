"""Streaming linear discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from kenyon_lab.methods.checks import check_share
from kenyon_lab.methods.method import Method

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class SLDA(Method):
    """Class means and one covariance that all classes share, both kept up to date.

    Sample by sample, with ``d = x - mean_y`` and ``n_y`` samples of the class before it, the
    scatter grows by ``n_y / (n_y + 1) d d'`` and then the mean moves; the covariance is the scatter
    by the number of samples. Here the samples of a class in a task are taken in at once, which
    gives the same but for rounding. The order of samples does not matter.

    Parameters
    ----------
    shrinkage : float, default=1e-4
        How much of the identity is mixed into the covariance, above 0 and at most 1.
    seed, n_threads
        As of every `Method`; nothing is drawn.

    References
    ----------
    Hayes, Kanan (2020). Lifelong machine learning with deep streaming linear discriminant analysis.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.slda import SLDA
    >>> digits = load("digits")
    >>> slda = SLDA()
    >>> slda.begin(digits.n_features, digits.n_classes)
    >>> slda.learn_task(digits.X_train, digits.y_train)
    >>> bool((slda.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    shrinkage: float = 1e-4
    counts: NDArray[np.intp] = field(init=False, repr=False)
    means: NDArray[np.float64] = field(init=False, repr=False)
    scatter: NDArray[np.float64] = field(init=False, repr=False)
    _solution: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(
        init=False, repr=False
    )

    def _start(self) -> None:
        check_share("shrinkage", self.shrinkage)
        self.counts = np.zeros(self.n_classes, dtype=np.intp)
        self.means = np.zeros((self.n_classes, self.n_features))
        self.scatter = np.zeros((self.n_features, self.n_features))
        self._solution = None

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for label in np.unique(y):
            own = X[y == label].astype(np.float64)
            mean = own.mean(axis=0)
            n, n_new = self.counts[label], len(own)
            step = mean - self.means[label]
            own -= mean
            self.scatter += own.T @ own + np.outer(step, step) * (n * n_new / (n + n_new))
            self.means[label] += step * (n_new / (n + n_new))
            self.counts[label] += n_new
        self.n_shown += len(X)
        self._solution = None

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        weights, biases = self.solution
        scores = X @ weights + biases
        best: NDArray[np.intp] = np.flatnonzero(self.counts)[scores.argmax(axis=1)]
        return best

    @property
    def covariance(self) -> NDArray[np.float64]:
        """The covariance within classes."""
        return self.scatter / int(self.counts.sum())

    @property
    def solution(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights and biases of the classes seen so far, solved for when first asked for."""
        if self._solution is None:
            values, vectors = eigh(self.covariance)
            # Rounding can make zero eigenvalues negative.
            precisions = 1 / ((1 - self.shrinkage) * values.clip(min=0) + self.shrinkage)
            means = self.means[self.counts > 0].T
            weights = vectors @ (precisions[:, None] * (vectors.T @ means))
            self._solution = weights, -0.5 * (means * weights).sum(axis=0)
        return self._solution

    @property
    def n_parameters(self) -> int:  # noqa: D102
        d, k = self.n_features, self.n_classes
        return d * (d + 1) // 2 + k * d + k
