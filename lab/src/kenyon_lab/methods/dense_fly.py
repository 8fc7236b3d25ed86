"""Partial freezing on dense codes: the fly without its winner-take-all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.checks import check_above_zero
from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.shared import FULL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_LARGEST = 2**31 - 1
_LEVELS_AT_ONCE = 2**22


@dataclass(kw_only=True, eq=False)
class DenseFly(CodedMethod):
    """The fly's learning rule on the sums of all cells, scaled to reach from 0 to 1 in a sample.

    A sample strengthens the synapses from all cells to its class, in proportion to their activity,
    and leaves those to other classes alone. The order of samples does not matter.

    Parameters
    ----------
    learning_rate : float, default=0.01
        How much one sample strengthens a synapse, of at most 1.
    n_cells, fan_in, seed, n_threads
        As of every `CodedMethod`; all cells are active.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.dense_fly import DenseFly
    >>> digits = load("digits")
    >>> dense = DenseFly(n_cells=400)
    >>> dense.begin(digits.n_features, digits.n_classes)
    >>> dense.learn_task(digits.X_train, digits.y_train)
    >>> bool((dense.predict(digits.X_test) == digits.y_test).mean() < 0.9)
    True
    """

    learning_rate: float = 0.01
    n_active: None = field(default=None, init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        rate = check_above_zero("learning_rate", self.learning_rate)
        self.cap = max(1, round(min(FULL / rate, _LARGEST)))
        self.counts = np.zeros((self.n_classes, self.coder.n_cells), dtype=np.int64)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for rows, levels in self._codes(X):
            for target in np.unique(y[rows]):
                self.counts[target] += levels[y[rows] == target].sum(axis=0, dtype=np.int64)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        # Whole numbers whose sums stay below 2**53: exact in doubles, whatever the order.
        weights = np.minimum(self.counts, self.cap).astype(np.float64).T
        scores = [levels.astype(np.float64) @ weights for _, levels in self._codes(X)]
        best: NDArray[np.intp] = np.concatenate(scores).argmax(axis=1)
        return best

    def _codes(self, X: NDArray[Any]) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
        size = max(1, _LEVELS_AT_ONCE // self.coder.n_cells)
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            yield rows, self.coder.native.encode_dense(X[rows], self.n_threads)
