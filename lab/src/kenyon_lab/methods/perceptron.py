"""Perceptrons on sparse codes: four rules between Rosenblatt's and the fly's without a cap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kenyon_lab.methods.coded import CodedMethod, sum_by_class
from kenyon_lab.methods.entry import SPARSE_LAYER, Look, MethodEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix


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

    def _start(self) -> None:
        super()._start()
        if self.rule not in _RULES:
            raise ValueError(f"rule must be 1, 2, 3 or 4, but is {self.rule!r}")
        self.weights = np.zeros((self.n_units, self.n_classes))

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        for rows, codes in self.codes(X):
            learn(self.weights, codes, y[rows], **_RULES[self.rule]._asdict())
        self.n_shown += len(X)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        best: NDArray[np.intp] = self.scores(X).argmax(axis=1)
        return best

    def scores(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum of weights times levels for each sample and class."""
        return np.concatenate([codes @ self.weights for _, codes in self.codes(X)])


def learn(
    weights: NDArray[np.float64],
    codes: csr_matrix[Any],
    targets: NDArray[np.intp],
    *,
    always: bool,
    weaken: bool,
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
    """
    if always and not weaken:  # Predictions do not matter.
        weights += sum_by_class(codes, targets, weights.shape[1])
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
            of_class[target][cells] += code
        if weaken and predicted != target:
            of_class[predicted][cells] -= code


_LOOKS: tuple[tuple[Any, str, str], ...] = (
    ("black", "^", "--"),
    ("sky", "v", "--"),
    ("blue", "s", "-"),
    ("orange", "P", ":"),
)
_SUMMARIES = (
    "on a mistake, strengthens the target and weakens the predicted class",
    "on a mistake, strengthens the target",
    "always strengthens the target; on a mistake, weakens the predicted class",
    "always strengthens the target: the fly without a cap",
)

ENTRIES = tuple(
    MethodEntry(
        name=f"perceptron-v{rule}",
        title=f"Perceptron v{rule}",
        cls=Perceptron,
        group="perceptron",
        summary=summary,
        variant={"rule": rule},
        order="classes",
        paper=SPARSE_LAYER,
        look=Look(colour, marker, line),
    )
    for rule, summary, (colour, marker, line) in zip(_RULES, _SUMMARIES, _LOOKS, strict=True)
)
