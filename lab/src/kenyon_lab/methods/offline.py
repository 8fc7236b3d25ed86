"""A network that may see everything again: what could be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from kenyon_lab.methods.network import NetworkMethod
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTIMISERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


@dataclass(kw_only=True, eq=False)
class Offline(NetworkMethod):
    """A new network for each task, trained in one shuffled pass over all samples so far.

    It keeps every sample. No rival but an upper bound: what the network could reach if classes did
    not come one after another.

    Parameters
    ----------
    optimiser : {"sgd", "adam"}, default="adam"
        What takes the steps. The paper names plain gradient descent, for which one pass at its
        learning rate is too short to be the bound that it reports.
    n_hidden, learning_rate, batch_size, seed, n_threads
        As of every `NetworkMethod`.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.offline import Offline
    >>> digits = load("digits")
    >>> offline = Offline(n_hidden=100, learning_rate=0.003, batch_size=16)
    >>> offline.begin(digits.n_features, digits.n_classes)
    >>> for classes in digits.tasks():
    ...     task = [label in classes for label in digits.y_train]
    ...     offline.learn_task(digits.X_train[task], digits.y_train[task])
    >>> bool((offline.predict(digits.X_test) == digits.y_test).mean() > 0.8)
    True
    >>> offline.n_stored, offline.n_shown
    (1438, 4324)
    """

    optimiser: Literal["sgd", "adam"] = "adam"

    def _start(self) -> None:
        super()._start()
        check_choice("optimiser", self.optimiser, tuple(OPTIMISERS))
        self.samples: NDArray[np.float32] = np.empty((0, self.n_features), np.float32)
        self.labels: NDArray[np.intp] = np.empty(0, np.intp)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.samples = np.concatenate([self.samples, X], dtype=np.float32)
        self.labels = np.concatenate([self.labels, y])
        self.theta = self.draw_weights()
        gradient = self.theta.grad = torch.empty_like(self.theta)
        optimiser = OPTIMISERS[self.optimiser]([self.theta], self.learning_rate, fused=True)
        order = self.generator.permutation(self.n_stored)
        for inputs, targets in self.batches(self.samples[order], self.labels[order]):
            self.gradient(inputs, targets, out=gradient)
            optimiser.step()

    @property
    def n_stored(self) -> int:  # noqa: D102
        return len(self.labels)
