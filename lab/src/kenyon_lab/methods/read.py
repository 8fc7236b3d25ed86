"""The fly's circuit, read in other ways than the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.shared import Circuit, check_rates, check_readout, new_memory, usual_layer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.shared import Readout, Usual


RATES = check_rates("auto", 0.0)
"""Of learning, which neither readout depends on."""


@dataclass(kw_only=True, eq=False)
class Read(CodedMethod):
    """What `kenyon.FlyClassifier` is with another readout, as a method of the bench.

    The order of samples does not matter.

    Parameters
    ----------
    readout : {"bayes", "ridge"}
    smoothing : float, default=0.1
        With "bayes", what every cell is taken to have seen of each class besides.
    penalty : float or "auto", default="auto"
        With "ridge", the penalty on large weights.
    n_cells, fan_in, n_active, seed, n_threads
        As of every `CodedMethod`.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.read import Read
    >>> digits = load("digits")
    >>> ridge = Read(readout="ridge", n_cells=300)
    >>> ridge.begin(digits.n_features, digits.n_classes)
    >>> ridge.learn_task(digits.X_train, digits.y_train)
    >>> bool((ridge.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    readout: Literal["bayes", "ridge"] = "bayes"
    smoothing: float = 0.1
    penalty: float | Literal["auto"] = "auto"

    def _usual(self) -> Usual:
        return usual_layer(self._reader())

    def _start(self) -> None:
        super()._start()
        self.circuit = Circuit(self.coder, new_memory(self._reader(), RATES, self.coder.n_cells))

    @property
    def n_parameters(self) -> int:
        """Counters, and with "ridge" pairs of cells."""
        n_cells = self.coder.n_cells
        n_pairs = n_cells * (n_cells + 1) // 2 if self.readout == "ridge" else 0
        return super().n_parameters + n_pairs

    def _reader(self) -> Readout:
        return check_readout(self.readout, "auto", 0.0, self.smoothing, self.penalty)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.circuit.learn(X, y, RATES, self.n_threads)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.circuit.labels(X, self._reader(), self.n_threads).astype(np.intp)
