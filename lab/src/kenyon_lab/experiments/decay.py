"""When decay is needed: the FlyModel with several decay rates, on a long stream and a short one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.data.registry import dataset_of_seed
from kenyon_lab.theory.models import (
    FLY_CODE,
    MNIST_LAYER,
    MNIST_MODEL,
    read_compartments,
    read_weights,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

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

    Every pass has the same samples in the same order. The seed draws the order and the wiring, and
    selects the encoder.
    """
    mnist = load(dataset_of_seed("mnist20", seed))
    order = np.random.default_rng(seed).permutation(len(mnist.X_train))
    samples = mnist.X_train[order], mnist.y_train[order]
    layer = {**MNIST_LAYER, **FLY_CODE, "random_state": seed}
    mixed = learn_mixed(COMPARED, layer, mnist, *samples)
    models = [FlyClassifier(**layer, **rates, readout="fly") for rates in COMPARED]
    found = [
        {**rates, "mixed": one, "in_turn": learn_in_turn(model, mnist)}
        for rates, one, model in zip(COMPARED, mixed, models, strict=True)
    ]
    return {"n_samples": len(order), "compared": found, **compare(found)}


def learn_mixed(
    compared: Sequence[dict[str, Any]],
    layer: dict[str, Any],
    dataset: Dataset,
    X: NDArray[Any],
    y: NDArray[Any],
) -> list[dict[str, list[float]]]:
    """Teach the same samples in several passes; examine each memory after `STEPS` and `PASSES`.

    Memories with decay are the compartments of one model, so that each sample is encoded once.
    """
    decaying = [(rates["learning_rate"], rates["decay"]) for rates in compared if rates["decay"]]
    fly = {**layer, "readout": "fly"}
    stable = [FlyClassifier(**fly, **rates) for rates in compared if not rates["decay"]]
    models = [*stable, FlyClassifier(**fly, compartments=decaying)] if decaying else stable
    codes = SparseCoder(**layer).fit(X[:1]).transform(dataset.X_test)
    examined: list[list[dict[str, float]]] = []

    def examine_all(n_learned: int) -> None:
        each = {
            rates: found for model in models for rates, found in _examine(model, codes, dataset)
        }
        keys = [(rates["learning_rate"], rates["decay"]) for rates in compared]
        examined.append([{"n_learned": n_learned, **each[key]} for key in keys])

    for start, stop in pairwise((*STEPS, len(X))):
        for model in models:
            model.partial_fit(X[start:stop], y[start:stop])
        examine_all(stop)
    for n_before, n_after in pairwise(PASSES):
        for model in stable:
            model.merge(model)  # without decay, that doubles the number of passes
        for model in models[len(stable) :]:
            for _ in range(n_after - n_before):
                model.partial_fit(X, y)
        examine_all(n_after * len(X))
    return [
        {name: [found[name] for found in of_one] for name in of_one[0]}
        for of_one in zip(*examined, strict=True)
    ]


def _examine(
    model: FlyClassifier, codes: csr_matrix[Any], dataset: Dataset
) -> Iterator[tuple[tuple[Any, float], dict[str, float]]]:
    """Yield the rates of each memory of a model, and its shares."""
    if model.compartments is None:
        scores = model.decision_function(dataset.X_test)
        rates = model.learning_rate, model.decay
        yield rates, examine(scores, read_weights(model), dataset.y_test)
    else:
        for rates, weights in zip(model.compartments, read_compartments(model), strict=True):
            yield rates, examine(codes @ weights.T, weights, dataset.y_test)


def learn_in_turn(model: FlyClassifier, dataset: Dataset) -> list[float]:
    """Teach one class after another; return the accuracy on the classes so far after each."""
    accuracies = []
    for label in range(dataset.n_classes):
        rows, tested = dataset.y_train == label, dataset.y_test <= label
        model.partial_fit(dataset.X_train[rows], dataset.y_train[rows])
        accuracy = model.score(dataset.X_test[tested], dataset.y_test[tested])
        accuracies.append(round(float(accuracy), 4))
    return accuracies


def examine(
    scores: NDArray[np.float64], weights: NDArray[np.float64], y: NDArray[Any]
) -> dict[str, float]:
    """Return the accuracy, the share of tied predictions, and the shares of weights at the cap.

    The latter are shares of all weights, and of the weights above zero.
    """
    tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    at_cap = weights >= AT_CAP
    shares = {
        "accuracy": (scores.argmax(axis=1) == y).mean(),
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
