"""Prototypes with arbitrary labels, before and after the coding."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.theory import separation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64] | sparse.csr_matrix[Any]

N_INPUTS = 50
FLY: dict[str, Any] = {"n_cells": 2000, "fan_in": 6, "n_active": 100}
"""The fly's own sizes, as the paper gives them: 50 inputs, 6 to a cell, 5 % of 2000 active."""

N_PROTOTYPES = (10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 200)
N_TRIALS = 10
N_ON_RING, N_DIRECTIONS = 8, 720


def measure(seed: int) -> dict[str, Any]:
    """Label prototypes at random, half of them each way, and ask what can tell the halves apart.

    For the eye, eight prototypes on a circle. For the numbers, random directions in 50 dimensions:
    the share of trials in which some linear rule is right about all, and that in which the rule of
    the class means is, which is what the fly learns. The seed draws prototypes, labels and wiring.
    """
    rng = np.random.default_rng(seed)
    return {
        "n_inputs": N_INPUTS,
        **FLY,
        "n_trials": N_TRIALS,
        "ring": label_ring(rng, seed),
        "n_prototypes": list(N_PROTOTYPES),
        "shares": count_separable(rng, seed),
    }


def count_separable(rng: np.random.Generator, seed: int) -> dict[str, dict[str, list[float]]]:
    """Return the shares of trials, by rule, then for inputs and codes, then by how many there are.

    A rule is either any linear one or that of the means.
    """
    verdicts = np.empty((len(N_PROTOTYPES), N_TRIALS, 2, 2), dtype=bool)
    coder = SparseCoder(**FLY, random_state=seed).fit(np.zeros((1, N_INPUTS)))
    for row, n in enumerate(N_PROTOTYPES):
        for trial in range(N_TRIALS):
            X, y = rng.standard_normal((n, N_INPUTS)), draw_labels(rng, n)
            for column, points in enumerate((X, coder.transform(X))):
                verdicts[row, trial, :, column] = is_separable(points, y), separation(points, y) > 0
    shares = verdicts.mean(axis=1).round(4)
    return {
        rule: {space: shares[:, i, j].tolist() for j, space in enumerate(("inputs", "codes"))}
        for i, rule in enumerate(("linear", "means"))
    }


def draw_labels(rng: np.random.Generator, n: int) -> NDArray[np.intp]:
    """Return arbitrary labels, 0 and 1, as many of each."""
    return rng.permutation(n) % 2


def is_separable(X: Points, y: NDArray[np.intp]) -> bool:
    """Tell whether a linear rule with a bias is right about all points of two classes.

    A linear program looks for a rule by which every point is on its side with a margin of 1, and
    adds up how much is missing.
    """
    n_points, n_features = X.shape
    sides = sparse.diags(np.where(y == 1, -1.0, 1.0))
    with_bias = sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix(np.ones((n_points, 1)))])
    free = n_features + 1
    missing: Any = linprog(
        np.repeat([0.0, 1.0], [free, n_points]),
        A_ub=sparse.hstack([sides @ with_bias, -sparse.identity(n_points)]),
        b_ub=-np.ones(n_points),
        bounds=[(None, None)] * free + [(0, None)] * n_points,
        method="highs-ds",
    ).fun
    # Nothing, or at least the whole margin of a point on the wrong side: no close decision.
    return bool(missing < 0.5)


def label_ring(rng: np.random.Generator, seed: int) -> dict[str, Any]:
    """Return labels on a circle that no line tells apart, the best line, and what the fly makes.

    Each of the 50 inputs answers to a direction of its own with the cosine of the angle to it. So
    they are linear in the plane, and a linear rule on them is a line.
    """
    angles = _around(N_ON_RING)
    X, plane = _sense(angles), np.column_stack([np.cos(angles), np.sin(angles)])
    labels = draw_labels(rng, N_ON_RING)
    while is_separable(plane, labels):
        labels = draw_labels(rng, N_ON_RING)
    fly = FlyClassifier(**FLY, learning_rate=0.01, random_state=seed).fit(X, labels)
    return {
        "labels": labels.tolist(),
        "line": best_line(labels),
        "fly": fly.predict(_sense(_around(N_DIRECTIONS))).tolist(),
        "n_right": int((fly.predict(X) == labels).sum()),
    }


def best_line(labels: NDArray[np.intp]) -> dict[str, int]:
    """Return the arc that a line cuts off a circle of prototypes with the fewest mistakes.

    The arc is told by its first prototype, how many it has, and the class that these are told to
    be of; all others are told to be of the other.
    """
    n = len(labels)

    def count_right(line: tuple[int, int, int]) -> int:
        first, length, inside = line
        on_arc = (np.arange(n) - first) % n < length
        return int((np.where(on_arc, inside, 1 - inside) == labels).sum())

    line = max(product(range(n), range(1, n // 2 + 1), (0, 1)), key=count_right)
    first, length, inside = line
    return {"first": first, "length": length, "inside": inside, "n_right": count_right(line)}


def _sense(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cos(angles[:, np.newaxis] - _around(N_INPUTS))


def _around(n: int) -> NDArray[np.float64]:
    return np.arange(n) * 2 * np.pi / n
