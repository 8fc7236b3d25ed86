"""Two inputs of different classes that share cells, learned one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.methods.perceptron import Perceptron
from kenyon_lab.theory.forgetting import VERSIONS, margins
from kenyon_lab.theory.models import FLY_CODE, MNIST_LAYER

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from kenyon_lab.theory.forgetting import Version

FIRST, SECOND, UNLIKE = 3, 5, 4
"""Two similar digits, and one for comparison that differs more from the first."""


def measure(seed: int) -> dict[str, Any]:
    """Teach a '3', then a '5', to untrained perceptrons of three versions.

    They are the '3' and the '5' of MNIST's test samples that share most cells. For comparison, all
    pairs of a '3' and a '5', and of a '3' and a '4', are judged by the products of their codes. The
    seed draws the wiring, and selects the encoder.
    """
    mnist = load(dataset_of_seed("mnist20", seed))
    samples = {digit: mnist.X_test[mnist.y_test == digit] for digit in (FIRST, SECOND, UNLIKE)}
    coder = SparseCoder(**MNIST_LAYER, **FLY_CODE, random_state=seed).fit(mnist.X_test)
    codes = {digit: coder.levels(X).astype(np.int64) for digit, X in samples.items()}
    n_shared = ((codes[FIRST] > 0).astype(int) @ (codes[SECOND] > 0).astype(int).T).toarray()
    one, two = np.unravel_index(n_shared.argmax(), n_shared.shape)
    levels = np.stack([codes[FIRST][one].toarray()[0], codes[SECOND][two].toarray()[0]])
    cells = order_cells(levels)
    pair = np.stack([samples[FIRST][one], samples[SECOND][two]])
    return {
        "digits": [FIRST, SECOND],
        "unlike": UNLIKE,
        "n_active": MNIST_LAYER["n_active"],
        "n_shared": int(n_shared.max()),
        "levels": levels[:, cells].tolist(),
        "versions": {
            f"v{version}": follow(version, seed, pair, levels[0], cells, mnist.n_classes)
            for version in VERSIONS
        },
        "pairs": {
            str(digit): judge_pairs(codes[FIRST], codes[digit]) for digit in (SECOND, UNLIKE)
        },
    }


def order_cells(levels: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the active cells of two codes: first those of the first only, the shared, the rest."""
    one, two = levels
    active = np.flatnonzero(one + two)
    group = (two > 0).astype(int) + (one == 0)
    return active[np.lexsort((-(one + two)[active], group[active]))]


def follow(
    version: Version,
    seed: int,
    pair: NDArray[Any],
    code: NDArray[np.int64],
    cells: NDArray[Any],
    n_classes: int,
) -> dict[str, Any]:
    """Teach both inputs of a pair to an untrained perceptron.

    `code` holds the levels of the first input. Returns, before and after each input, the weights
    from `cells` to both classes in 255ths and the scores of the first input; and the class
    predicted for the first input after each.
    """
    perceptron = Perceptron(rule=version, **MNIST_LAYER, seed=seed)
    perceptron.begin(pair.shape[1], n_classes)
    labels = [FIRST, SECOND]
    weights, predicted = [perceptron.weights[:, labels].T], []
    for x, label in zip(pair, labels, strict=True):
        perceptron.learn_task(x[np.newaxis], np.array([label]))
        weights.append(perceptron.weights[:, labels].T)
        predicted.append(int(perceptron.predict(pair[:1])[0]))
    return {
        "weights": np.array(weights)[..., cells].astype(int).tolist(),
        "scores": (np.array(weights) @ code / 255**2).round(3).tolist(),
        "taken_for": predicted,
    }


def judge_pairs(first: sparse.csr_matrix[Any], second: sparse.csr_matrix[Any]) -> dict[str, Any]:
    """Return the share of all pairs whose first input ends up predicted as the second's class.

    "weakened": the second input weakens the first's class, as under v1 and v3. "split": it does
    not, as under v4.
    """
    by_rule = {
        "weakened": margins(first, second, weakened=True),
        "split": margins(first, second, weakened=False),
    }
    return {
        "n_pairs": by_rule["split"].size,
        **{rule: round(float((margin < 0).mean()), 7) for rule, margin in by_rule.items()},
    }
