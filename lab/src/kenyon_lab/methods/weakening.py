"""Learning by weakening every class but the target: the variant that the paper excludes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.checks import check_above_zero
from kenyon_lab.methods.coded import CodedMethod
from kenyon_lab.shared import Circuit, CountingMemory, FlyReadout, Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = np.iinfo(CountingMemory.dtype).max


@dataclass(kw_only=True, eq=False)
class Weakening(CodedMethod):
    """The circuit that learns as the real fly does, by making synapses weaker.

    All weights start at 1. A sample weakens the synapses from its active cells to every class but
    its own, down to 0 at most. With two classes that gives the predictions of `Fly`, which
    strengthens the one instead of weakening the other. With more, a sample changes what was
    learned of all other classes, and cells that classes share end at 0 for all of them.

    A weight has lost as much as its cell was active in samples of the other classes. So the fly's
    counters suffice, the order of samples does not matter, and where no weight has come to 0 the
    predictions are those of `Perceptron` version 4. A class that has not been taught yet is
    weakened all the same, but not predicted.

    Parameters
    ----------
    learning_rate : float, default=0.01
        How much one sample weakens a synapse, of 1.
    n_cells, fan_in, n_active, seed, n_threads
        As of every `CodedMethod`.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.fly import Fly
    >>> from kenyon_lab.methods.weakening import Weakening
    >>> digits = load("digits")
    >>> pair = digits.y_train < 2
    >>> fly, weakening = Fly(learning_rate=0.01), Weakening(learning_rate=0.01)
    >>> for method in fly, weakening:
    ...     method.begin(digits.n_features, n_classes=2)
    ...     method.learn_task(digits.X_train[pair], digits.y_train[pair])
    >>> bool((fly.predict(digits.X_test) == weakening.predict(digits.X_test)).all())
    True
    """

    learning_rate: float = 0.01

    def _start(self) -> None:
        super()._start()
        self.rates = Rates(check_above_zero("learning_rate", self.learning_rate))
        self.counted = Circuit(self.coder, CountingMemory(self.coder.n_cells))

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.counted.learn(X, y, self.rates, self.n_threads)
        with self.counted.memory.reading as memory:
            counts, self.classes = memory.synapses, memory.classes
            of_others = np.minimum(counts.sum(axis=0, dtype=np.int64) - counts, _LARGEST)
            lost = memory.restore(self.classes, {"synapses": of_others, "samples": memory.samples})
        self.lost = Circuit(self.coder, lost)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        # The largest sum of what is left of 1 is the smallest sum of what was lost, which is exact.
        lost = self.lost.scores(X, FlyReadout(self.rates), self.n_threads)
        best: NDArray[np.intp] = self.classes[lost.argmin(axis=1)].astype(np.intp)
        return best
