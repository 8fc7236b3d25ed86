"""Elastic weight consolidation: a network that holds on to weights that past tasks needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from kenyon_lab.methods.memories import check_memory, memories
from kenyon_lab.methods.vanilla import Vanilla

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class EWC(Vanilla):
    """Gradient descent with a spring on each weight, as stiff as past tasks were sensitive to it.

    At a task's end F is the square, weight by weight, of the gradient of the mean cross-entropy
    over some of its samples. The loss of later tasks grows by
    ``memory_strength * sum(F * (theta - theta_then) ** 2)`` for each task before. All springs on a
    weight add up to one, so that cost and memory do not grow with the number of tasks; no sample is
    kept.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Step size of the gradient descent. Where a spring is stiffer than ``1 / learning_rate``, the
        steps overshoot, and beyond twice that they grow without bound: more of either number is
        not always more memory.
    memory_strength : float, default=1000.0
        Stiffness of the springs.
    n_memories : int, default=1000
        Samples of a task, drawn evenly over it, from which F is taken.
    own_outputs
        As of `Vanilla`.
    n_hidden, batch_size, seed, n_threads
        As of every `NetworkMethod`.

    References
    ----------
    Kirkpatrick et al. (2017). Overcoming catastrophic forgetting in neural networks.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.ewc import EWC
    >>> digits = load("digits")
    >>> ewc = EWC(n_hidden=100, learning_rate=0.01, batch_size=16)
    >>> ewc.begin(digits.n_features, digits.n_classes)
    >>> ewc.learn_task(digits.X_train, digits.y_train)
    >>> bool((ewc.predict(digits.X_test) == digits.y_test).mean() > 0.8)
    True
    """

    learning_rate: float = 0.1
    memory_strength: float = 1000.0
    n_memories: int = 1000

    def _start(self) -> None:
        super()._start()
        check_memory(self.n_memories, self.memory_strength)
        self.stiffness = torch.zeros_like(self.theta)
        self.pull = torch.zeros_like(self.theta)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.choose_outputs(y)
        for inputs, targets in self.batches(X, y):
            step = self.gradient(inputs, targets)
            step.addcmul_(self.stiffness, self.theta).sub_(self.pull)
            self.theta.sub_(step, alpha=self.learning_rate)
        self._consolidate(*memories(X, y, self.n_memories))

    def _consolidate(self, X: torch.Tensor, y: torch.Tensor) -> None:
        self.n_shown += len(X)
        stiffness = self.gradient(X, y).square_().mul_(2 * self.memory_strength)
        self.stiffness += stiffness
        self.pull += stiffness.mul_(self.theta)

    @property
    def n_parameters(self) -> int:  # noqa: D102
        return len(self.theta) + len(self.stiffness) + len(self.pull)
