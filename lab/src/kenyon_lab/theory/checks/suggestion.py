"""Claims about the parameters that the theory suggests."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from kenyon import FlyClassifier, SparseCoder
from kenyon.suggest import extra_variance, suggest
from kenyon_lab.data import load
from kenyon_lab.theory.checks.capacity import first_of_each
from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.models import FLY, FLY_CODE
from kenyon_lab.theory.overlap import find_winners

if TYPE_CHECKING:
    from kenyon_lab.data import Dataset

N_TESTED, TOLERANCE = 1500, 0.02
CELLS, FAN_IN, ACTIVE, RATES = (2000, 10_000), (0.1, 0.5), (0.01, 0.02, 0.05), (10, 20, 50)
"""A small grid: fan-in as a share of the features, learning rates times samples per class."""


def compare(dataset: Dataset, n_samples: int, quick: bool) -> tuple[float, float]:
    """Return the test accuracies of the best grid point and of the suggestion."""
    rows = first_of_each(dataset.y_train, n_samples)
    X, y = dataset.X_train[rows], dataset.y_train[rows]
    tested = np.random.default_rng(0).permutation(len(dataset.y_test))[:N_TESTED]

    def evaluate(parameters: dict[str, Any], *rates: float) -> float:
        fly = FlyClassifier(**parameters, **FLY).fit(X, y)
        scores = (
            fly.set_params(learning_rate=rate).score(dataset.X_test[tested], dataset.y_test[tested])
            for rate in rates
        )
        return float(max(scores))

    cells, fan_ins = (CELLS[:1], FAN_IN[:1]) if quick else (CELLS, FAN_IN)
    rates = [min(1.0, rate / n_samples) for rate in RATES]
    best = max(
        evaluate(
            {"n_cells": m, "fan_in": round(s * dataset.n_features), "n_active": round(a * m)},
            *rates,
        )
        for m, s, a in product(cells, fan_ins, ACTIVE)
    )
    suggested = suggest(dataset.n_features, dataset.n_classes, n_samples)
    return best, evaluate(suggested, suggested["learning_rate"])


def check_suggest(quick: bool) -> CheckResult:
    """Compare the suggestion with the best of a small grid."""
    cases = {"digits": 140, "mnist20": 100}
    if not quick:
        cases |= {"mnist20": 200, "clinc150": 50}
    found = {name: compare(load(name), n, quick) for name, n in cases.items()}
    return CheckResult(
        all(suggested >= best - TOLERANCE for best, suggested in found.values()),
        "; ".join(
            f"{name}: {suggested:.3f}, best of the grid {best:.3f}"
            for name, (best, suggested) in found.items()
        ),
    )


FACTOR, N_CELLS = 2, 4000
CASES = ((50, 6, 0.05), (100, 10, 0.05), (50, 6, 0.01), (100, 5, 0.05), (100, 50, 0.05))
"""Features, fan-in and share of winners."""


def measure_extra(n_features: int, fan_in: int, active: float, n_inputs: int) -> float:
    """Return the relative excess of the overlap's variance over cells and cosines."""
    X = np.random.default_rng(0).standard_normal((n_inputs, n_features))
    # A common offset changes no winner, but a negative one can leave too few positive sums.
    X -= X.mean(axis=1, keepdims=True)
    n_active = round(active * N_CELLS)
    winners = find_winners(SparseCoder(N_CELLS, fan_in, n_active, **FLY_CODE).fit(X), X)
    shared = (winners[: n_inputs // 2] @ winners[n_inputs // 2 :].T).toarray() / n_active
    by_cells = (1 - active) ** 2 / N_CELLS
    slope = np.exp(-(ndtri(active) ** 2)) / (2 * np.pi) / active
    return float((shared.var() - by_cells) * (n_features - 1) / slope**2 - 1)


def check_fan_in(quick: bool) -> CheckResult:
    """Compare the excess variance of the overlap of unrelated inputs with its prediction."""
    *skewed, even = [
        (extra_variance(s, d, a), measure_extra(d, s, a, 600 if quick else 2000))
        for d, s, a in CASES
    ]
    held = all(1 / FACTOR < measured / expected < FACTOR for expected, measured in skewed)
    return CheckResult(
        held and abs(even[1]) < min(measured for _, measured in skewed),
        "; ".join(
            f"{s} of {d}, {a:.0%} active: {measured:+.2f}, expected {expected:+.2f}"
            for (d, s, a), (expected, measured) in zip(CASES, [*skewed, even], strict=True)
        ),
    )


CLAIMS = (
    Claim(
        "fan-in",
        "A small fan-in s increases the variance of the overlap of unrelated inputs, relatively by "
        "about threshold² / s; a fan-in of half the inputs does not.",
        f"normal inputs; largest factor allowed: {FACTOR}",
        check_fan_in,
    ),
    Claim(
        "suggest",
        "`suggest`, which uses only the numbers of features, classes and samples, is within 2 "
        "points of the best of a grid search.",
        "a small grid, selected on the test samples, on scikit-learn's digits and on parts of "
        "MNIST-20 and CLINC150; benchmarks/suggest.py has a larger grid, and Tiny-100",
        check_suggest,
    ),
)
