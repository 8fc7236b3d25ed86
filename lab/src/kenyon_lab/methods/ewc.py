"""Elastic weight consolidation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.entry import HIDDEN_LAYER, Look, MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.network import check_memory, select_exemplars
from kenyon_lab.methods.vanilla import Vanilla

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class EWC(Vanilla):
    """Gradient descent with a quadratic penalty on changes of weights that past tasks depend on.

    At the end of a task, F is the squared gradient of the mean cross-entropy over some of its
    samples, an estimate of the diagonal of the Fisher information. Each past task adds the penalty
    ``memory_strength * sum(F * (theta - theta_then) ** 2)`` to the loss. All penalties add up to
    one quadratic function, so that cost and memory do not grow with the number of tasks. No sample
    is stored.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Step size of the gradient descent. Where the curvature of the penalty exceeds
        ``1 / learning_rate``, steps overshoot; beyond twice that value they diverge.
    memory_strength : float, default=1000.0
        Weight of the penalty.
    n_exemplars : int, default=1000
        Samples of a task, at even distances, from which F is computed.
    masked_outputs
        As in `Vanilla`.

    References
    ----------
    Kirkpatrick et al. (2017). Overcoming catastrophic forgetting in neural networks.
    """

    learning_rate: float = 0.1
    memory_strength: float = 1000.0
    n_exemplars: int = 1000

    def _start(self) -> None:
        super()._start()
        check_memory(self.n_exemplars, self.memory_strength)
        self.curvature = torch.zeros_like(self.theta)
        self.pull = torch.zeros_like(self.theta)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.mask = self.mask_of(y)
        for inputs, targets in self.batches(X, y):
            step = self.gradient(inputs, targets)
            step.addcmul_(self.curvature, self.theta).sub_(self.pull)
            self.theta.sub_(step, alpha=self.learning_rate)
        self._consolidate(*select_exemplars(X, y, self.n_exemplars))

    def _consolidate(self, X: torch.Tensor, y: torch.Tensor) -> None:
        self.n_shown += len(X)
        curvature = self.gradient(X, y).square_().mul_(2 * self.memory_strength)
        self.curvature += curvature
        self.pull += curvature.mul_(self.theta)

    @property
    def n_parameters(self) -> int:
        return len(self.theta) + len(self.curvature) + len(self.pull)


_MEMORY = {"memory_strength": 1000.0, "n_exemplars": 1000}
_PAPER = {
    "mnist20": {**HIDDEN_LAYER["mnist20"], **_MEMORY, "learning_rate": 0.1},
    "cifar100": {**HIDDEN_LAYER["cifar100"], **_MEMORY, "learning_rate": 0.001},
}

ENTRIES = (
    MethodEntry(
        name="ewc",
        title="EWC",
        cls=EWC,
        group="paper",
        summary="penalises changes of weights that earlier tasks depend on",
        grid={
            "learning_rate": (0.001, 0.01, 0.1, 0.3),
            "memory_strength": (100.0, 1000.0, 1e4, 1e5, 1e6),
        },
        paper=_PAPER,
        tuned={
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.1, "memory_strength": 1000.0},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.01, "memory_strength": 100.0},
            ("clinc150", "shuffled"): {"learning_rate": 0.1, "memory_strength": 1000.0},
        },
        look=Look("orange", "v", "--"),
    ),
    MethodEntry(
        name="ewc-masked",
        title="EWC, masked outputs",
        cls=EWC,
        group="variant",
        summary="EWC with the softmax masked to the task's classes",
        variant={"masked_outputs": True},
        grid={"learning_rate": (0.01, 0.1, 0.3), "memory_strength": (10.0, 100.0, 1000.0, 1e4)},
        paper=_PAPER,
        tuned={
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.3, "memory_strength": 1000.0},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.01, "memory_strength": 10.0},
        },
        look=Look("orange", "<", ":"),
    ),
)
