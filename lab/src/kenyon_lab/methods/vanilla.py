"""A network without any protection against forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon_lab.methods.entry import HIDDEN_LAYER, Look, MethodEntry
from kenyon_lab.methods.network import NetworkMethod

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
    """

    masked_outputs: bool = False

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.mask = self.mask_of(y)
        for inputs, targets in self.batches(X, y):
            self.theta.sub_(self.gradient(inputs, targets), alpha=self.learning_rate)


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
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.1},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.1},
            ("clinc150", "shuffled"): {"learning_rate": 0.1},
        },
        look=Look("purple", "X"),
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
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.3},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.01},
        },
        look=Look("purple", "p", ":"),
    ),
)
