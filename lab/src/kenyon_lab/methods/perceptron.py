"""Perceptrons on sparse codes: four rules between Rosenblatt's and the fly's."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kenyon_lab.methods.coded import CodedMethod, find_cap, sum_by_class
from kenyon_lab.methods.entry import CAPPED_FLY, SPARSE_LAYER, Look, MethodEntry
from kenyon_lab.methods.method import check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from kenyon_lab.methods.entry import Colour


class Bounds(NamedTuple):
    """The range of a weight."""

    lowest: float
    highest: float


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
    """A multiclass perceptron that learns one sample at a time.

    Strengthening a class adds the levels of a sample's code to the weights of the class; weakening
    subtracts them. Weights start at zero and have no bounds. The class with the largest score is
    predicted, among all classes of the problem; a tie goes to the lowest class.

    There is no learning rate: it would scale all weights alike and change no prediction.

    Parameters
    ----------
    rule : {1, 2, 3, 4}, default=1
        The paper's versions. 1: on a mistake, the target is strengthened and the predicted class
        weakened (Rosenblatt's rule). 2: on a mistake, the target is strengthened. 3: the target is
        always strengthened, and on a mistake the predicted class is weakened. 4: the target is
        always strengthened and no class is weakened: the fly without its cap on the weights.

    Attributes
    ----------
    weights : array of shape (n_cells, n_classes)
        Sums of levels: integers in double precision, exact in any order of summation.

    References
    ----------
    Shen, Dasgupta, Navlakha (2021). Algorithmic insights on continual learning from fruit flies.
    """

    rule: Literal[1, 2, 3, 4] = 1
    bounds: Bounds | None = field(default=None, init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        if self.rule not in _RULES:
            raise ValueError(f"rule must be 1, 2, 3 or 4, but is {self.rule!r}")
        self.weights = np.zeros((self.n_units, self.n_classes))

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for rows, codes in self.codes(X):
            learn(self.weights, codes, y[rows], **_RULES[self.rule]._asdict(), bounds=self.bounds)
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        best: NDArray[np.intp] = self.scores(X).argmax(axis=1)
        return best

    def scores(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum of weights times levels for each sample and class."""
        return np.concatenate([codes @ self.weights for _, codes in self.codes(X)])


@dataclass(kw_only=True, eq=False)
class CappedPerceptron(Perceptron):
    """A `Perceptron` whose weights stay within the fly's bounds.

    A weight is the learning rate times a sum of activities from 0 to 1. After every change it is
    clipped to [0, 1]. In sums of levels that is from 0 to the cap of the fly's counters; rule 4 is
    then the fly itself.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Change of a weight per sample at full activity. It determines the cap.
    rule
        As in `Perceptron`.
    """

    learning_rate: float = 0.01

    def _start(self) -> None:
        super()._start()
        self.bounds = Bounds(0, find_cap(check_positive("learning_rate", self.learning_rate)))


def learn(
    weights: NDArray[np.float64],
    codes: csr_matrix[Any],
    targets: NDArray[np.intp],
    *,
    always: bool,
    weaken: bool,
    bounds: Bounds | None = None,
) -> None:
    """Change the weights of a perceptron by samples, one after another.

    Parameters
    ----------
    weights : array of shape (n_cells, n_classes)
    codes : csr_matrix of shape (n_samples, n_cells)
        Levels.
    targets : array of shape (n_samples,)
    always : bool
        Strengthen the target of every sample, rather than of mistakes only.
    weaken : bool
        Weaken the predicted class on a mistake.
    bounds : Bounds, optional
        Weights are clipped to them after each sample.
    """
    if always and not weaken:  # Predictions do not matter, and clipping once is enough.
        weights += sum_by_class(codes, targets, weights.shape[1])
        if bounds:
            np.minimum(weights, bounds.highest, out=weights)
        return
    # NumPy gathers and scatters fastest with its own index type, in one dimension.
    indices, levels = codes.indices.astype(np.intp), codes.data.astype(np.float64)
    of_class = list(weights.T)
    for target, (start, stop) in zip(
        targets.tolist(), pairwise(codes.indptr.tolist()), strict=True
    ):
        cells, code = indices[start:stop], levels[start:stop]
        predicted = int((code @ weights.take(cells, axis=0)).argmax())
        if always or predicted != target:
            _change(of_class[target], cells, code, bounds)
        if weaken and predicted != target:
            _change(of_class[predicted], cells, -code, bounds)


def _change(
    weights: NDArray[np.float64],
    cells: NDArray[np.intp],
    change: NDArray[np.float64],
    bounds: Bounds | None,
) -> None:
    """Add to the weights from some cells to a class."""
    changed = weights[cells] + change
    if bounds:  # `numpy.clip` takes several times as long on so few numbers.
        np.minimum(np.maximum(changed, bounds.lowest, out=changed), bounds.highest, out=changed)
    weights[cells] = changed


class _Style(NamedTuple):
    colour: Colour
    marker: str
    line: str
    marker_capped: str


_STYLES = (
    _Style("black", "^", "--", "v"),
    _Style("sky", "v", "--", "X"),
    _Style("blue", "s", "-", "p"),
    _Style("orange", "P", ":", ""),
)
_SUMMARIES = (
    "on a mistake, strengthens the target and weakens the predicted class",
    "on a mistake, strengthens the target",
    "always strengthens the target; on a mistake, weakens the predicted class",
    "always strengthens the target: the fly without a cap",
)

ENTRIES = (
    *(
        MethodEntry(
            name=f"perceptron-v{rule}",
            # Brackets state a difference from the paper: its v4 alone has a cap.
            title=f"Perceptron v{rule}{' (no cap)' if rule == 4 else ''}",
            cls=Perceptron,
            group="perceptron",
            summary=summary,
            variant={"rule": rule},
            order="classes",
            paper=SPARSE_LAYER,
            look=Look(style.colour, style.marker, style.line),
        )
        for rule, summary, style in zip(_RULES, _SUMMARIES, _STYLES, strict=True)
    ),
    *(
        MethodEntry(
            name=f"perceptron-v{rule}-capped",
            title=f"Perceptron v{rule} (capped)",
            cls=CappedPerceptron,
            group="perceptron",
            summary=f"v{rule} with weights within [0, 1], as the fly's are",
            variant={"rule": rule},
            order="classes",
            paper=CAPPED_FLY,
            look=Look(style.colour, style.marker_capped, "-."),
        )
        for rule, style in zip((1, 2, 3), _STYLES, strict=False)
    ),
)
