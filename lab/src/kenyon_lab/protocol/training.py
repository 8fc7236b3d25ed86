"""A method trained on one task after another, and tested after each."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.protocol.measures import accuracy_so_far
from kenyon_lab.protocol.peak_rss import PeakRSS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon_lab.methods.method import Method
    from kenyon_lab.protocol.stream import Samples, Stream


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """Accuracies and costs of one run; an array has an element for each task."""

    R: NDArray[np.float64]  # `R[i, j]`: accuracy on task j after task i; NaN if there is none.
    n_tested: NDArray[np.intp]  # Test samples.
    single_task: NDArray[np.float64] | None  # Accuracy of a model that learned only this task.
    learn_seconds: NDArray[np.float64]
    predict_seconds: NDArray[np.float64]  # For all test samples of the tasks so far.
    peak_rss: int  # Bytes by which the resident set grew while learning and predicting.
    n_parameters: int  # This and the next two: at the end, as of `Method`.
    n_exemplars: int
    n_shown: int


def train(
    make: Callable[[], Method],
    stream: Stream,
    *,
    single_task: bool = True,
    on_task: Callable[[int, float], None] = lambda task, accuracy: None,
) -> TrainingResult:
    """Train a new method on all tasks of a stream.

    Parameters
    ----------
    make : callable
        Returns a new method.
    stream : Stream
    single_task : bool
        Whether to train a new model on each single task too, which takes about as long again.
    on_task : callable
        Receives each task learned, and the accuracy so far.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.protocol.stream import Stream
    >>> from kenyon_lab.protocol.training import train
    >>> from kenyon_lab.methods.fly import Fly
    >>> result = train(Fly, Stream(load("digits")))
    >>> bool(result.R[-1].min() > 0.8)
    True
    """
    tests = [stream.tested(task) for task in range(len(stream))]
    n_tested = np.array([len(y) for _, y in tests])
    R = np.full((len(stream), len(stream)), np.nan)
    learn_seconds, predict_seconds = np.zeros((2, len(stream)))
    # Before anything is measured: the imports of a method are no part of learning.
    method = make()
    with PeakRSS() as rss:
        for task in range(len(stream)):
            X, y = stream.taught(task)
            start = perf_counter()
            if task == 0:
                method.begin(stream.dataset.n_features, stream.dataset.n_classes)
            method.learn_task(X, y)
            learned = perf_counter()
            R[task, : task + 1] = _accuracies(method, tests[: task + 1])
            learn_seconds[task] = learned - start
            predict_seconds[task] = perf_counter() - learned
            on_task(task, float(accuracy_so_far(R[: task + 1], n_tested)[-1]))
    return TrainingResult(
        R,
        n_tested,
        _train_single_tasks(make, stream, tests) if single_task else None,
        learn_seconds,
        predict_seconds,
        rss.nbytes,
        int(method.n_parameters),
        int(method.n_stored),
        int(method.n_shown),
    )


def _train_single_tasks(
    make: Callable[[], Method], stream: Stream, tests: list[Samples]
) -> NDArray[np.float64]:
    accuracies = np.full(len(stream), np.nan)
    for task in range(len(stream)):
        method = make()
        method.begin(stream.dataset.n_features, stream.dataset.n_classes)
        method.learn_task(*stream.taught(task))
        accuracies[task] = _accuracies(method, [tests[task]])[0]
    return accuracies


def _accuracies(method: Method, tests: list[Samples]) -> NDArray[np.float64]:
    """Return the accuracy on each of some tests, all predicted in one call."""
    X, y = (np.concatenate(part) for part in zip(*tests, strict=True))
    right = method.predict(X) == y if len(y) else np.empty(0)
    ends = np.cumsum([len(y) for _, y in tests])
    parts = np.split(right, ends[:-1])
    return np.array([part.mean() if len(part) else np.nan for part in parts])
