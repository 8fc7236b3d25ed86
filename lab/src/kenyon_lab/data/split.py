"""The train-test split of samples that come without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEST_SHARE = 0.2


def split(
    X: NDArray[Any], y: NDArray[Any], seed: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return X_train, y_train, X_test, y_test: a random fifth of every class is the test set.

    Unlike scikit-learn's stratified split, this one accepts classes of any size: all samples of a
    class of one or two go to the training set. The order of the samples does not change.
    """
    generator = np.random.default_rng(seed)
    tested = np.zeros(len(y), dtype=bool)
    by_class = np.argsort(y, kind="stable")
    starts = np.flatnonzero(y[by_class][1:] != y[by_class][:-1]) + 1
    for members in np.split(by_class, starts):
        drawn = generator.permutation(members)
        tested[drawn[: round(TEST_SHARE * len(members))]] = True
    return X[~tested], y[~tested], X[tested], y[tested]
