"""A model and its answers to the samples of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.cli.evaluation.comparison import ABSENT, N_TOP, OUT_OF_DISTRIBUTION, Comparison
from kenyon.cli.evaluation.detection import Detection
from kenyon.cli.evaluation.evaluation import Evaluation
from kenyon.cli.models import FEATURES, TEXT, classifier_of, encode, kind_of

if TYPE_CHECKING:
    from kenyon.circuit.plain_labels import Label
    from kenyon.cli.evaluation.evaluation import Result
    from kenyon.cli.models import AnyModel

_MAX_PROBABILITIES = 1 << 22
_MAX_ROWS = 2048


class Judge:
    """Compares the answers of a model with the labels of samples.

    Parameters
    ----------
    model : FlyClassifier or Pipeline
    unknown : str or None
        The label of out-of-distribution rows. None: there are none.
    false_alarms : float
        The share of rows of known classes that may exceed the novelty threshold.

    Raises
    ------
    ValueError
        If the model has no classes, or `unknown` is one of them.
    """

    def __init__(self, model: AnyModel, unknown: str | None, false_alarms: float) -> None:
        self._model, self._classifier, self._unknown = model, classifier_of(model), unknown
        classes = self._classifier.classes_.tolist()
        if not classes:
            raise ValueError("the model has no classes")
        detection = None
        if unknown is not None:
            if unknown in map(str, classes):
                raise ValueError(f"--unknown must be no label of the model; got {unknown!r}")
            detection = Detection(unknown, self._classifier.novelty_threshold(false_alarms))
        self._ranks = {label: rank for rank, label in enumerate(classes)}
        self.evaluation = Evaluation(classes, detection)

    @property
    def max_rows(self) -> int:
        """The rows of a piece, so few that their probabilities take little memory."""
        return max(1, min(_MAX_ROWS, _MAX_PROBABILITIES // len(self._ranks)))

    def add(self, inputs: Any, labels: list[Label]) -> None:
        """Add samples, whose labels are of the model's kind or are `unknown`.

        If the encoder refuses an input, none is added.
        """
        features = encode(self._model, inputs)
        answers = self._classifier.predict_top(features, N_TOP).labels.tolist()
        self.evaluation.add(
            Comparison.of(
                labels,
                np.array([self._rank(label) for label in labels], np.intp),
                np.array([[self._ranks[label] for label in row] for row in answers], np.intp),
                self._classifier.predict_proba(features),
                None if self._unknown is None else self._classifier.novelty(features),
                None if kind_of(self._model) == FEATURES else [str(one) for one in inputs],
            )
        )

    def _rank(self, label: Any) -> int:
        # A label that is no class of the model may be a text where the labels are numbers.
        if self._unknown is not None and str(label) == self._unknown:
            return OUT_OF_DISTRIBUTION
        return self._ranks.get(label, ABSENT)

    def result(self, *, explained: bool) -> Result:
        """Return the measures; `explained` adds the effects of words to confident errors."""
        result = self.evaluation.result()
        if not explained or kind_of(self._model) != TEXT:
            return result
        model: Any = self._model
        errors = [
            replace(error, words=model.explain(error.input, error.predicted).words)
            for error in result.errors
        ]
        return replace(result, errors=errors)
