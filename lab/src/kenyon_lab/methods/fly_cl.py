"""Fly-CL: ridge regression on the largest values of a sparse projection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.method import check_share
from kenyon_lab.methods.ridge import PENALTIES, Ridge, RidgeMethod, Tridiagonal, unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class FlyCL(RidgeMethod):
    """Ridge regression on a sparse Gaussian projection, after a top-k selection.

    Each cell sums randomly drawn inputs with Gaussian weights. The cells with the largest sums keep
    them unchanged; all others are set to zero. The penalty is the element of `PENALTIES` with the
    smallest generalised cross-validation error on the current task. A task of one sample keeps the
    penalty of the previous task; the initial penalty is 1.

    Parameters
    ----------
    share_active : float, default=0.3
        Share of the cells that keep their sums.
    share_inputs : float, default=0.39
        Share of the inputs that a cell sums.
    n_cells, seed, n_threads
        As in every `RidgeMethod`; the seed draws the projection.

    References
    ----------
    Zou, Zang, Xu, Ji (2026). Fly-CL: a fly-inspired framework for enhancing efficient decorrelation
    and reduced training time in pre-trained model-based continual representation learning.
    """

    share_active: float = 0.3
    share_inputs: float = 0.39
    n_active: int = field(default=0, init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        n_cells = len(self.ridge.G)
        self.n_active = max(1, round(check_share("share_active", self.share_active) * n_cells))
        n_inputs = max(1, round(check_share("share_inputs", self.share_inputs) * self.n_features))
        generator = np.random.default_rng(self.seed)
        inputs = generator.random((self.n_features, n_cells)).argsort(axis=0)[:n_inputs]
        # At this density a dense product is faster than a sparse one.
        self.projection = np.zeros((self.n_features, n_cells), self.ridge.dtype)
        weights = generator.standard_normal((n_inputs, n_cells))
        np.put_along_axis(self.projection, inputs, weights.astype(self.ridge.dtype), axis=0)

    def encode(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the projections of samples, with all but the largest values set to zero."""
        H: NDArray[Any] = X.astype(self.ridge.dtype, copy=False) @ self.projection
        first = H.shape[1] - self.n_active
        H[np.partition(H, first, axis=1)[:, first, None] > H] = 0
        return H

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        if few := len(X) < len(self.ridge.G):
            self.ridge.add(X, y)
            H = self.encode(X)
            gram, target = dsyrk(1.0, H.T, trans=1, lower=1), unit_vectors(y, np.unique(y))
        else:
            task = Ridge(self.encode, len(self.ridge.G), self.n_classes)
            task.add(X, y)
            self.ridge.join(task)
            gram, target = task.G, task.Q[:, task.seen]
        if len(X) > 1:
            self.penalty = _best_penalty(gram, target, len(X), few=few)
        self.penalty = self.ridge.solve(self.penalty)
        self.n_shown += len(X)


def _best_penalty(
    gram: NDArray[np.float64], target: NDArray[np.float64], n_samples: int, *, few: bool
) -> float:
    """Return the penalty with the smallest generalised cross-validation error.

    The error is ``n |Y - H W|^2 / (n - tr S)^2``, with S the hat matrix. It follows from the
    smaller Gram matrix and its targets: ``H H'`` and Y with fewer samples than cells, otherwise
    ``H' H`` and ``H' Y``.
    """
    system = Tridiagonal(gram)
    eigenvalues = system.eigenvalues()
    target = system.rotate(target)

    def criterion(penalty: float) -> float:
        if eigenvalues[0] + penalty <= 0:  # not positive definite, by rounding
            return np.inf
        try:
            solution = system.solve(penalty, target)
        except LinAlgError:
            return np.inf
        size = float((solution**2).sum())
        if few:
            error = penalty**2 * size
        else:
            error = max(0.0, n_samples - float((solution * target).sum()) - penalty * size)
        free = n_samples - len(gram) + float((penalty / (eigenvalues + penalty)).sum())
        return n_samples * error / free**2

    return min(PENALTIES, key=criterion)


ENTRIES = (
    MethodEntry(
        name="fly-cl",
        title="Fly-CL",
        cls=FlyCL,
        group="modern",
        summary="sparse projection, its largest values, then ridge regression",
        grid={"share_active": (0.05, 0.1, 0.3, 0.5, 0.8)},
        tuned={
            ("mnist20", "shuffled"): {"share_active": 0.5},
            ("tiny100", "shuffled"): {"share_active": 0.5},
            ("clinc150", "shuffled"): {"share_active": 0.5},
        },
        look=Look("vermilion", "*", ":"),
    ),
)
