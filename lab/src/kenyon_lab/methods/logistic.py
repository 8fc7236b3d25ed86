"""Logistic regression on the fly's codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.methods.dense_code import DenseCoder
from kenyon_lab.methods.entry import DENSE_LAYER, SPARSE_LAYER, Look, MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.method import check_positive
from kenyon_lab.methods.torch_method import TorchMethod
from kenyon_lab.shared import MAX_LEVEL, check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class LogisticRegression(CodedMethod, TorchMethod):
    """A linear softmax classifier on codes from 0 to 1, trained by gradient descent.

    The loss is the cross-entropy over all classes of the problem. Plain stochastic gradient descent
    starts from zero and makes one pass.

    Parameters
    ----------
    code : {"sparse", "dense"}, default="sparse"
        "sparse": the fly's code, after winner-take-all. "dense": the sums of all cells, scaled per
        sample from 0 to 1.
    learning_rate : float, default=0.001
        Step size of the gradient descent.
    n_active : int, default=None
        Active cells of the sparse code. For a dense code it must be None.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    """

    code: Literal["sparse", "dense"] = "sparse"
    learning_rate: float = 0.001

    def _start(self) -> None:
        CodedMethod._start(self)
        TorchMethod._start(self)
        check_choice("code", self.code, ("sparse", "dense"))
        if self.code == "dense" and self.n_active is not None:
            raise ValueError(f"n_active must be None for a dense code, but is {self.n_active!r}")
        rate = check_positive("learning_rate", self.learning_rate)
        self.dense = DenseCoder(self.coder) if self.code == "dense" else None
        self.weights = torch.zeros(self.n_classes, self.n_units, requires_grad=True)
        self.bias = torch.zeros(self.n_classes, requires_grad=True)
        self.optimiser = torch.optim.SGD([self.weights, self.bias], lr=rate)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for inputs, targets in self.batches(X, y):
            self.optimiser.zero_grad()
            torch.nn.functional.cross_entropy(self.logits(inputs), targets).backward()
            self.optimiser.step()

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(self._codes(X), self.weights, self.bias)

    @property
    def n_parameters(self) -> int:
        return self.weights.numel() + self.bias.numel()

    def _codes(self, X: torch.Tensor) -> torch.Tensor:
        samples = X.numpy()
        coded = (
            self.coder.levels(samples).toarray() if not self.dense else self.dense.levels(samples)
        )
        return torch.from_numpy(coded).float() / MAX_LEVEL


ENTRIES = (
    MethodEntry(
        name="sparse-logistic",
        title="Sparse, logistic",
        cls=LogisticRegression,
        group="ablation",
        summary="gradient descent on sparse codes",
        variant={"code": "sparse"},
        # The best rates differ by orders of magnitude between datasets.
        grid={
            "learning_rate": (
                *(1e-5, 3e-5, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
            )
        },
        paper=SPARSE_LAYER,
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 3e-5},
            ("cifar100", "shuffled"): {"learning_rate": 0.0003},
            ("clinc150", "shuffled"): {"learning_rate": 0.003},
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.001},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.001},
        },
        look=Look("blue", "D"),
    ),
    MethodEntry(
        name="dense-logistic",
        title="Dense, logistic",
        cls=LogisticRegression,
        group="ablation",
        summary="gradient descent on dense codes",
        variant={"code": "dense"},
        grid={"learning_rate": (1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 0.0001, 0.001, 0.01, 0.1)},
        paper=DENSE_LAYER,
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 3e-6},
            ("mnist20-distorted", "shuffled"): {"learning_rate": 1e-5},
            ("mnist20-distorted", "classes"): {"learning_rate": 1e-5},
        },
        look=Look("black", "D", "--"),
    ),
)
