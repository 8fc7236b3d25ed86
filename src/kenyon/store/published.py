"""The state of a model that readers see: it never changes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kenyon._validation import count_threads
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
    frozen.n_threads = count_spare_threads(classifier.n_threads)
    nothing = np.zeros((1, frozen.n_features_in_))
    frozen.predict_proba(nothing)
    for rate in false_alarms:
        frozen.novelty(nothing)
        frozen.novelty_threshold(rate)
    frozen.n_threads = classifier.n_threads
    return Published(event, frozen)


def count_spare_threads(n_threads: int | None) -> int:
    """Return the threads for changes to a model that is read meanwhile.

    By default one processor is left to the readers, or their thread would wait for it.
    """
    return max(1, count_threads(None) - 1) if n_threads is None else count_threads(n_threads)
