"""A dataset: training and test samples, their classes, and the tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.shared import check_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test samples with their classes.

    Parameters
    ----------
    name : str
        The name in the registry, or the path of the file.
    X_train, X_test : array of shape (n_samples, n_features)
        Features, finite numbers.
    y_train, y_test : array of shape (n_samples,)
        Classes, as indices into `class_names`.
    class_names : tuple of str
        One name for each class. Every class has training samples.
    n_tasks : int
        Number of tasks that the classes are split into, in their order.
    X_out_of_scope : array of shape (n_samples, n_features), optional
        Test samples that belong to no class.
    image_shape : tuple of int, optional
        Height and width, if a row of features is an image.

    Examples
    --------
    >>> import kenyon_lab.data
    >>> kenyon_lab.data.load("digits")
    Dataset('digits': 1438 + 359 samples, 64 features, 10 classes in 5 tasks)
    """

    name: str
    X_train: NDArray[Any]
    y_train: NDArray[np.intp]
    X_test: NDArray[Any]
    y_test: NDArray[np.intp]
    class_names: tuple[str, ...]
    n_tasks: int
    X_out_of_scope: NDArray[Any] | None = None
    image_shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for part, X in self.samples().items():
            self._check_samples(f"X_{part}", X)
        for part, X, y in (
            ("train", self.X_train, self.y_train),
            ("test", self.X_test, self.y_test),
        ):
            self._check_classes(f"y_{part}", y, len(X))
        empty = np.setdiff1d(np.arange(self.n_classes), self.y_train)
        if len(empty):
            name = self.class_names[empty[0]]
            raise ValueError(f"{self.name}: the class {name!r} has no training samples")
        if self.image_shape and math.prod(self.image_shape) != self.n_features:
            raise ValueError(
                f"{self.name}: image_shape is {self.image_shape}; expected a shape of "
                f"{self.n_features} pixels, one for each feature"
            )
        check_integer("n_tasks", self.n_tasks, self.n_classes, "the number of classes")

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.X_train)} + {len(self.X_test)} samples, "
            f"{self.n_features} features, {self.n_classes} classes in {self.n_tasks} tasks)"
        )

    @property
    def n_features(self) -> int:
        """Number of features of a sample."""
        return int(self.X_train.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    def tasks(self) -> list[NDArray[np.intp]]:
        """Return the classes of each task; the first tasks have one more if the sizes differ."""
        return np.array_split(np.arange(self.n_classes), self.n_tasks)

    def samples(self) -> dict[str, NDArray[Any]]:
        """Return the features of each part by name: train, test and, if any, out_of_scope."""
        parts = {"train": self.X_train, "test": self.X_test, "out_of_scope": self.X_out_of_scope}
        return {part: X for part, X in parts.items() if X is not None}

    def _check_samples(self, part: str, X: NDArray[Any]) -> None:
        if X.ndim != 2 or not X.size:
            raise ValueError(
                f"{self.name}: {part} has shape {X.shape}; expected (n_samples, n_features), both "
                "at least 1"
            )
        if X.shape[1] != self.X_train.shape[1]:
            raise ValueError(
                f"{self.name}: {part} has {X.shape[1]} features; expected "
                f"{self.X_train.shape[1]}, as X_train has"
            )
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{self.name}: {part} must hold finite numbers; got {X.dtype}")
        if X.dtype.kind == "f" and not np.isfinite(X).all():
            raise ValueError(f"{self.name}: {part} must hold finite numbers; got NaN or infinity")

    def _check_classes(self, part: str, y: NDArray[Any], n_samples: int) -> None:
        if y.shape != (n_samples,) or y.dtype.kind not in "iu":
            raise ValueError(
                f"{self.name}: {part} is {y.dtype} of shape {y.shape}; expected one integer for "
                f"each of {n_samples} samples"
            )
        if y.min() < 0 or y.max() >= self.n_classes:
            raise ValueError(
                f"{self.name}: {part} holds classes from {y.min()} to {y.max()}; expected 0 to "
                f"{self.n_classes - 1}"
            )
