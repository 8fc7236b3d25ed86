"""Streaming linear discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.method import Method, check_share

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class SLDA(Method):
    """Class means and one covariance shared by all classes, both updated with every sample.

    With ``d = x - mean_y`` and ``n_y`` earlier samples of the class, a sample adds
    ``n_y / (n_y + 1) d d'`` to the scatter and then moves the mean; the covariance is the scatter
    divided by the number of samples. This implementation adds all samples of a class in a task at
    once, which gives the same up to rounding. The order of samples does not matter.

    Parameters
    ----------
    shrinkage : float, default=1e-4
        Weight of the identity in the covariance, above 0 and at most 1.

    References
    ----------
    Hayes, Kanan (2020). Lifelong machine learning with deep streaming linear discriminant analysis.
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
            samples = X[y == label].astype(np.float64)
            mean = samples.mean(axis=0)
            n, n_new = self.counts[label], len(samples)
            step = mean - self.means[label]
            samples -= mean
            self.scatter += samples.T @ samples + np.outer(step, step) * (n * n_new / (n + n_new))
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
        """The within-class covariance."""
        return self.scatter / int(self.counts.sum())

    @property
    def solution(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights and biases of the classes seen so far, computed once after each task."""
        if self._solution is None:
            values, vectors = eigh(self.covariance)
            # Rounding can make zero eigenvalues negative.
            precisions = 1 / ((1 - self.shrinkage) * values.clip(min=0) + self.shrinkage)
            means = self.means[self.counts > 0].T
            weights = vectors @ (precisions[:, None] * (vectors.T @ means))
            self._solution = weights, -0.5 * (means * weights).sum(axis=0)
        return self._solution

    @property
    def n_parameters(self) -> int:
        d, k = self.n_features, self.n_classes
        return d * (d + 1) // 2 + k * d + k


ENTRIES = (
    MethodEntry(
        name="slda",
        title="SLDA",
        cls=SLDA,
        group="modern",
        summary="class means and one covariance, streamed",
        grid={"shrinkage": (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1)},
        tuned={
            ("mnist20-distorted", "shuffled"): {"shrinkage": 1e-6},
            ("tiny100", "shuffled"): {"shrinkage": 1e-6},
            ("clinc150", "shuffled"): {"shrinkage": 1e-6},
        },
        look=Look("blue", "h", "--"),
    ),
)
