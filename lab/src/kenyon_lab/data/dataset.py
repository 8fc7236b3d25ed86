"""What everything else learns from and is tested on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.shared import check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples to learn from and to be tested on, with the classes that they belong to.

    Parameters
    ----------
    name : str
        Its name in the catalogue, or the path of the file that it came from.
    X_train, X_test : array of shape (n_samples, n_features)
        Features, finite numbers.
    y_train, y_test : array of shape (n_samples,)
        Classes, as positions in `class_names`.
    class_names : tuple of str
        One for each class. Every class has samples to learn from.
    n_tasks : int
        How many tasks the classes are split into, in their order.
    X_out_of_scope : array of shape (n_samples, n_features), optional
        Test samples that belong to none of the classes.
    image_shape : tuple of int, optional
        What a row of features looks like as an image, where it is one.

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
        untaught = np.setdiff1d(np.arange(self.n_classes), self.y_train)
        if len(untaught):
            name = self.class_names[untaught[0]]
            raise ValueError(f"{self.name}: the class {name!r} has no samples to learn from")
        if self.image_shape and math.prod(self.image_shape) != self.n_features:
            raise ValueError(
                f"{self.name}: image_shape is {self.image_shape}, but a sample has "
                f"{self.n_features} features"
            )
        check_whole("n_tasks", self.n_tasks, self.n_classes, "the number of classes")

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.X_train)} + {len(self.X_test)} samples, "
            f"{self.n_features} features, {self.n_classes} classes in {self.n_tasks} tasks)"
        )

    @property
    def n_features(self) -> int:
        """How many numbers a sample has."""
        return int(self.X_train.shape[1])

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    def tasks(self) -> list[NDArray[np.intp]]:
        """Return the classes of each task; where they do not go up evenly, the first have more."""
        return np.array_split(np.arange(self.n_classes), self.n_tasks)

    def samples(self) -> dict[str, NDArray[Any]]:
        """Return the samples of each part by its name."""
        parts = {"train": self.X_train, "test": self.X_test, "out_of_scope": self.X_out_of_scope}
        return {part: X for part, X in parts.items() if X is not None}

    def _check_samples(self, part: str, X: NDArray[Any]) -> None:
        if X.ndim != 2 or not X.size:
            raise ValueError(
                f"{self.name}: {part} has the shape {X.shape}; expected one row of features for "
                "each sample, and at least one of both"
            )
        if X.shape[1] != self.X_train.shape[1]:
            raise ValueError(
                f"{self.name}: {part} has {X.shape[1]} features a sample; X_train has "
                f"{self.X_train.shape[1]}"
            )
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{self.name}: {part} must hold finite numbers only; it is {X.dtype}")
        if X.dtype.kind == "f" and not np.isfinite(X).all():
            raise ValueError(f"{self.name}: {part} must hold finite numbers only; some are not")

    def _check_classes(self, part: str, y: NDArray[Any], n_samples: int) -> None:
        if y.shape != (n_samples,) or y.dtype.kind not in "iu":
            raise ValueError(
                f"{self.name}: {part} is {y.dtype} of the shape {y.shape}; expected one whole "
                f"number for each of {n_samples} samples"
            )
        if y.min() < 0 or y.max() >= self.n_classes:
            raise ValueError(
                f"{self.name}: {part} holds classes from {y.min()} to {y.max()}; expected 0 to "
                f"{self.n_classes - 1}"
            )
