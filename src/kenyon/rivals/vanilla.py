"""A network that does nothing against forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon.rivals.network import NetworkMethod

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Vanilla(NetworkMethod):
    """Plain stochastic gradient descent on each task as it comes: what forgetting looks like.

    Parameters
    ----------
    n_hidden, learning_rate, batch_size, seed, n_threads
        As of every `NetworkMethod`.

    Examples
    --------
    It knows only what came last.

    >>> from kenyon.data import load
    >>> from kenyon.rivals.vanilla import Vanilla
    >>> digits = load("digits")
    >>> vanilla = Vanilla(n_hidden=100, learning_rate=0.05, batch_size=16)
    >>> vanilla.begin(digits.n_features, digits.n_classes)
    >>> for classes in digits.tasks():
    ...     task = [label in classes for label in digits.y_train]
    ...     vanilla.learn_task(digits.X_train[task], digits.y_train[task])
    >>> bool((vanilla.predict(digits.X_test) == digits.y_test).mean() < 0.25)
    True
    """

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for inputs, targets in self.batches(X, y):
            self.theta.sub_(self.gradient(inputs, targets), alpha=self.learning_rate)
