"""A network without any protection against forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.entry import MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.network import NetworkMethod
from kenyon_lab.methods.paper_sizes import HIDDEN_LAYER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Vanilla(NetworkMethod):
    """Plain stochastic gradient descent on one task after another.

    Parameters
    ----------
    masked_outputs : bool, default=False
        Whether the softmax is masked to the classes of the task while it is learned. The outputs of
        other classes are then not trained towards zero, which causes most of the forgetting.
    n_hidden, learning_rate, batch_size, seed, n_threads
        As in every `NetworkMethod`.

    Examples
    --------
    Only the last task is remembered.

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

    masked_outputs: bool = False

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.mask_outputs(y)
        for inputs, targets in self.batches(X, y):
            self.theta.sub_(self.gradient(inputs, targets), alpha=self.learning_rate)

    def mask_outputs(self, y: NDArray[np.intp]) -> None:
        """Mask the outputs to the classes of a task, if `masked_outputs`."""
        if self.masked_outputs:
            self.mask.fill_(-torch.inf)
            self.mask[torch.from_numpy(y)] = 0


_PAPER = {dataset: {**sizes, "learning_rate": 0.001} for dataset, sizes in HIDDEN_LAYER.items()}
_RATES = (0.0001, 0.001, 0.01, 0.1, 0.3)

ENTRIES = (
    MethodEntry(
        name="vanilla",
        title="Vanilla",
        cls=Vanilla,
        group="paper",
        summary="a network without any protection against forgetting",
        grid={"learning_rate": _RATES},
        paper=_PAPER,
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 0.1},
            ("mnist20", "classes"): {"learning_rate": 0.1},
            ("clinc150", "shuffled"): {"learning_rate": 0.1},
        },
        colour="purple",
        marker="X",
    ),
    MethodEntry(
        name="vanilla-masked",
        title="Vanilla, masked outputs",
        cls=Vanilla,
        group="variant",
        summary="Vanilla with the softmax masked to the task's classes",
        variant={"masked_outputs": True},
        grid={"learning_rate": _RATES},
        paper=_PAPER,
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 0.3},
            ("mnist20", "classes"): {"learning_rate": 0.01},
        },
        colour="purple",
        marker="p",
        line=":",
    ),
)
