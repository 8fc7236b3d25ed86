"""A dataset as a sequence of tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods import ORDERS
from kenyon_lab.shared import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset
    from kenyon_lab.methods import Order

    Samples = tuple[NDArray[Any], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Stream:
    """The tasks of a dataset, one after another, and what each is tested on.

    Classes are numbered in the order in which they come: a task's classes are those from
    `starts[task]` to below `starts[task + 1]`.

    Parameters
    ----------
    dataset : Dataset
    order : {"shuffled", "classes"}
        How the samples of a task come: shuffled, or all of one class, then all of the next.
    seed : int
        Draws the order of the samples of a task.
    permuted : bool
        Whether the classes come in an order drawn by the seed, and not in their own.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.protocol.stream import Stream
    >>> stream = Stream(load("digits"))
    >>> X, y = stream.taught(1)
    >>> print(len(stream), X.shape, set(y.tolist()))
    5 (288, 64) {2, 3}
    """

    dataset: Dataset
    order: Order = "shuffled"
    seed: int = 0
    permuted: bool = False
    starts: NDArray[np.intp] = field(init=False, repr=False)
    _places: NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)
        sizes = [len(classes) for classes in self.dataset.tasks()]
        places = np.arange(self.dataset.n_classes)
        if self.permuted:
            places = np.random.default_rng(self.seed).permutation(places)
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(sizes)]))
        object.__setattr__(self, "_places", places)

    def __len__(self) -> int:
        return self.dataset.n_tasks

    def taught(self, task: int) -> Samples:
        """Return the samples to learn in a task, in the order in which they come."""
        X, y = self._samples(task, self.dataset.X_train, self.dataset.y_train)
        if self.order == "shuffled":
            order = np.random.default_rng([self.seed, task]).permutation(len(y))
        else:
            order = np.argsort(y, kind="stable")
        return X[order], y[order]

    def tested(self, task: int) -> Samples:
        """Return the samples that a task is tested on."""
        return self._samples(task, self.dataset.X_test, self.dataset.y_test)

    def _samples(self, task: int, X: NDArray[Any], y: NDArray[np.intp]) -> Samples:
        places = self._places[y]
        here = (places >= self.starts[task]) & (places < self.starts[task + 1])
        return X[here], places[here]
