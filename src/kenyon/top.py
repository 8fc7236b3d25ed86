"""The most probable classes of each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.calibration import calibrate_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon._native import Codes
    from kenyon.circuit import Snapshot
    from kenyon.readouts import Readout
    from kenyon.readouts.readout import Floats


class TopClasses(NamedTuple):
    """The most probable classes of each sample, the best first."""

    labels: NDArray[Any]
    """The labels, of shape (n_samples, k)."""
    probabilities: NDArray[np.float64]
    """Their probabilities, of the same shape."""


def top_classes(
    snapshot: Snapshot, readout: Readout, codes: Codes, n_threads: int, k: int
) -> NDArray[Any]:
    """Return the labels and probabilities of the k best classes, as a structured array."""
    scores, classes = readout.scores(snapshot, codes, n_threads), snapshot.memory.classes
    ranks = best_ranks(scores, min(k, len(classes)))
    best = np.take_along_axis(scores, ranks, axis=1)
    found = calibrate_scores(snapshot, readout, scores, n_threads)
    probabilities = np.take_along_axis(found, ranks, axis=1)
    # Probabilities may round to equal numbers, and scores then decide.
    order = np.lexsort((-best, -probabilities), axis=1)
    types = [("labels", classes.dtype), ("probabilities", np.float64)]
    top = np.empty(ranks.shape, dtype=types)
    top["labels"] = classes[np.take_along_axis(ranks, order, axis=1)]
    top["probabilities"] = np.take_along_axis(probabilities, order, axis=1)
    return top


def best_ranks(scores: Floats, k: int) -> NDArray[np.intp]:
    """Return the ranks of the k highest scores of each row, ascending; of equals, the first.

    The time is linear in the number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> print(best_ranks(np.array([[0.0, 2.0, 1.0, 1.0, 2.0]]), 3))
    [[1 2 4]]
    """
    n_classes = scores.shape[1]
    ranks = np.argpartition(scores, n_classes - k, axis=1)[:, n_classes - k :]
    lowest = np.take_along_axis(scores, ranks, axis=1).min(axis=1, keepdims=True)
    # Where more than k are as high as that, argpartition chooses any of the equals.
    for row in np.flatnonzero(np.count_nonzero(scores >= lowest, axis=1) > k):
        higher = np.flatnonzero(scores[row] > lowest[row])
        equal = np.flatnonzero(scores[row] == lowest[row])
        ranks[row] = np.concatenate([higher, equal[: k - len(higher)]])
    ranks.sort(axis=1)
    return ranks
