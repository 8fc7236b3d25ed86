"""Forgetting of a first class while a second is learned, by perceptron v1 and by v4, the fly."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.methods.perceptron import learn
from kenyon_lab.theory.models import FLY_CODE, MNIST_LAYER, MNIST_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    Codes = sparse.csr_matrix[Any]
    Weights = NDArray[np.float64]
    Teach = Callable[[Weights, Codes, int], None]
    Pair = tuple[int, int]

DIGITS = range(10)
SHOWN: dict[str, Pair] = {"alike": (3, 5), "unlike": (3, 4)}
N_ORDERS = 10
"""Sample orders in which the pairs of `SHOWN` are taught."""

MILESTONES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
EARLY = 10
"""Samples of the second class at the early comparison of the two rules."""

CAP = 255 / MNIST_MODEL["learning_rate"]
"""The sum of levels at which a weight of the FlyModel saturates."""

FIRST, SECOND = 1, 0
"""Columns of the weights. A tie goes to the second class: otherwise v1 would be right about all
samples of the first class from the start, and would learn nothing from them."""

LEARNED, HALF = 0.9, 0.5
"""Accuracies at which a class counts as learned, and as half lost."""


def teach_v1(weights: Weights, codes: Codes, target: int) -> None:
    """On a mistake, strengthen the target and weaken the predicted class."""
    learn(weights, codes, np.full(codes.shape[0], target), always=False, weaken=True)


def teach_v4(weights: Weights, codes: Codes, target: int) -> None:
    """Strengthen the target up to the cap, and change no other class: the FlyModel."""
    weights[:, target] = np.minimum(weights[:, target] + codes.sum(axis=0).A1, CAP)


VERSIONS: dict[str, Teach] = {"v1": teach_v1, "v4": teach_v4}


def measure(seed: int) -> dict[str, Any]:
    """Teach every ordered pair of MNIST digits; test on all test samples of both.

    Every digit has as many training samples as the rarest one. The seed draws the wiring and the
    order of the samples, and selects the encoder.
    """
    mnist = load(dataset_of_seed("mnist20", seed))
    coder = SparseCoder(**MNIST_LAYER, **FLY_CODE, random_state=seed).fit(mnist.X_test)
    X = {digit: mnist.X_train[mnist.y_train == digit] for digit in DIGITS}
    tested = {digit: coder.levels(mnist.X_test[mnist.y_test == digit]) for digit in DIGITS}
    milestones = [*MILESTONES, min(len(samples) for samples in X.values())]
    rng = np.random.default_rng(seed)

    def teach_in_new_order(pairs: Sequence[Pair]) -> dict[str, NDArray[np.float64]]:
        taught = {
            digit: encode_steps(coder, rng.permutation(X[digit]), milestones)
            for digit in sorted({digit for pair in pairs for digit in pair})
        }
        return {
            version: teach_pairs(teach, pairs, taught, tested)
            for version, teach in VERSIONS.items()
        }

    pairs = list(permutations(DIGITS, 2))
    of_all = teach_in_new_order(pairs)
    shown = [teach_in_new_order(list(SHOWN.values())) for _ in range(N_ORDERS)]
    return {
        "milestones": milestones,
        "early": EARLY,
        "digits": {name: list(pair) for name, pair in SHOWN.items()},
        "all": {version: describe(of_all[version], milestones) for version in VERSIONS},
        **{
            name: {
                version: describe(np.array([one[version][i] for one in shown]), milestones)
                for version in VERSIONS
            }
            for i, name in enumerate(SHOWN)
        },
        "ends": {version: list_ends(pairs, of_all[version]) for version in VERSIONS},
    }


def encode_steps(coder: SparseCoder, X: NDArray[Any], milestones: Sequence[int]) -> list[Codes]:
    """Return the codes of the samples from each milestone to the next."""
    codes = coder.levels(X)
    return [codes[start:stop] for start, stop in pairwise(milestones)]


def teach_pairs(
    teach: Teach,
    pairs: Sequence[Pair],
    taught: Mapping[int, Sequence[Codes]],
    tested: Mapping[int, Codes],
) -> NDArray[np.float64]:
    """Return the accuracies by pair, by milestone, and on the first class and the second."""
    trained = {}
    for first in {first for first, _ in pairs}:
        trained[first] = np.zeros((tested[first].shape[1], 2))
        for codes in taught[first]:
            teach(trained[first], codes, FIRST)
    return np.array(
        [
            teach_second(
                teach, trained[first].copy(), taught[second], tested[first], tested[second]
            )
            for first, second in pairs
        ]
    )


def teach_second(
    teach: Teach, weights: Weights, taught: Sequence[Codes], *tested: Codes
) -> list[list[float]]:
    """Return the accuracies on both classes before the second is learned and after each step."""
    accuracies = [_test(weights, tested)]
    for codes in taught:
        teach(weights, codes, SECOND)
        accuracies.append(_test(weights, tested))
    return accuracies


def describe(accuracies: NDArray[np.float64], milestones: Sequence[int]) -> dict[str, Any]:
    """Summarise several runs: mean, deviation, and the numbers that the paper's statements need.

    These are the accuracy on both classes early and at the end, the samples of the second class
    until it is learned, the loss of the first class at the end, and the samples until half of it
    is lost; None means never.
    """
    curves = {
        "first": accuracies[..., 0],
        "second": accuracies[..., 1],
        "both": accuracies.mean(axis=-1),
    }
    mean = {name: curve.mean(axis=0) for name, curve in curves.items()}
    return {
        "mean": {name: curve.round(4).tolist() for name, curve in mean.items()},
        "deviation": {name: curve.std(axis=0).round(4).tolist() for name, curve in curves.items()},
        "both_early": round(float(mean["both"][list(milestones).index(EARLY)]), 4),
        "both_at_end": round(float(mean["both"][-1]), 4),
        "learned_after": _first(milestones, mean["second"] >= LEARNED),
        "lost_at_end": round(float(mean["first"][0] - mean["first"][-1]), 4),
        "half_lost_after": _first(milestones, mean["first"] <= HALF),
    }


def list_ends(pairs: Sequence[Pair], accuracies: NDArray[np.float64]) -> list[list[float]]:
    """Return for each pair its first class, its second, and the accuracies on both at the end."""
    ends = accuracies[:, -1].round(4).tolist()
    return [[*pair, *end] for pair, end in zip(pairs, ends, strict=True)]


def _test(weights: Weights, tested: Sequence[Codes]) -> list[float]:
    return [
        float(((codes @ weights).argmax(axis=1) == target).mean())
        for codes, target in zip(tested, (FIRST, SECOND), strict=True)
    ]


def _first(milestones: Sequence[int], reached: NDArray[np.bool_]) -> int | None:
    return milestones[int(reached.argmax())] if reached.any() else None
