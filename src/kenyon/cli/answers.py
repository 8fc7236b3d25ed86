"""Answers to inputs: the most probable classes, and whether an input is unknown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from kenyon.cli.models import classifier_of, encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kenyon.cli.models import AnyModel


class Answers(NamedTuple):
    """The answers to some inputs.

    Attributes
    ----------
    labels, probabilities : ndarray of shape (n, k)
        The most probable classes, the best first.
    novelty : ndarray of shape (n,) or None
    is_unknown : ndarray of bool, of shape (n,), or None
    """

    labels: NDArray[Any]
    probabilities: NDArray[np.float64]
    novelty: NDArray[np.float64] | None
    is_unknown: NDArray[np.bool_] | None


def about_threshold(unknown: str, threshold: float) -> list[str]:
    """Return a sentence if no novelty score can exceed a threshold."""
    if threshold < 1:
        return []
    return [
        f"The model has learned too few different samples to answer {unknown}: no novelty score "
        "exceeds the threshold of 1."
    ]


class Answerer:
    """Answers inputs by a model.

    Parameters
    ----------
    model : FlyClassifier or Pipeline
    top : int
        Classes of each answer.
    unknown : str or None
        The label for inputs unlike everything learned. Unlike the label of `predict(unknown=...)`,
        it may be a text where the labels are numbers.
    false_alarms : float
    with_novelty : bool
        Compute novelty scores, which takes longer than the answers, also without `unknown`.

    Raises
    ------
    ValueError
        If the model has no classes, or `unknown` is one of them.
    """

    def __init__(
        self,
        model: AnyModel,
        top: int,
        unknown: str | None,
        false_alarms: float,
        with_novelty: bool = False,
    ) -> None:
        self._model, self._classifier = model, classifier_of(model)
        self._top = top
        self.unknown = unknown
        self.threshold: float | None = None
        self._with_novelty = with_novelty or unknown is not None
        classes = self._classifier.classes_.tolist()
        if not classes:
            raise ValueError("the model has no classes")
        if unknown is not None:
            if unknown in map(str, classes):
                raise ValueError(f"--unknown must be no label of the model; got {unknown!r}")
            self.threshold = self._classifier.novelty_threshold(false_alarms)
            for note in about_threshold(unknown, self.threshold):
                print(note, file=sys.stderr)

    def __call__(self, inputs: Any) -> Answers:
        """Return the answers to inputs, which are encoded once."""
        features = encode(self._model, inputs)
        labels, probabilities = self._classifier.predict_top(features, self._top)
        if not self._with_novelty:
            return Answers(labels, probabilities, None, None)
        novelty = self._classifier.novelty(features)
        is_unknown = None if self.threshold is None else novelty > self.threshold
        return Answers(labels, probabilities, novelty, is_unknown)
