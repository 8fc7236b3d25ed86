"""The two-layer network of several methods, and the exemplars that EWC and GEM select."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon_lab.methods.layer import FLY_LAYER
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.method import check_positive
from kenyon_lab.methods.torch_method import TorchMethod, tensor
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Layers(NamedTuple):
    """The weights of a network, or their gradient, as views of one flat vector.

    `W1` has the shape (n_features, n_hidden) and `W2` the shape (n_classes, n_hidden): the matrix
    products are fastest with the hidden units last in both.
    """

    W1: torch.Tensor
    b1: torch.Tensor
    W2: torch.Tensor
    b2: torch.Tensor


class Bounds(NamedTuple):
    """The largest initial weight of each part of a network."""

    W1: float
    b1: float
    W2: float
    b2: float


def pytorch_bounds(n_features: int, n_hidden: int, n_classes: int) -> Bounds:
    """Return the bounds of PyTorch's default: one over the root of a layer's inputs."""
    first, second = 1 / math.sqrt(n_features), 1 / math.sqrt(n_hidden)
    return Bounds(first, first, second, second)


def xavier_bounds(n_features: int, n_hidden: int, n_classes: int) -> Bounds:
    """Return the bounds of Glorot and Bengio (2010), with biases of zero."""
    first, second = n_features + n_hidden, n_hidden + n_classes
    return Bounds(math.sqrt(6 / first), 0.0, math.sqrt(6 / second), 0.0)


@dataclass(kw_only=True, eq=False)
class NetworkMethod(TorchMethod):
    """A method on one hidden layer of ReLU units and a softmax over all classes of the problem.

    All weights are one vector, so that methods can be written like their formulas.

    Parameters
    ----------
    n_hidden : int, default=None
        Hidden units. None: as many as the fly has cells.
    learning_rate : float, default=0.001
        Step size of the gradient descent.

    Attributes
    ----------
    theta : tensor
        The weights.
    """

    n_hidden: int | None = None
    learning_rate: float = 0.001
    # Subclasses override these two. They are no parameters here, because stored records are found
    # by all parameters of their method: a new one would orphan them.
    initial_bounds = staticmethod(pytorch_bounds)
    masked_outputs: bool = field(default=False, init=False, repr=False)
    theta: torch.Tensor = field(init=False, repr=False)
    mask: torch.Tensor = field(init=False, repr=False)
    """Added to the outputs while learning: minus infinity for masked outputs, otherwise 0."""

    def _start(self) -> None:
        super()._start()
        check_positive("learning_rate", self.learning_rate)
        n_hidden = self.n_hidden
        if n_hidden is None:
            n_hidden = FLY_LAYER.n_cells(self.n_features)
        self._n_units = check_integer("n_hidden", n_hidden, MAX_CELLS)
        self.theta = self.draw_weights()
        self.mask = torch.zeros(self.n_classes)

    def learn_task(self, X: Any, y: Any) -> None:
        super().learn_task(X, y)
        if not self.theta.isfinite().all():
            warnings.warn(
                f"{type(self).__name__} diverged: its weights are no longer finite, because the "
                f"learning_rate {self.learning_rate} is too large",
                RuntimeWarning,
                stacklevel=2,
            )

    def draw_weights(self) -> torch.Tensor:
        """Draw the weights of a new network from uniform distributions."""
        d, m, k = self.n_features, self._n_units, self.n_classes
        theta = torch.empty(d * m + m + k * m + k)
        for weights, bound in zip(self.layers(theta), self.initial_bounds(d, m, k), strict=True):
            weights.copy_(tensor(self.generator.uniform(-bound, bound, weights.shape)))
        return theta

    def layers(self, flat: torch.Tensor) -> Layers:
        """Return views of a vector of the size of `theta`."""
        d, m, k = self.n_features, self._n_units, self.n_classes
        W1, b1, W2, b2 = flat.split((d * m, m, k * m, k))
        return Layers(W1.view(d, m), b1, W2.view(k, m), b2)

    def mask_of(self, y: NDArray[np.intp]) -> torch.Tensor:
        """Return the mask to the classes of a task, or zeros without `masked_outputs`."""
        if not self.masked_outputs:
            return torch.zeros(self.n_classes)
        mask = torch.full((self.n_classes,), -torch.inf)
        mask[torch.from_numpy(y)] = 0
        return mask

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        W1, b1, W2, b2 = self.layers(self.theta)
        return torch.addmm(b2, torch.addmm(b1, X, W1).relu_(), W2.T)

    def gradient(
        self, X: torch.Tensor, y: torch.Tensor, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the gradient of the mean cross-entropy over samples with respect to `theta`.

        It is written out because autograd would concatenate it from its layers.
        """
        flat = torch.empty_like(self.theta) if out is None else out
        W1, b1, W2, b2 = self.layers(self.theta)
        gradient = self.layers(flat)
        hidden = torch.addmm(b1, X, W1).relu_()
        error = torch.addmm(b2 + self.mask, hidden, W2.T).softmax(1)
        error[torch.arange(len(y)), y] -= 1
        error /= len(y)
        torch.mm(error.T, hidden, out=gradient.W2)
        torch.sum(error, 0, out=gradient.b2)
        # The sign of a ReLU's output is its derivative, and much faster than a comparison.
        error = torch.mm(error, W2).mul_(hidden.sign_())
        torch.mm(X.T, error, out=gradient.W1)
        torch.sum(error, 0, out=gradient.b1)
        return flat

    @property
    def n_parameters(self) -> int:
        return self.theta.numel()


def check_memory(n_exemplars: object, strength: object) -> None:
    """Refuse a number of exemplars below 1 and a memory strength below 0."""
    check_integer("n_exemplars", n_exemplars, MAX_CELLS)
    if not isinstance(strength, Real) or not 0 <= float(strength) < math.inf:
        raise ValueError(f"memory_strength must be a number of at least 0, but is {strength!r}")


def select_exemplars(
    X: NDArray[np.floating], y: NDArray[np.intp], count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy `count` samples, or all if there are fewer, at even distances over a task.

    In random order they are a random sample. In class order the first or the last samples would all
    be of one class.
    """
    chosen = np.linspace(0, len(X) - 1, min(len(X), count)).round().astype(np.intp)
    return tensor(X[chosen]), torch.from_numpy(y[chosen])
