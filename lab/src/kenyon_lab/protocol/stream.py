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
    """The tasks of a dataset in sequence, with the test samples of each.

    Classes are numbered in the order of the stream: a task has the classes from `starts[task]` up
    to, but not including, `starts[task + 1]`.

    Parameters
    ----------
    dataset : Dataset
    order : {"shuffled", "classes"}
        The samples of a task are shuffled, or sorted by class.
    seed : int
        Shuffles the samples of a task.
    permuted : bool
        Whether the seed permutes the classes.

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
        """Return the training samples of a task, in order."""
        X, y = self._samples(task, self.dataset.X_train, self.dataset.y_train)
        if self.order == "shuffled":
            order = np.random.default_rng([self.seed, task]).permutation(len(y))
        else:
            order = np.argsort(y, kind="stable")
        return X[order], y[order]

    def tested(self, task: int) -> Samples:
        """Return the test samples of a task."""
        return self._samples(task, self.dataset.X_test, self.dataset.y_test)

    def _samples(self, task: int, X: NDArray[Any], y: NDArray[np.intp]) -> Samples:
        places = self._places[y]
        here = (places >= self.starts[task]) & (places < self.starts[task + 1])
        return X[here], places[here]
