"""Prototypes with arbitrary labels, before and after sparse coding."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.theory import separation
from kenyon_lab.theory.models import FLY, FLY_CODE, FRUIT_FLY, N_GLOMERULI

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64] | sparse.csr_matrix[Any]

N_PROTOTYPES = (10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 200)
N_TRIALS = 10
N_ON_RING, N_DIRECTIONS = 8, 720


def measure(seed: int) -> dict[str, Any]:
    """Label prototypes at random, and test which rules classify all of them.

    Eight prototypes lie on a circle, to be drawn. The others are random directions in 50
    dimensions: for these, the share of trials in which some linear rule is right about all, and the
    share in which the class-mean rule is, which is the rule that the fly learns. The seed draws
    prototypes, labels and wiring.
    """
    rng = np.random.default_rng(seed)
    return {
        "n_inputs": N_GLOMERULI,
        **FRUIT_FLY,
        "n_trials": N_TRIALS,
        "ring": label_ring(rng, seed),
        "n_prototypes": list(N_PROTOTYPES),
        "shares": count_separable(rng, seed),
    }


def count_separable(rng: np.random.Generator, seed: int) -> dict[str, dict[str, list[float]]]:
    """Return the share of separable trials by rule, by space, and by number of prototypes.

    The rules are "linear", any linear rule, and "means", the class-mean rule; the spaces are inputs
    and codes.
    """
    separable = np.empty((len(N_PROTOTYPES), N_TRIALS, 2, 2), dtype=bool)
    coder = SparseCoder(**FRUIT_FLY, **FLY_CODE, random_state=seed)
    coder.fit(np.zeros((1, N_GLOMERULI)))
    for row, n in enumerate(N_PROTOTYPES):
        for trial in range(N_TRIALS):
            X, y = rng.standard_normal((n, N_GLOMERULI)), draw_labels(rng, n)
            spaces: tuple[Points, ...] = (X, coder.transform(X))
            for column, points in enumerate(spaces):
                separable[row, trial, :, column] = (
                    is_separable(points, y),
                    separation(points, y) > 0,
                )
    shares = separable.mean(axis=1).round(4)
    return {
        rule: {space: shares[:, i, j].tolist() for j, space in enumerate(("inputs", "codes"))}
        for i, rule in enumerate(("linear", "means"))
    }


def draw_labels(rng: np.random.Generator, n: int) -> NDArray[np.intp]:
    """Return random labels, 0 and 1, equally many of each."""
    return rng.permutation(n) % 2


def is_separable(X: Points, y: NDArray[np.intp]) -> bool:
    """Return whether a linear rule with a bias separates the points of two classes.

    A linear program minimises the sum of the hinge losses at a margin of 1.
    """
    n_points, n_features = X.shape
    sides = sparse.diags(np.where(y == 1, -1.0, 1.0))
    with_bias = sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix(np.ones((n_points, 1)))])
    free = n_features + 1
    loss: Any = linprog(
        np.repeat([0.0, 1.0], [free, n_points]),
        A_ub=sparse.hstack([sides @ with_bias, -sparse.identity(n_points)]),
        b_ub=-np.ones(n_points),
        bounds=[(None, None)] * free + [(0, None)] * n_points,
        method="highs-ds",
    ).fun
    # The loss is either 0 or at least the whole margin of a misclassified point.
    return bool(loss < 0.5)


def label_ring(rng: np.random.Generator, seed: int) -> dict[str, Any]:
    """Return labels on a circle that no line separates, the best line, and the fly's predictions.

    Each of the 50 inputs responds with the cosine of the angle to its preferred direction. So the
    inputs are linear in the plane, and a linear rule on them is a line.
    """
    angles = _angles(N_ON_RING)
    X, plane = _respond(angles), np.column_stack([np.cos(angles), np.sin(angles)])
    labels = draw_labels(rng, N_ON_RING)
    while is_separable(plane, labels):
        labels = draw_labels(rng, N_ON_RING)
    fly = FlyClassifier(**FRUIT_FLY, **FLY, learning_rate=0.01, random_state=seed).fit(X, labels)
    return {
        "labels": labels.tolist(),
        "line": best_line(labels),
        "fly": fly.predict(_respond(_angles(N_DIRECTIONS))).tolist(),
        "n_right": int((fly.predict(X) == labels).sum()),
    }


def best_line(labels: NDArray[np.intp]) -> dict[str, int]:
    """Return the line that classifies a circle of prototypes with the fewest mistakes.

    The line cuts off an arc, given by its first prototype, its number of prototypes, and the class
    predicted inside; the other class is predicted outside.
    """
    n = len(labels)

    def count_right(line: tuple[int, int, int]) -> int:
        first, length, inside = line
        on_arc = (np.arange(n) - first) % n < length
        return int((np.where(on_arc, inside, 1 - inside) == labels).sum())

    line = max(product(range(n), range(1, n // 2 + 1), (0, 1)), key=count_right)
    first, length, inside = line
    return {"first": first, "length": length, "inside": inside, "n_right": count_right(line)}


def _respond(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cos(angles[:, np.newaxis] - _angles(N_GLOMERULI))


def _angles(n: int) -> NDArray[np.float64]:
    return np.arange(n) * 2 * np.pi / n
