"""Gradient episodic memory: a network that steps where the loss on kept samples does not grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from kenyon_lab.methods.gem_projection import shares
from kenyon_lab.methods.memories import check_memory, memories
from kenyon_lab.methods.network import NetworkMethod
from kenyon_lab.methods.torch_method import tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SUMMED_AT_ONCE = 2**15
"""Terms of an inner product that single precision adds up well enough."""


@dataclass(kw_only=True, eq=False)
class GEM(NetworkMethod):
    """Gradient descent that keeps samples of past tasks, and never steps against their gradients.

    At every step the gradient of each past task is taken on the samples kept of it. If the step
    along the batch's gradient g would let one of these losses grow, the step is along ``g + M'v``
    instead, with the past gradients as the rows of M, and v from a quadratic program (see
    `kenyon_lab.methods.gem_projection`).

    Each step costs a pass over all that is kept; while a task is learned, one gradient for each
    past task is held in memory.

    Parameters
    ----------
    learning_rate : float, default=0.001
        Step size of the gradient descent.
    memory_strength : float, default=0.5
        The least share of each past gradient in a corrected step.
    n_memories : int, default=256
        Samples kept of each task, drawn evenly over it.
    n_hidden, batch_size, seed, n_threads
        As of every `NetworkMethod`.

    References
    ----------
    Lopez-Paz, Ranzato (2017). Gradient episodic memory for continual learning.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.gem import GEM
    >>> digits = load("digits")
    >>> gem = GEM(n_hidden=100, learning_rate=0.01, batch_size=16, n_memories=50)
    >>> gem.begin(digits.n_features, digits.n_classes)
    >>> for classes in digits.tasks():
    ...     task = [label in classes for label in digits.y_train]
    ...     gem.learn_task(digits.X_train[task], digits.y_train[task])
    >>> bool((gem.predict(digits.X_test) == digits.y_test).mean() > 0.8)
    True
    >>> gem.n_stored
    250
    """

    memory_strength: float = 0.5
    n_memories: int = 256

    def _start(self) -> None:
        super()._start()
        check_memory(self.n_memories, self.memory_strength)
        self.memories: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        gradients = torch.empty(len(self.memories) + 1, len(self.theta))
        for batch in self.batches(X, y):
            for samples, gradient in zip((*self.memories, batch), gradients, strict=True):
                self.gradient(*samples, out=gradient)
            step = tensor(shares(_products(gradients), self.memory_strength))
            self.theta.addmv_(gradients.T, step, alpha=-self.learning_rate)
            self.n_shown += self.n_stored
        self.memories.append(memories(X, y, self.n_memories))

    @property
    def n_stored(self) -> int:  # noqa: D102
        return sum(len(y) for _, y in self.memories)


def _products(gradients: torch.Tensor) -> NDArray[np.float64]:
    """Return the inner products of all rows, in one call for all pieces that are summed at once."""
    n_rows, n_weights = gradients.shape
    n_pieces = n_weights // SUMMED_AT_ONCE
    whole, rest = gradients.tensor_split([n_pieces * SUMMED_AT_ONCE], dim=1)
    pieces = whole.view(n_rows, n_pieces, SUMMED_AT_ONCE).transpose(0, 1)
    sums = torch.bmm(pieces, pieces.mT).sum(0, dtype=torch.float64)
    return (sums + rest @ rest.T).numpy()
