"""Claims about the class-mean rule with unequal counts and with errors in the means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.margins import class_means, error_tolerance, margins, separation
from kenyon_lab.theory.models import FLY_CODE, FRUIT_FLY, MNIST_LAYER, N_GLOMERULI
from kenyon_lab.theory.overlap import find_winners

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PROTOTYPES, N_SEEDS = 16, 5
RATIOS = (1, 2, 3, 5, 10, 20, 50, 100)
LENGTHS = 2.0 ** np.arange(-2, 7.5, 0.5)
"""Lengths of errors in the means, in units of the tolerance."""


def check_shares(quick: bool) -> CheckResult:
    """Repeat the samples of one class until sums fail; then drop samples of odd classes."""
    X, y = draw_separated(np.random.default_rng(0))
    means = class_means(X, y)
    products = X @ means.T
    of_second = products[y == 1]
    bound = float((of_second[:, 1] / of_second[:, 0]).min())
    right = {}
    for ratio in (bound * 0.999, bound * 1.001):
        by_sums = (products * [ratio, 1]).argmax(axis=1) == y
        right[ratio] = float(by_sums.mean())
    below, above = right.values()
    found = starve_classes(200 if quick else 1000, 2 if quick else N_SEEDS)
    sums, divided = (np.array(found[rule]) for rule in ("sums", "means"))
    return CheckResult(
        separation(X, y) > 0 and below == 1 > above and sums[:, -1].max() < divided[:, -1].min(),
        f"{N_PROTOTYPES} separated codes: all right up to {bound:.2f} times as many samples of one "
        f"class, {above:.3f} above; mnist20 with {found['ratios'][-1]} times as many of every "
        f"other class: accuracy {_spread(sums[:, -1])}, divided by the counts "
        f"{_spread(divided[:, -1])} (equal counts: {_spread(divided[:, 0])})",
        found,
    )


def starve_classes(n_most: int, n_seeds: int) -> dict[str, Any]:
    """Return test accuracies on MNIST-20 with fewer samples of odd classes than of even ones.

    There is a row for each seed, which draws samples and wiring, and a column for each ratio.
    """
    runs = [starve_once(n_most, seed) for seed in range(n_seeds)]
    return {"ratios": RATIOS, **{rule: [run[rule] for run in runs] for rule in runs[0]}}


def starve_once(n_most: int, seed: int) -> dict[str, list[float]]:
    """Return the accuracies with sums and with means for each ratio."""
    mnist = load("mnist20")
    rng = np.random.default_rng(seed)
    where = [
        rng.permutation(np.flatnonzero(mnist.y_train == label))[:n_most]
        for label in range(mnist.n_classes)
    ]
    chosen = np.concatenate(where)
    rank = np.concatenate([np.arange(len(rows)) for rows in where])
    coder = SparseCoder(**MNIST_LAYER, **FLY_CODE, random_state=seed)
    codes, tested = coder.fit_transform(mnist.X_train[chosen]), coder.transform(mnist.X_test[::4])
    y, truth = mnist.y_train[chosen], mnist.y_test[::4]
    found: dict[str, list[float]] = {"sums": [], "means": []}
    for ratio in RATIOS:
        taken = rank < np.where(y % 2 == 1, n_most // ratio, n_most)
        means = class_means(codes[taken], y[taken])
        counts = np.bincount(y[taken])
        for name, weights in (("sums", counts[:, np.newaxis] * means), ("means", means)):
            found[name].append(float(((tested @ weights.T).argmax(axis=1) == truth).mean()))
    return found


def check_tolerance(quick: bool) -> CheckResult:
    """Move the means by random and by worst-case errors, below and above the tolerance."""
    rng = np.random.default_rng(1)
    n_trials = 20 if quick else 200
    X, y = draw_separated(rng)
    tolerance = error_tolerance(X, y)
    just_below, just_above = (move_against(X, y, tolerance * by) for by in (0.999, 1.001))
    reached = [reach(*draw_separated(rng, graded=True)) for _ in range(20)]
    lengths = LENGTHS * tolerance
    found: dict[str, Any] = {
        "lengths": LENGTHS,
        "worst": [move_against(X, y, length) for length in lengths],
        "random": [move_at_random(X, y, length, n_trials, rng) for length in lengths],
    }
    perfect = LENGTHS[np.logical_and.accumulate(np.array(found["random"]) == 1)]
    return CheckResult(
        just_below == 1 > just_above and perfect.max() >= 1 and min(reached) > 1 - 1e-9,
        f"worst-case errors of 0.999 gamma / (2 max ||x||): {just_below:.3f} of the points right,"
        f" of 1.001: {just_above:.3f}; random errors: all right up to {perfect.max():.0f} times "
        f"it; with graded codes an error of {np.mean(reached):.2f} times it ({min(reached):.2f} to "
        f"{max(reached):.2f}) breaks the rule",
        found,
    )


def move_at_random(
    X: Any, y: NDArray[np.intp], length: float, n_trials: int, rng: np.random.Generator
) -> float:
    """Return the share of points that are right under random errors of this length."""
    means = class_means(X, y)
    right = []
    for _ in range(n_trials):
        errors = rng.standard_normal(means.shape)
        errors *= length / np.linalg.norm(errors, axis=1, keepdims=True)
        right.append(((X @ (means + errors).T).argmax(axis=1) == y).mean())
    return float(np.mean(right))


def move_against(X: Any, y: NDArray[np.intp], length: float) -> float:
    """Return the share of points that are right under the worst errors of this length.

    The worst error is along the point: away from it in the mean of its own class, and towards it in
    all others.
    """
    means = class_means(X, y)
    right = []
    for x, own in zip(X.toarray(), y, strict=True):
        error = length * x / np.linalg.norm(x)
        moved = means + error
        moved[own] -= 2 * error
        right.append((moved @ x).argmax() == own)
    return float(np.mean(right))


def reach(X: Any, y: NDArray[np.intp]) -> float:
    """Return the smallest error that breaks the rule, in units of the tolerance."""
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
    return float((margins(X, y) / (2 * lengths)).min() / error_tolerance(X, y))


def draw_separated(rng: np.random.Generator, graded: bool = False) -> tuple[Any, NDArray[np.intp]]:
    """Return separated codes of random inputs with random labels.

    Winners have strength 1, or graded strengths from 0 to 1 like the fly's.
    """
    y = rng.permutation(N_PROTOTYPES) % 2
    while True:
        inputs = rng.standard_normal((N_PROTOTYPES, N_GLOMERULI))
        inputs -= inputs.mean(axis=1, keepdims=True)
        coder = SparseCoder(**FRUIT_FLY, **FLY_CODE).fit(inputs)
        codes = coder.transform(inputs) if graded else find_winners(coder, inputs)
        if separation(codes, y) > 0:
            return codes, y


def _spread(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.3f}±{values.std(ddof=1):.3f}"


CLAIMS = (
    Claim(
        "shares",
        "With unequal class shares the rule of sums can fail on separated classes; dividing by the "
        "counts restores the class-mean rule.",
        "separated codes, one class repeated up to and past the ratio that the products predict; "
        "mnist20 with fewer samples of odd classes, mean and standard deviation over five seeds",
        check_shares,
    ),
    Claim(
        "tolerance",
        "The class-mean rule stays perfect if the error in each mean is shorter than "
        "gamma / (2 max ||x||); the constant is tight for codes with equally many winners.",
        "means of separated codes with random and worst-case errors, just below and above",
        check_tolerance,
    ),
)
