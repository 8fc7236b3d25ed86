"""Claims about separation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.margins import margins, separation
from kenyon_lab.theory.models import CLINC_LAYER, FLY_CODE, MNIST_LAYER

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_POINTS, N_SEEDS = 100_000, 5
DATASETS: dict[str, dict[str, Any]] = {
    "mnist20": MNIST_LAYER,
    "clinc150": CLINC_LAYER,
}
"""Sizes of the first layer by dataset."""


def check_rule(quick: bool) -> CheckResult:
    """Compare the sign of gamma with the rule in exact integers, on small instances."""
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
    return CheckResult(
        agreed == n_instances and 0 < separated < n_instances,
        f"{agreed:,} of {n_instances:,} agree; gamma was above 0 in {separated:,}",
    )


def is_rule_right(X: NDArray[np.int64], y: NDArray[np.intp]) -> bool:
    """Return whether the class-mean rule is right about all points without a tie, in integers."""
    counts = np.bincount(y)
    sums = np.stack([X[y == label].sum(axis=0) for label in range(len(counts))])
    products = X @ sums.T
    return all(
        products[i, own] * counts[other] > products[i, other] * counts[own]
        for i, own in enumerate(y)
        for other in range(len(counts))
        if other != own
    )


def check_real(quick: bool) -> CheckResult:
    """Compare margins before and after coding, with several wirings."""
    found = {name: compare_margins(name, quick) for name in DATASETS}
    phrases = []
    for name, one in found.items():
        shares, gammas = np.array(one["shares"]), np.array(one["gammas"])
        phrases.append(
            f"{name}, {len(one['before']):,} points: {one['share_before']:.3f} before, "
            f"{shares.mean():.3f}±{shares.std(ddof=1):.3f} after; gamma {one['before'].min():.2f} "
            f"before, {gammas.mean():.2f}±{gammas.std(ddof=1):.2f} after, in units of the mean "
            "square"
        )
    held = all(
        one["before"].min() < 0 > max(one["gammas"]) and min(one["shares"]) > one["share_before"]
        for one in found.values()
    )
    return CheckResult(held, "; ".join(phrases), found)


def compare_margins(name: str, quick: bool) -> dict[str, Any]:
    """Return margins before and after coding, and the share above 0 for each wiring."""
    dataset = load(name)
    chosen = np.random.default_rng(0).permutation(len(dataset.X_train))
    chosen = chosen[: 2000 if quick else N_POINTS]
    X, y = dataset.X_train[chosen], dataset.y_train[chosen]
    # The code ignores the length of an input, so inputs are compared at length 1.
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    before = _relative(margins(X, y), X)
    after = []
    for seed in range(2 if quick else N_SEEDS):
        codes = SparseCoder(**DATASETS[name], **FLY_CODE, random_state=seed).fit_transform(X)
        after.append(_relative(margins(codes, y), codes))
    return {
        "before": before,
        "after": after[0],
        "share_before": float((before > 0).mean()),
        "shares": [float((one > 0).mean()) for one in after],
        "gammas": [float(one.min()) for one in after],
    }


def _relative(found: NDArray[np.float64], X: Any) -> NDArray[np.float64]:
    """Return margins in units of the points' mean square, which makes scales comparable."""
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    relative: NDArray[np.float64] = found / (squares.sum() / X.shape[0])
    return relative


CLAIMS = (
    Claim(
        "rule",
        "The class-mean rule is right about every point without a tie if and only if gamma > 0.",
        "small random integer instances, against the rule computed without rounding",
        check_rule,
    ),
    Claim(
        "real-margins",
        "Real classes are separated neither before nor after coding; but after coding more points "
        "are nearer to the mean of their own class than to any other.",
        "the share of points with a margin above 0 on mnist20 and clinc150, inputs of length 1, "
        "mean and standard deviation over five wirings",
        check_real,
    ),
)
