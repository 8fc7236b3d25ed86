"""Partial freezing on dense codes: the fly without winner-take-all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.coded import CodedMethod, find_cap, sum_by_class
from kenyon_lab.methods.dense_code import DenseCoder
from kenyon_lab.methods.entry import DENSE_LAYER, Look, MethodEntry
from kenyon_lab.methods.method import blocks, check_positive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BLOCK_LEVELS = 2**22


@dataclass(kw_only=True, eq=False)
class DenseFly(CodedMethod):
    """The fly's learning rule on the sums of all cells, scaled per sample from 0 to 1.

    A sample strengthens the synapses from all cells to its class, in proportion to their activity,
    and leaves those to other classes unchanged. The order of samples does not matter.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Increase of a weight per sample at full activity. Weights are at most 1.
    n_cells, fan_in, seed, n_threads
        As in every `CodedMethod`; all cells are active.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    """

    learning_rate: float = 0.01
    n_active: None = field(default=None, init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        self.cap = find_cap(check_positive("learning_rate", self.learning_rate))
        self.dense = DenseCoder(self.coder)
        # Integers below 2**53 in double precision: exact in any order of summation.
        self.counts = np.zeros((self.n_units, self.n_classes))

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for rows, levels in self._levels(X):
            self.counts += sum_by_class(levels, y[rows], self.n_classes)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        weights = np.minimum(self.counts, self.cap)
        return np.concatenate([(levels @ weights).argmax(axis=1) for _, levels in self._levels(X)])

    def _levels(self, X: NDArray[Any]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for rows in blocks(len(X), max(1, _BLOCK_LEVELS // self.n_units)):
            yield rows, self.dense.levels(X[rows]).astype(np.float64)


ENTRIES = (
    MethodEntry(
        name="dense-fly",
        title="Dense, freezing",
        cls=DenseFly,
        group="ablation",
        summary="the fly without winner-take-all",
        grid={"learning_rate": (1e-5, 1e-4, 3e-4, 5e-4, 0.001, 0.01, 0.1)},
        paper={
            "mnist20": {**DENSE_LAYER["mnist20"], "learning_rate": 0.01},
            "cifar100": {**DENSE_LAYER["cifar100"], "learning_rate": 0.2},
        },
        tuned={("mnist20-distorted", "shuffled"): {"learning_rate": 0.0005}},
        look=Look("orange", "o", "--"),
    ),
)
