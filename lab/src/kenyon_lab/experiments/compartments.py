"""What changes and what does not: one memory or two, where labels swap or classes drift."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.data import load
from kenyon_lab.methods.paper_sizes import SPARSE_LAYER
from kenyon_lab.shared import Coder, FlyReadout, Rates, count_threads, new_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset
    from kenyon_lab.shared import Codes

    Labelled = tuple[Codes, NDArray[np.intp]]

_MNIST = SPARSE_LAYER["mnist20"]
DATASETS: dict[str, dict[str, Any]] = {
    "mnist20": {**_MNIST, "inhibition": "subtract"},
    "clinc150": {"n_cells": 4000, "n_active": 200, "inhibition": "subtract"},
}
"""With the sizes of the circuit."""

SEARCHED: dict[str, tuple[Rates, ...]] = {
    "stays": tuple(Rates(rate) for rate in (None, 0.003, 0.01, 0.05, 0.2)),
    "fades": tuple(
        Rates(rate, decay) for rate in (0.1, 0.3, 1.0, 3.0) for decay in (1e-5, 1e-4, 1e-3, 3e-3)
    ),
    "both": tuple(
        Rates(None, 0.0, (Rates(rate, decay),))
        for rate in (1.0, 3.0, 10.0)
        for decay in (3e-4, 1e-3, 3e-3)
    ),
}
"""Memories and their rates, of which the best is chosen for each on samples put aside."""

PER_CLASS = 1000
"""At most so many samples of a class are used."""

ASIDE = 50
"""A fifth of those is put aside, but no more than this."""

STEPS = {
    "reversal": (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1),
    "drift": tuple(np.linspace(0, 1, 11).round(1).tolist()),
}
"""Shares of the samples after the change, at which there is a test."""


def measure(seed: int) -> dict[str, Any]:
    """Teach streams of which half the classes change, and test on those and on the others.

    First come all classes, mixed. Then come only those that change: in a reversal, they have
    swapped their labels in pairs; in a drift, their samples are blended more and more with those of
    another class, until each has taken the place of the next. The seed draws the wiring, the order
    of the samples, which classes change, and what is put aside.
    """
    found: dict[str, Any] = {}
    for name, sizes in DATASETS.items():
        dataset = load(name)
        coder = Coder.design(dataset.n_features, seed=seed, **sizes)
        found[name] = {}
        for kind in STEPS:
            aside, tested = (
                Stream.draw(dataset, coder, kind, seed, part) for part in (True, False)
            )
            found[name][kind] = {
                "n_before": len(aside.first[0]),
                "n_learned": np.cumsum([len(codes) for codes, _ in aside.steps]).tolist(),
                **{memory: compare(memory, aside, tested) for memory in SEARCHED},
            }
    return found


def compare(memory: str, aside: Stream, tested: Stream) -> dict[str, Any]:
    """Return the rates that are best on samples put aside, and what they lead to in the test."""
    best = max(SEARCHED[memory], key=lambda rates: float(np.mean(aside.learn(rates))))
    changed, still = tested.learn(best).T.round(4).tolist()
    return {
        "learning_rate": [one.learning_rate or "auto" for one in best.each],
        "decay": [one.decay for one in best.each],
        "changed": changed,
        "still": still,
    }


@dataclass(frozen=True, eq=False)
class Stream:
    """What is learned before and after a change, with a test at every step after it.

    `changed` is tested at its step, `still` at every one.
    """

    n_cells: int
    first: Labelled
    steps: list[Labelled]
    changed: list[Labelled]
    still: Labelled

    @classmethod
    def draw(cls, dataset: Dataset, coder: Coder, kind: str, seed: int, aside: bool) -> Stream:
        """Cut a stream from a dataset, to be tested on training samples put aside or on the test's.

        What is learned does not depend on which.
        """
        generator = np.random.default_rng(seed)
        kept, before, after = _split(dataset.y_train, generator)
        partner = _find_partners(dataset.n_classes, kind, generator)
        X, y = dataset.X_train, dataset.y_train
        after = generator.permutation(after[partner[y[after]] != y[after]])
        X_test, y_test = (X[kept], y[kept]) if aside else (dataset.X_test, dataset.y_test)
        changes = partner[y_test] != y_test
        ends = [round(share * len(after)) for share in STEPS[kind]]
        steps, tests = [], []
        for start, end in pairwise(ends):
            part = after[start:end]
            how_far = np.arange(start, end) / len(after)
            steps.append(_change(kind, X, y, part, partner, how_far, before))
            rows, now = np.flatnonzero(changes), np.array([end / len(after)])
            tests.append(_change(kind, X_test, y_test, rows, partner, now, np.arange(len(y_test))))

        def encode(samples: tuple[NDArray[Any], NDArray[np.intp]]) -> Labelled:
            return coder.native.encode(samples[0], count_threads(None)), samples[1]

        return cls(
            coder.n_cells,
            encode((X[before], y[before])),
            [encode(step) for step in steps],
            [encode(test) for test in tests],
            encode((X_test[~changes], y_test[~changes])),
        )

    def learn(self, rates: Rates) -> NDArray[np.float64]:
        """Return the accuracies on what changes and on what does not, after every step."""
        readout = FlyReadout(rates)
        memory = new_memory(readout, rates, self.n_cells)
        memory.learn(*self.first, rates)

        def accuracy(codes: Codes, y: NDArray[np.intp]) -> float:
            told = memory.classes[readout.best(memory, codes, count_threads(None))]
            return float((told == y).mean())

        accuracies = []
        for step, changed in zip(self.steps, self.changed, strict=True):
            memory.learn(*step, rates)
            accuracies.append([accuracy(*changed), accuracy(*self.still)])
        return np.array(accuracies)


def _split(
    y: NDArray[np.intp], generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Put some of every class aside; half the rest comes before the change, mixed."""
    parts: list[list[NDArray[np.intp]]] = [[], [], []]
    for label in np.unique(y):
        own = generator.permutation(np.flatnonzero(y == label))[:PER_CLASS]
        n_aside = min(len(own) // 5, ASIDE)
        half = (len(own) - n_aside) // 2
        for part, chosen in zip(
            parts, np.split(own[: n_aside + 2 * half], [n_aside, n_aside + half]), strict=True
        ):
            part.append(chosen)
    kept, before, after = (np.concatenate(part) for part in parts)
    return kept, generator.permutation(before), after


def _find_partners(n_classes: int, kind: str, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return for each class whose place it takes: its own for at least half of them."""
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
    how_far: NDArray[np.float64],
    among: Sequence[int] | NDArray[np.intp],
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return samples as they are after the change, or part of the way to it."""
    if kind == "reversal":
        return X[rows], partner[y[rows]]
    others = np.empty_like(rows)
    among = np.asarray(among)
    for label in np.unique(y[rows]):
        own, mates = y[rows] == label, among[y[among] == partner[label]]
        others[own] = np.resize(mates, own.sum())
    weight = how_far[:, np.newaxis]
    return ((1 - weight) * X[rows] + weight * X[others]).astype(X.dtype), y[rows]
