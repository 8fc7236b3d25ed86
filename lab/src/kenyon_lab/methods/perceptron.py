"""Perceptrons on sparse codes, from the one that learns from mistakes to the fly without a cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.shared import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Rule(NamedTuple):
    always: bool
    weaken: bool


_RULES = {
    1: _Rule(always=False, weaken=True),
    2: _Rule(always=False, weaken=False),
    3: _Rule(always=True, weaken=True),
    4: _Rule(always=True, weaken=False),
}


@dataclass(kw_only=True, eq=False)
class Perceptron(CodedMethod):
    """A perceptron for many classes, one sample at a time: the steps from it to the fly.

    Strengthening a class adds the code of a sample to the weights of the class, weakening takes it
    off. Weights start at zero and have no bounds; the class with the largest score is predicted,
    the lowest of equals, from all classes that there will ever be.

    There is no learning rate: it would scale all weights alike and change no prediction.

    Parameters
    ----------
    version : {1, 2, 3, 4}, default=1
        1: on a mistake, the target is strengthened and the predicted class weakened, as Rosenblatt
        has it. 2: on a mistake, the target is strengthened. 3: the target is always strengthened,
        and on a mistake the predicted class weakened. 4: the target is always strengthened, and
        nothing else happens: the fly, but without its cap on the weights.
    n_cells, fan_in, n_active, seed, n_threads
        As of every `CodedMethod`.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.perceptron import Perceptron
    >>> digits = load("digits")
    >>> perceptron = Perceptron(version=1)
    >>> perceptron.begin(digits.n_features, digits.n_classes)
    >>> perceptron.learn_task(digits.X_train, digits.y_train)
    >>> bool((perceptron.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    version: Literal[1, 2, 3, 4] = 1

    def _start(self) -> None:
        super()._start()
        if self.version not in _RULES:
            raise ValueError(f"version must be 1, 2, 3 or 4, but is {self.version!r}")
        self.weights = Weights(self.coder.n_cells)
        for rank in range(self.n_classes):
            self.weights.insert(rank)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        slots = y.astype(np.int32)
        for rows, piece in self.coder.pieces(X):
            codes = self.coder.native.encode(piece, self.n_threads)
            self.weights.correct(codes, slots[rows], *_RULES[self.version])
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        best = [
            self.weights.best(self.coder.native.encode(piece, self.n_threads), self.n_threads)
            for _, piece in self.coder.pieces(X)
        ]
        return np.concatenate(best).astype(np.intp)
