"""What is read from the accuracies on all tasks after each of them.

`R[i, j]` is the accuracy on task j after task i was learned, NaN above the diagonal and where a
task has nothing to be tested on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def accuracy_so_far(R: Numbers, n_tested: NDArray[np.integer]) -> Numbers:
    """Return, after each task, the accuracy over all samples of the tasks learned.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, np.nan], [0.4, 0.7]])
    >>> accuracy_so_far(R, np.array([100, 200]))
    array([1. , 0.6])
    """
    right = np.nan_to_num(R) * n_tested
    learned = np.tril(np.broadcast_to(n_tested, R.shape)).sum(axis=1)
    accuracies: Numbers = np.full(len(R), np.nan)
    np.divide(right.sum(axis=1), learned, out=accuracies, where=learned > 0)
    return accuracies


def memory_loss(R: Numbers) -> Numbers:
    """Return for each task its accuracy when it was learned minus that at the end.

    It says little without `np.diag(R)`, what there was to lose: who never learns loses nothing.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, np.nan], [0.25, 0.75]])
    >>> memory_loss(R)
    array([0.75, 0.  ])
    """
    loss: Numbers = np.diag(R) - R[-1]
    return loss


def backward_transfer(R: Numbers) -> float:
    """Return how much later tasks changed the accuracy of earlier ones, on average.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, np.nan], [0.25, 0.75]])
    >>> backward_transfer(R)
    -0.75
    """
    return mean((R[-1] - np.diag(R))[:-1])


def intransigence(R: Numbers, alone: Numbers) -> Numbers:
    """Return for each task by how much a new model, taught nothing else, learned it better.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, np.nan], [0.25, 0.75]])
    >>> intransigence(R, alone=np.array([1.0, 1.0]))
    array([0.  , 0.25])
    """
    return alone - np.diag(R)


def mean(numbers: Numbers) -> float:
    """Return the mean of those that are numbers, and NaN if none is.

    Examples
    --------
    >>> import numpy as np
    >>> print(mean(np.array([0.5, np.nan, 1.0])), mean(np.array([])))
    0.75 nan
    """
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else float("nan")
