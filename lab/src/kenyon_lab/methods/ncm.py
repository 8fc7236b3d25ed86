"""Nearest class mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.method import Method

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class NCM(Method):
    """Nearest class mean by cosine.

    The sum of a class has the direction of its mean, so the method stores sums. The order of
    samples does not matter. A tie goes to the lowest class.
    """

    sums: NDArray[np.float64] = field(init=False, repr=False)
    seen: NDArray[np.bool_] = field(init=False, repr=False)

    def _start(self) -> None:
        self.sums = np.zeros((self.n_classes, self.n_features))
        self.seen = np.zeros(self.n_classes, dtype=bool)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for label in np.unique(y):
            self.sums[label] += X[y == label].sum(axis=0, dtype=np.float64)
            self.seen[label] = True
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        classes = np.flatnonzero(self.seen)
        means = self.sums[classes]
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        # The length of a sample scales all its cosines alike. A mean of zero gets the cosine zero.
        cosines = X @ (means / np.where(lengths > 0, lengths, 1)).T
        best: NDArray[np.intp] = classes[cosines.argmax(axis=1)]
        return best

    @property
    def n_parameters(self) -> int:
        return self.n_classes * self.n_features


ENTRIES = (
    MethodEntry(
        name="ncm",
        title="NCM",
        cls=NCM,
        group="modern",
        summary="the nearest class mean, by cosine",
        look=Look("blue", "P", ":"),
    ),
)
