"""Two inputs of different classes that share cells, learned one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.methods.paper_sizes import SPARSE_LAYER
from kenyon_lab.methods.perceptron import Perceptron
from kenyon_lab.theory import forgetting
from kenyon_lab.theory.forgetting import VERSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from kenyon_lab.theory.forgetting import Version

FIRST, SECOND, UNLIKE = 3, 5, 4
"""Two digits that are alike, and one that is not like the first, to compare with."""

_SIZES = SPARSE_LAYER["mnist20"]


def measure(seed: int) -> dict[str, Any]:
    """Teach a '3', then a '5', to perceptrons of three versions that know nothing else.

    They are the two that share most cells among the test samples of MNIST. How unusual that is, is
    told by how many of all pairs of a '3' and a '5', or of a '3' and a '4', would fare alike. The
    seed draws the wiring.
    """
    mnist = load("mnist20")
    samples = {digit: mnist.X_test[mnist.y_test == digit] for digit in (FIRST, SECOND, UNLIKE)}
    coder = SparseCoder(**_SIZES, random_state=seed).fit(mnist.X_test)
    codes = {digit: coder.levels(X).astype(np.int64) for digit, X in samples.items()}
    n_shared = ((codes[FIRST] > 0).astype(int) @ (codes[SECOND] > 0).astype(int).T).toarray()
    one, two = np.unravel_index(n_shared.argmax(), n_shared.shape)
    levels = np.stack([codes[FIRST][one].toarray()[0], codes[SECOND][two].toarray()[0]])
    cells = order_cells(levels)
    pair = np.stack([samples[FIRST][one], samples[SECOND][two]])
    return {
        "digits": [FIRST, SECOND],
        "unlike": UNLIKE,
        "n_active": _SIZES["n_active"],
        "n_shared": int(n_shared.max()),
        "levels": levels[:, cells].tolist(),
        "versions": {
            f"v{version}": follow(version, seed, pair, cells, mnist.n_classes)
            for version in VERSIONS
        },
        "pairs": {
            str(digit): judge_pairs(codes[FIRST], codes[digit]) for digit in (SECOND, UNLIKE)
        },
    }


def order_cells(levels: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the cells that are active in two codes: the first's own, the shared, the second's."""
    one, two = levels
    active = np.flatnonzero(one + two)
    group = (two > 0).astype(int) + (one == 0)
    return active[np.lexsort((-(one + two)[active], group[active]))]


def follow(
    version: Version, seed: int, pair: NDArray[Any], cells: NDArray[Any], n_classes: int
) -> dict[str, Any]:
    """Teach the first of a pair, then the second, to a perceptron that knows nothing.

    Weights are told of the cells given, to the first's class and to the second's, in 255ths.
    """
    perceptron = Perceptron(rule=version, **_SIZES, seed=seed)
    perceptron.begin(pair.shape[1], n_classes)
    steps = forgetting.follow(perceptron, pair, (FIRST, SECOND))
    return {
        "weights": steps.weights[..., cells].astype(int).tolist(),
        "scores": steps.scores.round(3).tolist(),
        "taken_for": steps.taken_for,
    }


def judge_pairs(first: sparse.csr_matrix[Any], second: sparse.csr_matrix[Any]) -> dict[str, Any]:
    """Return the share of all pairs whose first is taken for the second's class in the end.

    Once with the first's class weakened by the second, as under v1 and v3, and once without, when
    the shared cells are split.
    """
    margins = {
        "weakened": forgetting.margins(first, second, weakened=True),
        "split": forgetting.margins(first, second, weakened=False),
    }
    return {
        "n_pairs": margins["split"].size,
        **{fate: round(float((margin < 0).mean()), 7) for fate, margin in margins.items()},
    }
