"""A method taught one task after another, and tested after each."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.protocol.measures import accuracy_so_far
from kenyon_lab.protocol.peak_memory import PeakMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon_lab.methods.method import Method
    from kenyon_lab.protocol.stream import Samples, Stream


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of it.

    Parameters
    ----------
    R : array of shape (n_tasks, n_tasks)
        `R[i, j]`: accuracy on task j after task i was learned; NaN where there is none.
    n_tested : array of shape (n_tasks,)
        Samples that each task was tested on.
    alone : array of shape (n_tasks,), optional
        Accuracy on each task of a new model that was taught nothing else.
    learn_seconds, predict_seconds : array of shape (n_tasks,)
        How long learning each task took, and predicting all samples of the tasks so far.
    peak_memory : int
        Bytes by which the process grew while learning and predicting.
    n_parameters, n_stored, n_shown : int
        As of `Method`, at the end.
    """

    R: NDArray[np.float64]
    n_tested: NDArray[np.intp]
    alone: NDArray[np.float64] | None
    learn_seconds: NDArray[np.float64]
    predict_seconds: NDArray[np.float64]
    peak_memory: int
    n_parameters: int
    n_stored: int
    n_shown: int


def teach(
    make: Callable[[], Method],
    stream: Stream,
    *,
    alone: bool = True,
    watch: Callable[[int, float], None] = lambda task, accuracy: None,
) -> Outcome:
    """Teach a new method all tasks of a stream.

    Parameters
    ----------
    make : callable
        Returns a new method.
    stream : Stream
    alone : bool
        Whether a new model is also taught each task alone, which takes about as long again.
    watch : callable
        Told of each task that was learned, and of the accuracy so far.

    Examples
    --------
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.protocol.stream import Stream
    >>> from kenyon_lab.protocol.teaching import teach
    >>> from kenyon_lab.methods.fly import Fly
    >>> outcome = teach(Fly, Stream(load("digits")))
    >>> bool(outcome.R[-1].min() > 0.8)
    True
    """
    tests = [stream.tested(task) for task in range(len(stream))]
    n_tested = np.array([len(y) for _, y in tests])
    R = np.full((len(stream), len(stream)), np.nan)
    learn_seconds, predict_seconds = np.zeros((2, len(stream)))
    # Before anything is measured: what must be imported for it is no part of learning.
    method = make()
    with PeakMemory() as memory:
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
            watch(task, float(accuracy_so_far(R[: task + 1], n_tested)[-1]))
    return Outcome(
        R,
        n_tested,
        _learn_alone(make, stream, tests) if alone else None,
        learn_seconds,
        predict_seconds,
        memory.nbytes,
        int(method.n_parameters),
        int(method.n_stored),
        int(method.n_shown),
    )


def _learn_alone(
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
    """Return the accuracy on each of some tests, all predicted in one go."""
    X, y = (np.concatenate(part) for part in zip(*tests, strict=True))
    right = method.predict(X) == y if len(y) else np.empty(0)
    ends = np.cumsum([len(y) for _, y in tests])
    parts = np.split(right, ends[:-1])
    return np.array([part.mean() if len(part) else np.nan for part in parts])
