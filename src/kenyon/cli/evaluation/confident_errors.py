"""The wrong answers that the model was most confident of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit.plain_labels import Label
    from kenyon.cli.evaluation.comparison import Comparison
    from kenyon.text_explanation import WordEffect

MAX_ERRORS = 20
"""The number of errors that are kept."""


@dataclass(frozen=True)
class ConfidentError:
    """A wrong answer.

    Parameters
    ----------
    row : int
        The number of the row, from 1; rows that were skipped do not count.
    label, predicted : label
        The label in the file, and the answer.
    confidence, likelihood : float
        The probabilities of the answer and of the label.
    input : str or None
        The text, or the name of the image. None: the input is a vector of features.
    words : list of WordEffect or None
        The effect of each word on the log-odds of the answer. None: the input is no text.
    """

    row: int
    label: Label
    predicted: Label
    confidence: float
    likelihood: float
    input: str | None
    words: list[WordEffect] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the error as values that JSON can hold."""
        return {
            "row": self.row,
            "input": self.input,
            "label": self.label,
            "predicted": self.predicted,
            "probability": self.confidence,
            "probability_of_label": self.likelihood,
            "words": self.words and [word._asdict() for word in self.words],
        }


class ConfidentErrors:
    """A bounded list of errors. Rows whose label the model does not know are not among them.

    Parameters
    ----------
    classes : sequence
        The labels that the model knows.
    """

    def __init__(self, classes: Sequence[Label]) -> None:
        self.classes = classes
        self.found: list[ConfidentError] = []

    def add(self, compared: Comparison, rows: np.ndarray) -> None:
        """Look for errors in some rows of these numbers."""
        wrong = np.flatnonzero((compared.ranks >= 0) & ~compared.is_correct)
        first = np.lexsort((rows[wrong], -compared.confidences[wrong]))[:MAX_ERRORS]
        found = [*self.found, *(self._error(compared, rows, row) for row in wrong[first].tolist())]
        found.sort(key=lambda error: (-error.confidence, error.row))
        self.found = found[:MAX_ERRORS]

    def _error(self, compared: Comparison, rows: np.ndarray, row: int) -> ConfidentError:
        return ConfidentError(
            row=int(rows[row]),
            label=self.classes[compared.ranks[row]],
            predicted=self.classes[compared.top[row, 0]],
            confidence=float(compared.confidences[row]),
            likelihood=float(compared.likelihoods[row]),
            input=None if compared.inputs is None else compared.inputs[row],
        )
