"""The interface of all methods, and checks of parameters that several share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from kenyon_lab.shared import MAX_CELLS, check_integer, count_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Method(ABC):
    """A classifier that learns one task after another.

    The parameters of a method are its fields, each with a default. `begin` resets the method,
    `learn_task` learns the samples of one task in the order given, and `predict` may be called
    between tasks and changes nothing. Before a class is learned, a method knows only the total
    number of classes.

    A subclass implements `_start`, `_learn` and `_predict`, whose input is already checked. Its
    docstring describes the parameters that it adds to those of its base class.

    Parameters
    ----------
    seed : int, default=0
        The seed of all random numbers.
    n_threads : int, default=1
        Number of threads.

    Attributes
    ----------
    n_features, n_classes : int
        The arguments of `begin`.
    n_shown : int
        Samples processed while learning, new, stored or generated; a sample counts every time.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.fly import Fly
    >>> digits = load("digits")
    >>> fly = Fly()
    >>> fly.begin(digits.n_features, digits.n_classes)
    >>> for classes in digits.tasks():
    ...     task = [label in classes for label in digits.y_train]
    ...     fly.learn_task(digits.X_train[task], digits.y_train[task])
    >>> bool((fly.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    seed: int = 0
    n_threads: int = 1
    n_features: int = field(default=0, init=False, repr=False)
    n_classes: int = field(default=0, init=False, repr=False)
    n_shown: int = field(default=0, init=False, repr=False)

    def begin(self, n_features: int, n_classes: int) -> None:
        """Reset the method to samples of `n_features` numbers and `n_classes` classes."""
        self.n_features = check_integer("n_features", n_features, MAX_CELLS)
        self.n_classes = check_integer("n_classes", n_classes, MAX_CELLS)
        self.n_shown = 0
        with self.limit_threads():
            self._start()

    def learn_task(self, X: Any, y: Any) -> None:
        """Learn the samples of a task, whose labels are integers below `n_classes`."""
        X, y = self._check_samples(X), np.asarray(y)
        if y.shape != (len(X),) or y.dtype.kind not in "iu":
            raise ValueError(
                f"y must hold one integer for each of {len(X)} samples, but has the shape "
                f"{y.shape} and the dtype {y.dtype}"
            )
        if y.min() < 0 or y.max() >= self.n_classes:
            raise ValueError(
                f"y must hold classes from 0 to {self.n_classes - 1}, but ranges from {y.min()} to "
                f"{y.max()}"
            )
        with self.limit_threads():
            self._learn(X, y.astype(np.intp))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each sample."""
        X = self._check_samples(X)
        if not self.n_shown:
            raise ValueError(
                "predict needs a method that has learned a task: call learn_task first"
            )
        with self.limit_threads():
            return self._predict(X)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Numbers that learning changes and later tasks need, without stored samples."""

    @property
    def n_stored(self) -> int:
        """Samples that the method stores."""
        return 0

    @contextmanager
    def limit_threads(self) -> Iterator[None]:
        """Compute on `n_threads` threads."""
        with threadpool_limits(count_threads(self.n_threads)):
            yield

    @abstractmethod
    def _start(self) -> None:
        """Reset the method to `n_features` and `n_classes`."""

    @abstractmethod
    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        """Learn a task, and add the processed samples to `n_shown`."""

    @abstractmethod
    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the class of each row."""

    def _check_samples(self, X: Any) -> NDArray[Any]:
        if not self.n_features:
            raise ValueError(
                "the number of features and classes is not known yet: call begin first"
            )
        X = check_array(X, dtype=(np.float32, np.float64), order="C", input_name="X")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but {self.n_features} were expected")
        return X  # type: ignore[no-any-return]


def blocks(n: int, size: int) -> list[slice]:
    """Cut n rows into blocks of a size, the last one smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def check_positive(name: str, value: object) -> float:
    """Return a finite number above 0 as a float, and refuse anything else."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a number above 0, but is {value!r}")
    return float(value)


def check_share(name: str, value: object) -> float:
    """Return a number above 0 and at most 1 as a float, and refuse anything else."""
    share = check_positive(name, value)
    if share > 1:
        raise ValueError(f"{name} must be at most 1, but is {value}")
    return share
