"""A network retrained on all samples: an upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon_lab.methods.entry import HIDDEN_LAYER, Look, MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.network import NetworkMethod
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Offline(NetworkMethod):
    """A new network for each task, trained in one shuffled pass over all samples so far.

    It stores every sample, and is an upper bound for the networks that learn task by task.

    Parameters
    ----------
    optimiser : {"sgd", "adam"}, default="adam"
        The paper names plain gradient descent. With its learning rate, one pass is too short to
        reach the bound that the paper reports.
    """

    optimiser: Literal["sgd", "adam"] = "adam"

    def _start(self) -> None:
        super()._start()
        check_choice("optimiser", self.optimiser, ("sgd", "adam"))
        self.samples: NDArray[np.float32] = np.empty((0, self.n_features), np.float32)
        self.labels: NDArray[np.intp] = np.empty(0, np.intp)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.samples = np.concatenate([self.samples, X], dtype=np.float32)
        self.labels = np.concatenate([self.labels, y])
        self.theta = self.draw_weights()
        gradient = self.theta.grad = torch.empty_like(self.theta)
        kind = torch.optim.SGD if self.optimiser == "sgd" else torch.optim.Adam
        optimiser = kind([self.theta], self.learning_rate, fused=True)
        order = self.generator.permutation(self.n_stored)
        for inputs, targets in self.batches(self.samples[order], self.labels[order]):
            self.gradient(inputs, targets, out=gradient)
            optimiser.step()

    @property
    def n_stored(self) -> int:
        return len(self.labels)


ENTRIES = (
    MethodEntry(
        name="offline",
        title="Offline",
        cls=Offline,
        group="paper",
        summary="a network retrained on all samples so far",
        grid={"optimiser": ("sgd", "adam"), "learning_rate": (0.0001, 0.001, 0.01, 0.1, 0.3)},
        paper=HIDDEN_LAYER,
        tuned={("mnist20-distorted", "shuffled"): {"optimiser": "adam", "learning_rate": 0.001}},
        look=Look("black", "s", "--"),
    ),
    MethodEntry(
        name="offline-sgd",
        title="Offline, SGD 0.001",
        cls=Offline,
        group="paper",
        summary="Offline with the optimiser that the paper names",
        variant={"optimiser": "sgd", "learning_rate": 0.001},
        paper=HIDDEN_LAYER,
        look=Look("grey", "s", ":"),
    ),
)
