"""Learning by weakening every class but the target: the variant that the paper excludes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.coded import CodedMethod, find_cap, sum_by_class
from kenyon_lab.methods.entry import CAPPED_FLY, Look, MethodEntry
from kenyon_lab.methods.method import check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class Weakening(CodedMethod):
    """The circuit that learns by weakening synapses, as the real fly does.

    All weights start at 1. A sample weakens the synapses from its active cells to every class but
    its own, down to 0. With two classes the predictions equal those of `Fly`, which strengthens one
    class instead of weakening the other. With more classes a sample changes the weights of all
    other classes, and cells that several classes share end at 0 for all of them.

    The loss of a weight is the activity of its cell in samples of the other classes. The fly's
    counters therefore suffice, the order of samples does not matter, and while no weight has
    reached 0 the predictions equal those of `Perceptron` with rule 4. A class without samples is
    weakened too, but never predicted.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Decrease of a weight per sample at full activity.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    """

    learning_rate: float = 0.01

    def _start(self) -> None:
        super()._start()
        self.cap = find_cap(check_positive("learning_rate", self.learning_rate))
        # Integers below 2**53 in double precision: exact in any order of summation.
        self.counts = np.zeros((self.n_units, self.n_classes))
        self.seen = np.zeros(self.n_classes, dtype=bool)

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for rows, codes in self.codes(X):
            self.counts += sum_by_class(codes, y[rows], self.n_classes)
        self.seen[y] = True
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        counts = self.counts[:, self.seen]
        lost = np.minimum(counts.sum(axis=1, keepdims=True) - counts, self.cap)
        # The largest sum of remaining weights is the smallest sum of losses, which is exact.
        best = np.concatenate([(codes @ lost).argmin(axis=1) for _, codes in self.codes(X)])
        labels: NDArray[np.intp] = np.flatnonzero(self.seen)[best]
        return labels


ENTRIES = (
    MethodEntry(
        name="weakening",
        title="Weakening",
        cls=Weakening,
        group="perceptron",
        summary="weakens every class but the target, as the real fly does",
        grid={"learning_rate": (1e-5, 1e-4, 3e-4, 0.001, 0.01, 0.1)},
        paper=CAPPED_FLY,
        tuned={("mnist20-distorted", "shuffled"): {"learning_rate": 0.0003}},
        look=Look("sky", ">", ":"),
    ),
)
