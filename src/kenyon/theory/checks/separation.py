"""What is claimed of separation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon.data import load
from kenyon.theory.claim import Claim, Outcome
from kenyon.theory.margins import margins, separation

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_POINTS = 100_000
DATASETS: dict[str, dict[str, Any]] = {
    "mnist20": {"n_cells": 3200, "fan_in": 10, "n_active": 160},
    "clinc150": {},
}
"""Sizes of the code: the paper's where it has some, or the usual ones."""


def check_rule(quick: bool) -> Outcome:
    """Compare the sign of gamma with what the rule says in whole numbers, on small instances."""
    rng = np.random.default_rng(0)
    n_instances = 300 if quick else 2000
    agreed, separated = 0, 0
    for _ in range(n_instances):
        n, n_classes = int(rng.integers(3, 9)), int(rng.integers(2, 4))
        X = rng.integers(-3, 4, size=(n, int(rng.integers(1, 5))))
        y = rng.permutation(np.arange(n) % n_classes)
        is_separated = separation(X, y) > 1e-9
        separated += is_separated
        agreed += is_separated == is_rule_right(X, y)
    return Outcome(
        agreed == n_instances and 0 < separated < n_instances,
        f"{agreed:,} of {n_instances:,} agree; gamma was above 0 in {separated:,}",
    )


def is_rule_right(X: NDArray[np.int64], y: NDArray[np.intp]) -> bool:
    """Tell, in whole numbers, whether each point's product with its own class mean is the largest.

    A tie is not right.
    """
    counts = np.bincount(y)
    sums = np.stack([X[y == label].sum(axis=0) for label in range(len(counts))])
    products = X @ sums.T
    return all(
        products[i, own] * counts[other] > products[i, other] * counts[own]
        for i, own in enumerate(y)
        for other in range(len(counts))
        if other != own
    )


def check_real(quick: bool) -> Outcome:
    """Compare margins before and after the coding."""
    found: dict[str, Any] = {}
    told = []
    for name, sizes in DATASETS.items():
        dataset = load(name)
        n = min(len(dataset.X_train), 3000 if quick else N_POINTS)
        chosen = np.random.default_rng(0).permutation(len(dataset.X_train))[:n]
        X, y = dataset.X_train[chosen], dataset.y_train[chosen]
        # The code ignores the length of an input; so it is compared with what does as well.
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        codes = SparseCoder(**sizes).fit_transform(X)
        start = time.perf_counter()
        after = margins(codes, y)
        seconds = time.perf_counter() - start
        found[name] = {
            "before": _relative(margins(X, y), X),
            "after": _relative(after, codes),
        }
        before_share, after_share = ((one > 0).mean() for one in found[name].values())
        told.append(
            f"{name}, {n:,} points: {before_share:.3f} before, {after_share:.3f} after, gamma "
            f"{found[name]['before'].min():.2f} and {found[name]['after'].min():.2f} of the mean "
            f"square ({seconds:.1f} s for the codes)"
        )
    held = all(
        one["before"].min() < 0 > one["after"].min()
        and (one["after"] > 0).mean() > (one["before"] > 0).mean()
        for one in found.values()
    )
    return Outcome(held, "; ".join(told), found)


def _relative(found: NDArray[np.float64], X: Any) -> NDArray[np.float64]:
    """Return margins in units of the points' mean square, which other scales leave alone."""
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    relative: NDArray[np.float64] = found / (squares.sum() / X.shape[0])
    return relative


CLAIMS = (
    Claim(
        "rule",
        "The rule of the class means is right about every point, without a tie, exactly where "
        "gamma > 0.",
        "small random instances in whole numbers, against the rule worked out without rounding",
        check_rule,
    ),
    Claim(
        "real-margins",
        "Real classes are separated neither before nor after the coding; but the coding brings "
        "more points nearer to the mean of their own class than to any other.",
        "the share of points with a margin above 0 on mnist20 and clinc150, inputs of length 1",
        check_real,
    ),
)
