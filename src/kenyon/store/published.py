"""The state of a model that readers see: it never changes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kenyon.classifier import FlyClassifier

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Published:
    """A model after an event. Reading it never waits for learning.

    Parameters
    ----------
    event : int
    classifier : FlyClassifier or None
        It cannot change. None: the model has no classes.
    time : float
        When it was published, in seconds since 1970.
    """

    event: int
    classifier: FlyClassifier | None = None
    time: float = field(default_factory=time.time)


def publish(event: int, classifier: FlyClassifier, false_alarms: Iterable[float] = ()) -> Published:
    """Return the present state of a classifier, with all that readers need computed.

    Parameters
    ----------
    event : int
    classifier : FlyClassifier
    false_alarms : iterable of float
        The rates for which thresholds of novelty are computed.
    """
    frozen = object.__new__(FlyClassifier)
    frozen.__dict__ = {**vars(classifier), "circuit_": classifier.circuit_.pinned()}
    if not len(frozen.classes_):
        return Published(event)
    nothing = np.zeros((1, frozen.n_features_in_))
    frozen.predict_proba(nothing)
    for rate in false_alarms:
        frozen.novelty(nothing)
        frozen.novelty_threshold(rate)
    return Published(event, frozen)
