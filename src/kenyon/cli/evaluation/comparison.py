"""Rows of a file, and the answers of a model to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label

    Floats = NDArray[np.float64]
    Ranks = NDArray[np.intp]

N_TOP = 3
"""The number of classes whose best one may be the right one in the top-3 accuracy."""
ABSENT = -1
"""The rank of a label that the model does not know."""
OUT_OF_DISTRIBUTION = -2
"""The rank of rows that are labelled as out-of-distribution."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Some rows of a file, and the answers of the model to them.

    A class is given by its rank, its place in `classes_`.

    Parameters
    ----------
    labels : sequence
        The labels of the rows in the file.
    ranks : ndarray of shape (n_rows,)
        Their ranks; `ABSENT` and `OUT_OF_DISTRIBUTION` for rows of no class of the model.
    top : ndarray of shape (n_rows, k)
        The ranks of the most probable classes, the best first.
    confidences : ndarray of shape (n_rows,)
        The probability of the best class.
    likelihoods : ndarray of shape (n_rows,)
        The probability of the true class; 0 for rows of no class of the model.
    squares : ndarray of shape (n_rows,)
        The sum of the squared probabilities of all classes.
    novelty : ndarray of shape (n_rows,) or None
        The novelty scores. None: they are not asked for.
    inputs : sequence of str or None
        The texts, or the names of the images. None: features have no words to show.
    """

    labels: Sequence[Label]
    ranks: Ranks
    top: Ranks
    confidences: Floats
    likelihoods: Floats
    squares: Floats
    novelty: Floats | None = None
    inputs: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        labels: Sequence[Label],
        ranks: Ranks,
        top: Ranks,
        probabilities: Floats,
        novelty: Floats | None = None,
        inputs: Sequence[str] | None = None,
    ) -> Comparison:
        """Return the comparison from the probabilities of all classes, which are not kept."""
        rows = np.arange(len(ranks))
        likelihoods = np.where(ranks < 0, 0.0, probabilities[rows, np.maximum(ranks, 0)])
        confidences = probabilities[rows, top[:, 0]]
        squares = np.einsum("ij,ij->i", probabilities, probabilities)
        return cls(labels, ranks, top, confidences, likelihoods, squares, novelty, inputs)

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def is_correct(self) -> NDArray[np.bool_]:
        """Whether the best class is the true one."""
        return np.asarray(self.top[:, 0] == self.ranks)

    def select(self, which: NDArray[np.bool_]) -> Comparison:
        """Return the rows that a mask selects."""
        if which.all():
            return self
        rows = np.flatnonzero(which).tolist()

        def pick(column: Any) -> Any:
            return None if column is None else [column[row] for row in rows]

        return Comparison(
            pick(self.labels),
            self.ranks[which],
            self.top[which],
            self.confidences[which],
            self.likelihoods[which],
            self.squares[which],
            None if self.novelty is None else self.novelty[which],
            pick(self.inputs),
        )
