"""A network that does nothing against forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from kenyon_lab.methods.network import NetworkMethod

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Vanilla(NetworkMethod):
    """Plain stochastic gradient descent on each task as it comes: what forgetting looks like.

    Parameters
    ----------
    own_outputs : bool, default=False
        Whether only the outputs of a task's own classes compete in the softmax while it is learned.
        Those of other classes are then not trained to be silent, which is most of forgetting.
    n_hidden, learning_rate, batch_size, seed, n_threads
        As of every `NetworkMethod`.

    Examples
    --------
    It knows only what came last.

    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.vanilla import Vanilla
    >>> digits = load("digits")
    >>> vanilla = Vanilla(n_hidden=100, learning_rate=0.05, batch_size=16)
    >>> vanilla.begin(digits.n_features, digits.n_classes)
    >>> for classes in digits.tasks():
    ...     task = [label in classes for label in digits.y_train]
    ...     vanilla.learn_task(digits.X_train[task], digits.y_train[task])
    >>> bool((vanilla.predict(digits.X_test) == digits.y_test).mean() < 0.25)
    True
    """

    own_outputs: bool = False

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.choose_outputs(y)
        for inputs, targets in self.batches(X, y):
            self.theta.sub_(self.gradient(inputs, targets), alpha=self.learning_rate)

    def choose_outputs(self, y: NDArray[np.intp]) -> None:
        """Decide which outputs compete in a task of these classes."""
        if self.own_outputs:
            self.barred.fill_(-torch.inf)
            self.barred[torch.from_numpy(y)] = 0
