"""Gradient episodic memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

from kenyon_lab.methods.entry import HIDDEN_LAYER, Look, MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.network import NetworkMethod, check_memory, select_exemplars
from kenyon_lab.methods.torch_method import tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 1e-3
"""Keeps the solution unique when gradients of past tasks are nearly parallel."""

PIECE = 2**15
"""Terms of an inner product that single precision sums accurately enough."""


@dataclass(kw_only=True, eq=False)
class GEM(NetworkMethod):
    """Gradient descent that stores exemplars, and never steps against their gradients.

    Every step computes the gradient of each past task on its exemplars. If a step along the batch's
    gradient g would increase one of these losses, the step is along ``g + M'v`` instead, with the
    past gradients as the rows of M, and v from a quadratic program with one unknown per past task
    (see `project`).

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

    References
    ----------
    Lopez-Paz, Ranzato (2017). Gradient episodic memory for continual learning.
    """

    memory_strength: float = 0.5
    n_exemplars: int = 256

    def _start(self) -> None:
        super()._start()
        check_memory(self.n_exemplars, self.memory_strength)
        self.exemplars: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.masks: list[torch.Tensor] = []

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.masks.append(self.mask_of(y))
        gradients = torch.empty(len(self.exemplars) + 1, len(self.theta))
        for batch in self.batches(X, y):
            tasks = zip((*self.exemplars, batch), self.masks, gradients, strict=True)
            for samples, mask, gradient in tasks:
                self.mask = mask
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


def project(products: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """Return the coefficients of all gradients in a step that no past task's gradient opposes.

    If g has no negative product with the past gradients, the rows of M, their coefficients are 0.
    Otherwise they are the v that minimises ``1/2 v' (M M' + ridge I) v + (M g)' v`` subject to
    ``v >= strength``, as in GEM's published code.

    Parameters
    ----------
    products : array of shape (n_past + 1, n_past + 1)
        Inner products of the past gradients and, as the last one, g.
    strength : float
        Smallest coefficient of each past gradient in a corrected step.

    Returns
    -------
    array of shape (n_past + 1,)
        v, and 1 for g.
    """
    against = products[:-1, -1]
    step = np.zeros(len(products))
    step[-1] = 1
    if np.isfinite(products).all() and (against < 0).any():
        step[:-1] = _least(products[:-1, :-1], against, strength)
    return step


def _least(
    products: NDArray[np.float64], against: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """Solve the program as a non-negative least-squares problem.

    With ``u = v - strength`` and ``M M' + ridge I = R' R``, it is ``min |R u + R'^-1 c|, u >= 0``.
    """
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    # Rounding can make eigenvalues of M M' negative.
    roots = np.sqrt(np.maximum(values, 0) + RIDGE)
    R = roots[:, None] * vectors.T
    c = against + strength * (R.T @ R.sum(1))
    u, _ = nnls(R, -(vectors.T @ c) / roots, maxiter=100 * len(c))
    return u + strength


_PAPER = {
    dataset: {**sizes, "learning_rate": 0.001, "memory_strength": 0.5, "n_exemplars": 256}
    for dataset, sizes in HIDDEN_LAYER.items()
}

ENTRIES = (
    MethodEntry(
        name="gem",
        title="GEM",
        cls=GEM,
        group="paper",
        summary="stores exemplars, and steps so that their loss does not grow",
        grid={"learning_rate": (0.001, 0.01, 0.03, 0.1, 0.3), "memory_strength": (0.5, 1.0)},
        paper=_PAPER,
        tuned={
            ("mnist20-distorted", "shuffled"): {"learning_rate": 0.1, "memory_strength": 1.0},
            ("mnist20-distorted", "classes"): {"learning_rate": 0.1, "memory_strength": 0.5},
            ("clinc150", "shuffled"): {"learning_rate": 0.3, "memory_strength": 1.0},
        },
        look=Look("green", "D"),
    ),
    MethodEntry(
        name="gem-shared-memory",
        title="GEM, 256 exemplars in all",
        cls=GEM,
        group="reference",
        summary="GEM with 256 exemplars over all tasks, not in each",
        paper={
            dataset: {**_PAPER[dataset], "n_exemplars": 256 // n_tasks}
            for dataset, n_tasks in (("mnist20", 10), ("cifar100", 25))
        },
        look=Look("green", "p", "--"),
    ),
)
