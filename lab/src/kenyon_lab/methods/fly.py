"""The paper's FlyModel: sparse codes and partial freezing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.shared import Circuit, CountingMemory, FlyReadout, check_rates

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Fly(CodedMethod):
    """The fruit fly's circuit: what `kenyon.FlyClassifier` is, as a method of the bench.

    A sample strengthens the synapses from its active cells to its class and leaves all others
    alone. The order of samples does not matter.

    Parameters
    ----------
    learning_rate : float or "auto", default="auto"
        How much one sample strengthens a synapse, of at most 1.
    n_cells, fan_in, n_active, seed, n_threads
        As of every `CodedMethod`.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.fly import Fly
    >>> digits = load("digits")
    >>> fly = Fly()
    >>> fly.begin(digits.n_features, digits.n_classes)
    >>> fly.learn_task(digits.X_train, digits.y_train)
    >>> bool((fly.predict(digits.X_test) == digits.y_test).mean() > 0.9)
    True
    """

    learning_rate: float | Literal["auto"] = "auto"

    def _start(self) -> None:
        super()._start()
        self.rates = check_rates(self.learning_rate, 0.0)
        self.circuit = Circuit(self.coder, CountingMemory(self.coder.n_cells))

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.circuit.learn(X, y, self.rates, self.n_threads)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return self.circuit.labels(X, FlyReadout(self.rates), self.n_threads).astype(np.intp)
