"""When decay is needed: the FlyModel with several decay rates, on a long stream and a short one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.theory.models import MNIST_LAYER, MNIST_MODEL, read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

LEARNING_RATE = MNIST_MODEL["learning_rate"]
COMPARED: tuple[dict[str, Any], ...] = (
    *({"learning_rate": LEARNING_RATE, "decay": decay} for decay in (0.0, 1e-7, 1e-6, 1e-5, 1e-4)),
    {"learning_rate": "auto", "decay": 0.0},
)
"""The paper's learning rate without and with decay, and the learning rate "auto"."""

STEPS = (0, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Samples of the first pass after which the model is tested."""

PASSES = (1, 2, 4, 8, 16, 32)
"""Passes after which the model is tested: powers of two."""

AT_CAP = 0.99
"""A decaying weight reaches its cap of 1 only for a moment, but can stay near it."""


def measure(seed: int) -> dict[str, Any]:
    """Teach MNIST-20 many times with mixed classes, and once class by class.

    Every pass has the same samples in the same order. The seed draws the order and the wiring.
    """
    mnist = load("mnist20")
    order = np.random.default_rng(seed).permutation(len(mnist.X_train))
    samples = mnist.X_train[order], mnist.y_train[order]
    found = []
    for rates in COMPARED:
        mixed, in_turn = (
            FlyClassifier(**MNIST_LAYER, **rates, random_state=seed) for _ in range(2)
        )
        found.append(
            {
                **rates,
                "mixed": learn_mixed(mixed, mnist, *samples),
                "in_turn": learn_in_turn(in_turn, mnist),
            }
        )
    return {"n_samples": len(order), "compared": found, **compare(found)}


def learn_mixed(
    model: FlyClassifier, dataset: Dataset, X: NDArray[Any], y: NDArray[Any]
) -> dict[str, list[float]]:
    """Teach the same samples in several passes; examine the model after `STEPS` and `PASSES`."""
    examined = []
    for start, stop in pairwise((*STEPS, len(X))):
        model.partial_fit(X[start:stop], y[start:stop])
        examined.append({"n_learned": stop, **examine(model, dataset)})
    for n_before, n_after in pairwise(PASSES):
        if model.decay:
            for _ in range(n_after - n_before):
                model.partial_fit(X, y)
        else:
            model.merge(model)  # without decay, that doubles the number of passes
        examined.append({"n_learned": n_after * len(X), **examine(model, dataset)})
    return {name: [one[name] for one in examined] for name in examined[0]}


def learn_in_turn(model: FlyClassifier, dataset: Dataset) -> list[float]:
    """Teach one class after another; return the accuracy on the classes so far after each."""
    accuracies = []
    for label in range(dataset.n_classes):
        rows, tested = dataset.y_train == label, dataset.y_test <= label
        model.partial_fit(dataset.X_train[rows], dataset.y_train[rows])
        accuracy = model.score(dataset.X_test[tested], dataset.y_test[tested])
        accuracies.append(round(float(accuracy), 4))
    return accuracies


def examine(model: FlyClassifier, dataset: Dataset) -> dict[str, float]:
    """Return the accuracy, the share of tied predictions, and the shares of weights at the cap.

    The latter are shares of all weights, and of the weights above zero.
    """
    scores = model.decision_function(dataset.X_test)
    tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    weights = read_weights(model)
    at_cap = weights >= AT_CAP
    shares = {
        "accuracy": model.score(dataset.X_test, dataset.y_test),
        "tied": tied.mean(),
        "at_cap": at_cap.mean(),
        "at_cap_of_used": at_cap.sum() / (weights > 0).sum(),
    }
    return {name: round(float(share), 4) for name, share in shares.items()}


def compare(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the best decay at the end of the stream, and when it overtakes no decay for good.

    None means never.
    """
    none, *others = (one for one in found if one["learning_rate"] != "auto")
    best = max(others, key=lambda one: one["mixed"]["accuracy"][-1])
    gain = np.subtract(best["mixed"]["accuracy"], none["mixed"]["accuracy"])
    n_better = int(np.logical_and.accumulate(gain[::-1] > 0).sum())
    return {
        "best_decay": best["decay"],
        "needed_after": none["mixed"]["n_learned"][-n_better] if n_better else None,
    }
