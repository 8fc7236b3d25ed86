"""RanPAC: ridge regression on random projections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError

from kenyon_lab.methods.ridge import PENALTIES, unit_vectors
from kenyon_lab.methods.ridge_method import RidgeMethod
from kenyon_lab.methods.tridiagonal import Tridiagonal

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class RanPAC(RidgeMethod):
    """Ridge regression on a dense Gaussian projection, rectified.

    Of each task a fifth, drawn at random, is held out at first. The penalty is the one of
    `PENALTIES` whose regression on everything else so far has the smallest squared error on that
    fifth (the published code looks at the current task alone for this); then the fifth is learned
    too. A task of fewer than five samples keeps the penalty of the task before, which is 1 at
    first.

    Parameters
    ----------
    n_cells, seed, n_threads
        As of every `RidgeMethod`; the seed draws the projection and what is held out.

    References
    ----------
    McDonnell, Gong, Parvaneh, Abbasnejad, van den Hengel (2023). RanPAC: random projections and
    pre-trained models for continual learning.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.ranpac import RanPAC
    >>> digits = load("digits")
    >>> ranpac = RanPAC(n_cells=300)
    >>> ranpac.begin(digits.n_features, digits.n_classes)
    >>> ranpac.learn_task(digits.X_train, digits.y_train)
    >>> bool((ranpac.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    generator: np.random.Generator = field(init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        n_cells = len(self.ridge.G)
        self.generator = np.random.default_rng(self.seed)
        self.projection = self.generator.standard_normal((self.n_features, n_cells))

    def encode(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the projections of samples, rectified."""
        H = X @ self.projection
        return np.maximum(H, 0, out=H)

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
        """Return the penalty with the smallest squared error on samples not in the sums."""
        H, Y = self.encode(X), unit_vectors(y, self.ridge.classes)
        system = Tridiagonal(self.ridge.G.copy(order="F"))
        Q = system.rotate(self.ridge.Q[:, self.ridge.seen])

        def error(penalty: float) -> float:
            try:
                weights = system.rotate_back(system.solve(penalty, Q))
            except LinAlgError:  # lost to rounding
                return np.inf
            return float(((H @ weights - Y) ** 2).sum())

        return min(PENALTIES, key=error)
