"""What every method can do, so that the protocol need not know which one it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from kenyon_lab.shared import MAX_CELLS, check_whole, count_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Method(ABC):
    """A classifier that is taught one task after another.

    What can be chosen are the fields of the method, each with a default. `begin` makes it new,
    `learn_task` teaches it the samples of one task in the order given, `predict` may be called
    between tasks and changes nothing. It never learns of a class before the class is taught, but
    for how many there will be.

    A method is written as `_start`, `_learn` and `_predict`, which are given checked input.

    Parameters
    ----------
    seed : int, default=0
        Whatever is drawn at random follows from it.
    n_threads : int, default=1
        Threads to compute on.

    Attributes
    ----------
    n_features, n_classes : int
        As `begin` was told.
    n_shown : int
        How often a sample, new, stored or made up, was learned from or looked at to learn.
    """

    seed: int = 0
    n_threads: int = 1
    n_features: int = field(default=0, init=False, repr=False)
    n_classes: int = field(default=0, init=False, repr=False)
    n_shown: int = field(default=0, init=False, repr=False)

    def begin(self, n_features: int, n_classes: int) -> None:
        """Forget everything and expect samples of this width and so many classes."""
        self.n_features = check_whole("n_features", n_features, MAX_CELLS)
        self.n_classes = check_whole("n_classes", n_classes, MAX_CELLS)
        self.n_shown = 0
        with self.running():
            self._start()

    def learn_task(self, X: Any, y: Any) -> None:
        """Learn the samples of a task, whose classes are whole numbers below `n_classes`."""
        X, y = self._check_samples(X), np.asarray(y)
        if y.shape != (len(X),) or y.dtype.kind not in "iu":
            raise ValueError(
                f"y must be one whole number for each of {len(X)} samples, but is {y.dtype} of the "
                f"shape {y.shape}"
            )
        if y.min() < 0 or y.max() >= self.n_classes:
            raise ValueError(
                f"y must hold classes from 0 to {self.n_classes - 1}, but has some from {y.min()} "
                f"to {y.max()}"
            )
        with self.running():
            self._learn(X, y.astype(np.intp))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each sample."""
        X = self._check_samples(X)
        if not self.n_shown:
            raise ValueError("predict needs a method that was taught: call learn_task first")
        with self.running():
            return self._predict(X)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Numbers that learning changes and that must be kept to go on, samples apart."""

    @property
    def n_stored(self) -> int:
        """Samples that are kept."""
        return 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Compute on as many threads as were asked for."""
        with threadpool_limits(count_threads(self.n_threads)):
            yield

    @abstractmethod
    def _start(self) -> None:
        """Become new, for `n_features` and `n_classes`."""

    @abstractmethod
    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        """Learn a task, and count in `n_shown` what it took."""

    @abstractmethod
    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the class of each row."""

    def _check_samples(self, X: Any) -> NDArray[Any]:
        if not self.n_features:
            raise ValueError("a method must know what to expect: call begin first")
        X = check_array(X, dtype=(np.float32, np.float64), order="C", input_name="X")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but {self.n_features} were expected")
        return X  # type: ignore[no-any-return]
