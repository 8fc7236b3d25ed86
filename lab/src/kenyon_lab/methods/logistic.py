"""Logistic regression on the fly's codes, by gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from scipy.sparse import csr_array
from torch.nn.functional import cross_entropy, linear

from kenyon_lab.methods.checks import check_above_zero
from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.methods.torch_method import TorchMethod
from kenyon_lab.shared import FULL, check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class LogisticRegression(CodedMethod, TorchMethod):
    """One linear layer on codes from 0 to 1, trained by backpropagation instead of the fly's rule.

    Softmax cross-entropy over all classes that there will ever be, plain stochastic gradient
    descent from zero, one pass.

    Parameters
    ----------
    code : {"sparse", "dense"}, default="sparse"
        "sparse": the fly's, after its winner-take-all. "dense": the sums of all cells, scaled to
        reach from 0 to 1 in a sample.
    learning_rate : float, default=0.001
        Step size of the gradient descent.
    n_active : int, default=None
        Active cells of the sparse code; the dense one has no such number.
    n_cells, fan_in, batch_size, seed, n_threads
        As of every `CodedMethod` and every `TorchMethod`.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.logistic import LogisticRegression
    >>> digits = load("digits")
    >>> logistic = LogisticRegression(n_cells=400, learning_rate=0.1)
    >>> logistic.begin(digits.n_features, digits.n_classes)
    >>> logistic.learn_task(digits.X_train, digits.y_train)
    >>> bool((logistic.predict(digits.X_test) == digits.y_test).mean() > 0.7)
    True
    """

    code: Literal["sparse", "dense"] = "sparse"
    learning_rate: float = 0.001

    def _start(self) -> None:
        CodedMethod._start(self)
        TorchMethod._start(self)
        check_choice("code", self.code, ("sparse", "dense"))
        if self.code == "dense" and self.n_active is not None:
            raise ValueError(f"n_active must be None for a dense code, but is {self.n_active!r}")
        rate = check_above_zero("learning_rate", self.learning_rate)
        self.weights = torch.zeros(self.n_classes, self.coder.n_cells, requires_grad=True)
        self.bias = torch.zeros(self.n_classes, requires_grad=True)
        self.optimiser = torch.optim.SGD([self.weights, self.bias], lr=rate)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for inputs, targets in self.batches(X, y):
            self.optimiser.zero_grad()
            cross_entropy(self.logits(inputs), targets).backward()
            self.optimiser.step()

    def logits(self, X: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return linear(self._codes(X), self.weights, self.bias)

    @property
    def n_parameters(self) -> int:  # noqa: D102
        return self.weights.numel() + self.bias.numel()

    def _codes(self, X: torch.Tensor) -> torch.Tensor:
        if self.code == "dense":
            levels = self.coder.native.encode_dense(X.numpy(), self.n_threads)
        else:
            starts, cells, winners = self.coder.native.encode(X.numpy(), self.n_threads).to_csr()
            shape = (len(X), self.coder.n_cells)
            levels = csr_array((winners, cells, starts), shape=shape).toarray()
        return torch.from_numpy(levels).float() / FULL
