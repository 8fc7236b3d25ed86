"""When decay is needed: the FlyModel with several rates of it, on a long stream and a short one."""

from __future__ import annotations

from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.shared import Coder, CountingMemory, DecayingMemory, Rates, count_threads

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from numpy.typing import NDArray

    from kenyon_lab.shared import Codes, Memory

    Labelled = tuple[Codes, NDArray[Any]]

LEARNING_RATE = METHODS["fly"].paper["mnist20"]["learning_rate"]
COMPARED = (
    Rates(LEARNING_RATE),
    *(Rates(LEARNING_RATE, decay) for decay in (1e-7, 1e-6, 1e-5, 1e-4)),
    Rates(None),
)
"""The paper's, the same with decay, and no decay but a learning rate that the counts decide."""

STEPS = (0, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Samples of the first pass after which there is a test."""

PASSES = (1, 2, 4, 8, 16, 32)
"""After each of these there is one, too."""

AT_CAP = 0.99
"""A weight that fades is at its cap of 1 for a moment only, but may be near it for good."""


def measure(seed: int) -> dict[str, Any]:
    """Teach MNIST-20 many times over with its classes mixed, and once class after class.

    Every pass has the same samples in the same order. The seed draws this and the wiring.
    """
    mnist, parameters = load("mnist20"), METHODS["fly"].paper["mnist20"]
    sizes = {name: parameters[name] for name in ("n_cells", "fan_in", "n_active")}
    coder = Coder.design(mnist.n_features, seed=seed, **sizes)
    n_samples = len(mnist.X_train)
    order = np.random.default_rng(seed).permutation(n_samples)
    steps = [order[start:stop] for start, stop in pairwise([*STEPS, n_samples])]
    mixed = encode_parts(coder, mnist.X_train, mnist.y_train, steps)
    (tested,) = encode_parts(coder, mnist.X_test, mnist.y_test, [np.arange(len(mnist.X_test))])
    in_turn = encode_parts(coder, mnist.X_train, mnist.y_train, by_class(mnist.y_train))
    tested_in_turn = encode_parts(coder, mnist.X_test, mnist.y_test, by_class(mnist.y_test))
    milestones = {*STEPS, *(n * n_samples for n in PASSES)}
    found = []
    for rates in COMPARED:
        stream = chain.from_iterable(repeat(mixed, max(PASSES)))
        found.append(
            {
                "learning_rate": rates.learning_rate or "auto",
                "decay": rates.decay,
                "mixed": learn_stream(coder.n_cells, stream, tested, milestones, rates),
                "in_turn": learn_in_turn(coder.n_cells, in_turn, tested_in_turn, rates),
            }
        )
    return {"n_samples": n_samples, "compared": found, **compare(found)}


def by_class(y: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return where the samples of each class are."""
    return [np.flatnonzero(y == label) for label in np.unique(y)]


def encode_parts(
    coder: Coder, X: NDArray[Any], y: NDArray[np.intp], parts: Iterable[NDArray[np.intp]]
) -> list[Labelled]:
    """Return the codes and the classes of some parts of the samples."""
    n_threads = count_threads(None)
    return [(coder.native.encode(X[part], n_threads), y[part]) for part in parts]


def learn_stream(
    n_cells: int,
    stream: Iterable[Labelled],
    tested: Labelled,
    milestones: Container[int],
    rates: Rates,
) -> dict[str, list[float]]:
    """Return what becomes of a memory after those numbers of samples that are milestones."""
    memory, n_learned, examined = new_memory(n_cells, rates), 0, []
    for codes, y in stream:
        memory.learn(codes, y, rates)
        n_learned += len(codes)
        if n_learned in milestones:
            examined.append({"n_learned": n_learned, **examine(memory, tested, rates)})
    return {name: [one[name] for one in examined] for name in examined[0]}


def learn_in_turn(
    n_cells: int, taught: Iterable[Labelled], tested: Sequence[Labelled], rates: Rates
) -> list[float]:
    """Return the accuracy on the classes so far after each class."""
    memory, accuracies = new_memory(n_cells, rates), []
    for n_classes, (codes, y) in enumerate(taught, start=1):
        memory.learn(codes, y, rates)
        right = [_is_right(memory, one, rates) for one in tested[:n_classes]]
        accuracies.append(round(float(np.concatenate(right).mean()), 4))
    return accuracies


def new_memory(n_cells: int, rates: Rates) -> Memory:
    """Return a memory that fades, or one that counts, as the rates require."""
    return DecayingMemory(n_cells) if rates.decay else CountingMemory(n_cells)


def examine(memory: Memory, tested: Labelled, rates: Rates) -> dict[str, float]:
    """Return the accuracy, the share of answers that are ties, and that of weights at the cap.

    The last of all weights, and of those that are not zero.
    """
    scores = memory.scores(tested[0], rates, count_threads(None))
    tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    weights = memory.weights(np.arange(memory.n_cells), rates)
    at_cap = weights >= AT_CAP
    shares = {
        "accuracy": _is_right(memory, tested, rates).mean(),
        "tied": tied.mean(),
        "at_cap": at_cap.mean(),
        "at_cap_of_used": at_cap.sum() / (weights > 0).sum(),
    }
    return {name: round(float(share), 4) for name, share in shares.items()}


def compare(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the decay that is best at the end of the stream, and since when none is worse.

    None stands for never.
    """
    none, *others = (one for one in found if one["learning_rate"] != "auto")
    best = max(others, key=lambda one: one["mixed"]["accuracy"][-1])
    gain = np.subtract(best["mixed"]["accuracy"], none["mixed"]["accuracy"])
    n_better = int(np.logical_and.accumulate(gain[::-1] > 0).sum())
    return {
        "best_decay": best["decay"],
        "needed_after": none["mixed"]["n_learned"][-n_better] if n_better else None,
    }


def _is_right(memory: Memory, tested: Labelled, rates: Rates) -> NDArray[np.bool_]:
    codes, y = tested
    right: NDArray[np.bool_] = memory.classes[memory.best(codes, rates, count_threads(None))] == y
    return right
