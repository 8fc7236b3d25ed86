"""Measures of continual learning, computed from the accuracies on all tasks after each task.

`R[i, j]` is the accuracy on task j after task i was learned, NaN above the diagonal and for tasks
without test samples.

Examples
--------
>>> import numpy as np
>>> R = np.array([[1.0, np.nan], [0.25, 0.75]])
>>> accuracy_so_far(R, n_tested=np.array([100, 300]))
array([1.   , 0.625])
>>> memory_loss(R)
array([0.75, 0.  ])
>>> backward_transfer(R)
-0.75
>>> intransigence(R, single_task=np.array([1.0, 1.0]))
array([0.  , 0.25])
>>> print(mean(np.array([0.5, np.nan, 1.0])), mean(np.array([])))
0.75 nan
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def accuracy_so_far(R: Numbers, n_tested: NDArray[np.integer]) -> Numbers:
    """Return, after each task, the accuracy over all samples of the tasks learned."""
    right = np.nan_to_num(R) * n_tested
    learned = np.tril(np.broadcast_to(n_tested, R.shape)).sum(axis=1)
    accuracies: Numbers = np.full(len(R), np.nan)
    np.divide(right.sum(axis=1), learned, out=accuracies, where=learned > 0)
    return accuracies


def memory_loss(R: Numbers) -> Numbers:
    """Return for each task its accuracy when it was learned minus that at the end.

    Read it beside `np.diag(R)`, the accuracy when learned: a model that learns nothing loses
    nothing.
    """
    loss: Numbers = np.diag(R) - R[-1]
    return loss


def backward_transfer(R: Numbers) -> float:
    """Return the mean change of the accuracy of earlier tasks by later ones."""
    return mean((R[-1] - np.diag(R))[:-1])


def intransigence(R: Numbers, single_task: Numbers) -> Numbers:
    """Return for each task the accuracy of a single-task model minus that when it was learned."""
    return single_task - np.diag(R)


def mean(numbers: Numbers) -> float:
    """Return the mean without NaN, and NaN if nothing else is left."""
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else float("nan")
