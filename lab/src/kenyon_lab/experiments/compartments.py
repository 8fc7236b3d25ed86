"""One memory or two, on streams in which labels swap or classes drift."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.theory.models import FLY_CODE, MNIST_LAYER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

    Labelled = tuple[NDArray[Any], NDArray[np.intp]]
    Compartments = tuple[tuple[float | Literal["auto"], float], ...]

SUBTRACT = {**FLY_CODE, "inhibition": "subtract"}
DATASETS: dict[str, dict[str, Any]] = {
    "mnist20-distorted": {**MNIST_LAYER, **SUBTRACT},
    "clinc150": {"n_cells": 4000, "fan_in": 38, "n_active": 200, **SUBTRACT},
}
"""The first layer by dataset."""

SEARCHED: dict[str, tuple[Compartments, ...]] = {
    "stays": tuple(((rate, 0.0),) for rate in ("auto", 0.003, 0.01, 0.05, 0.2)),
    "fades": tuple(
        ((rate, decay),) for rate in (0.1, 0.3, 1.0, 3.0) for decay in (1e-5, 1e-4, 1e-3, 3e-3)
    ),
    "both": tuple(
        (("auto", 0.0), (rate, decay)) for rate in (1.0, 3.0, 10.0) for decay in (3e-4, 1e-3, 3e-3)
    ),
}
"""Candidates for each kind of memory: the learning rate and decay of each compartment."""

PER_CLASS = 1000
"""Most samples of a class."""

HELD_OUT = 50
"""Most held-out samples of a class; they are at most a fifth of its samples."""

STEPS = {
    "reversal": (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1),
    "drift": tuple(np.linspace(0, 1, 11).round(1).tolist()),
}
"""Shares of the samples after the change at which the model is tested."""


def measure(seed: int) -> dict[str, Any]:
    """Teach streams in which half the classes change; test on those and on the others.

    All classes come first, mixed. Then only the changing classes come. In a reversal their labels
    are swapped in pairs. In a drift their samples are blended more and more with samples of another
    class, until each class has taken the place of the next. The seed draws the wiring, the order of
    the samples, the classes that change and the held-out samples.
    """
    found: dict[str, Any] = {}
    for name, layer in DATASETS.items():
        dataset = load(name)
        found[name] = {}
        for kind in STEPS:
            held_out, test = (Stream.draw(dataset, kind, seed, part) for part in (True, False))
            found[name][kind] = {
                "n_before": len(held_out.first[0]),
                "n_learned": np.cumsum([len(X) for X, _ in held_out.steps]).tolist(),
                **{
                    memory: choose(candidates, held_out, test, random_state=seed, **layer)
                    for memory, candidates in SEARCHED.items()
                },
            }
    return found


def choose(
    candidates: tuple[Compartments, ...], held_out: Stream, test: Stream, **parameters: Any
) -> dict[str, Any]:
    """Select the rates that are best on held-out samples, and return their test accuracies."""

    def learn(stream: Stream, compartments: Compartments) -> NDArray[np.float64]:
        model = FlyClassifier(compartments=compartments, readout="fly", **parameters)
        return stream.learn(model)

    best = max(candidates, key=lambda candidate: float(learn(held_out, candidate).mean()))
    changed, still = learn(test, best).T.round(4).tolist()
    rates, decays = zip(*best, strict=True)
    return {"learning_rate": [*rates], "decay": [*decays], "changed": changed, "still": still}


@dataclass(frozen=True, eq=False)
class Stream:
    """Samples before the change, and batches after it with a test after each batch.

    `changed` holds a test for each batch, on the changing classes as they are then; `still` is one
    test on all other classes.
    """

    first: Labelled
    steps: list[Labelled]
    changed: list[Labelled]
    still: Labelled

    @classmethod
    def draw(cls, dataset: Dataset, kind: str, seed: int, held_out: bool) -> Stream:
        """Draw a stream to be tested on held-out training samples or on the test samples.

        The samples to learn do not depend on that choice.
        """
        generator = np.random.default_rng(seed)
        validation, before, after = _split(dataset.y_train, generator)
        partner = _find_partners(dataset.n_classes, kind, generator)
        X, y = dataset.X_train, dataset.y_train
        after = generator.permutation(after[partner[y[after]] != y[after]])
        X_test, y_test = (
            (X[validation], y[validation]) if held_out else (dataset.X_test, dataset.y_test)
        )
        changes = partner[y_test] != y_test
        ends = [round(share * len(after)) for share in STEPS[kind]]
        steps, tests = [], []
        for start, end in pairwise(ends):
            part = after[start:end]
            progress = np.arange(start, end) / len(after)
            steps.append(_change(kind, X, y, part, partner, progress, before))
            rows, now = np.flatnonzero(changes), np.array([end / len(after)])
            tests.append(_change(kind, X_test, y_test, rows, partner, now, np.arange(len(y_test))))
        return cls((X[before], y[before]), steps, tests, (X_test[~changes], y_test[~changes]))

    def learn(self, model: FlyClassifier) -> NDArray[np.float64]:
        """Return the accuracies on changing and on other classes after every step."""
        model.fit(*self.first)
        accuracies = []
        for step, changed in zip(self.steps, self.changed, strict=True):
            model.partial_fit(*step)
            accuracies.append([model.score(*changed), model.score(*self.still)])
        return np.array(accuracies)


def _split(
    y: NDArray[np.intp], generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return held-out samples of every class, and halves of the rest before and after the change.

    The half before the change is mixed.
    """
    parts: list[list[NDArray[np.intp]]] = [[], [], []]
    for label in np.unique(y):
        own = generator.permutation(np.flatnonzero(y == label))[:PER_CLASS]
        n_held_out = min(len(own) // 5, HELD_OUT)
        half = (len(own) - n_held_out) // 2
        ends = [n_held_out, n_held_out + half]
        for part, rows in zip(parts, np.split(own[: n_held_out + 2 * half], ends), strict=True):
            part.append(rows)
    held_out, before, after = (np.concatenate(part) for part in parts)
    return held_out, generator.permutation(before), after


def _find_partners(n_classes: int, kind: str, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return the class whose place each class takes: its own for at least half of them."""
    partner = np.arange(n_classes)
    drawn = generator.permutation(n_classes)[: 2 * (n_classes // 4)]
    if kind == "reversal":
        partner[drawn] = drawn.reshape(-1, 2)[:, ::-1].ravel()
    else:
        # In pairs, two classes would be the same half-way.
        partner[drawn] = np.roll(drawn, 1)
    return partner


def _change(
    kind: str,
    X: NDArray[Any],
    y: NDArray[np.intp],
    rows: NDArray[np.intp],
    partner: NDArray[np.intp],
    progress: NDArray[np.float64],
    candidates: NDArray[np.intp],
) -> Labelled:
    """Return samples after the change, or after a part of it.

    In a drift, each sample is blended with one of its partner class among the candidates.
    """
    if kind == "reversal":
        return X[rows], partner[y[rows]]
    others = np.empty_like(rows)
    for label in np.unique(y[rows]):
        own, mates = y[rows] == label, candidates[y[candidates] == partner[label]]
        others[own] = np.resize(mates, own.sum())
    weight = progress[:, np.newaxis]
    return ((1 - weight) * X[rows] + weight * X[others]).astype(X.dtype), y[rows]
