"""Gradient episodic memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.entry import MethodEntry
from kenyon_lab.methods.exemplars import check_memory, select_exemplars
from kenyon_lab.methods.gem_projection import project
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.network import NetworkMethod
from kenyon_lab.methods.paper_sizes import HIDDEN_LAYER
from kenyon_lab.methods.torch_method import tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECE = 2**15
"""Terms of an inner product that single precision sums accurately enough."""


@dataclass(kw_only=True, eq=False)
class GEM(NetworkMethod):
    """Gradient descent that stores exemplars, and never steps against their gradients.

    Every step computes the gradient of each past task on its exemplars. If a step along the batch's
    gradient g would increase one of these losses, the step is along ``g + M'v`` instead, with the
    past gradients as the rows of M, and v from a quadratic program (see
    `kenyon_lab.methods.gem_projection`).

    Each step costs a pass over all exemplars. While a task is learned, one gradient per past task
    is held in memory.

    Parameters
    ----------
    learning_rate : float, default=0.001
        Step size of the gradient descent.
    memory_strength : float, default=0.5
        Smallest coefficient of each past gradient in a corrected step.
    n_exemplars : int, default=256
        Exemplars of each task, at even distances over it.
    n_hidden, batch_size, seed, n_threads
        As in every `NetworkMethod`.

    References
    ----------
    Lopez-Paz, Ranzato (2017). Gradient episodic memory for continual learning.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.gem import GEM
    >>> digits = load("digits")
    >>> gem = GEM(n_hidden=100, learning_rate=0.01, batch_size=16, n_exemplars=50)
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
    n_exemplars: int = 256

    def _start(self) -> None:
        super()._start()
        check_memory(self.n_exemplars, self.memory_strength)
        self.exemplars: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        gradients = torch.empty(len(self.exemplars) + 1, len(self.theta))
        for batch in self.batches(X, y):
            for samples, gradient in zip((*self.exemplars, batch), gradients, strict=True):
                self.gradient(*samples, out=gradient)
            step = tensor(project(_products(gradients), self.memory_strength))
            self.theta.addmv_(gradients.T, step, alpha=-self.learning_rate)
            self.n_shown += self.n_stored
        self.exemplars.append(select_exemplars(X, y, self.n_exemplars))

    @property
    def n_stored(self) -> int:
        return sum(len(y) for _, y in self.exemplars)


def _products(gradients: torch.Tensor) -> NDArray[np.float64]:
    """Return the inner products of all rows, as a sum over pieces of the rows."""
    n_rows, n_weights = gradients.shape
    n_pieces = n_weights // PIECE
    whole, rest = gradients.tensor_split([n_pieces * PIECE], dim=1)
    pieces = whole.view(n_rows, n_pieces, PIECE).transpose(0, 1)
    sums = torch.bmm(pieces, pieces.mT).sum(0, dtype=torch.float64)
    return (sums + rest @ rest.T).numpy()


ENTRIES = (
    MethodEntry(
        name="gem",
        title="GEM",
        cls=GEM,
        group="paper",
        summary="stores exemplars, and steps so that their loss does not grow",
        grid={"learning_rate": (0.001, 0.01, 0.03, 0.1, 0.3), "memory_strength": (0.5, 1.0)},
        paper={
            dataset: {**sizes, "learning_rate": 0.001, "memory_strength": 0.5, "n_exemplars": 256}
            for dataset, sizes in HIDDEN_LAYER.items()
        },
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 0.1, "memory_strength": 1.0},
            ("mnist20", "classes"): {"learning_rate": 0.1, "memory_strength": 0.5},
            ("clinc150", "shuffled"): {"learning_rate": 0.3, "memory_strength": 1.0},
        },
        colour="green",
        marker="D",
    ),
)
