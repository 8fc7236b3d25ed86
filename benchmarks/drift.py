"""Streams whose labels change: plain learning, a window, decay and two compartments.

Run as `python benchmarks/drift.py`, with five seeds. Writes benchmarks/results/drift.md.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import report
from sklearn.base import clone

from kenyon import FlyClassifier
from kenyon._validation import RATE_WITH_DECAY, design_layer
from kenyon.circuit import DecayingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from kenyon.readouts import ReadoutName

T = TypeVar("T")

N_SEEDS = 5
DATASETS = "mnist20-distorted", "clinc150"
N_SAMPLES, N_TESTS = 6000, 1000
RIDGE: dict[str, Any] = {"readout": "ridge", "n_cells": 1500}
BATCH = 500
RECIPE: tuple[tuple[float | Literal["auto"], float], ...] = (("auto", 0.0), (3.0, 0.001))
"""Two compartments: one keeps everything, one learns at once and decays."""
DECAYS = 1e-5, 1e-4, 1e-3, 1e-2
LEARNING_RATES = 0.03, 0.1, 0.3, RATE_WITH_DECAY, 3.0
READOUTS: tuple[ReadoutName, ...] = ("fly", "bayes", "ridge")
N_TIMED = 500


def models(window: int) -> dict[str, dict[str, Any]]:
    """Return the parameters of every model; decay lasts about as long as the window."""
    return {
        "fly": {"readout": "fly"},
        "ridge": RIDGE,
        "fly, window": {"readout": "fly", "window": window},
        "ridge, window": {**RIDGE, "window": window},
        "decay": {"decay": 1 / window},
        "two compartments": {"compartments": RECIPE},
    }


@dataclass(frozen=True, eq=False)
class Stream:
    """Mixed samples of all classes, and tests; from the middle on, the labels may change."""

    X: NDArray[Any]
    y: NDArray[np.intp]
    X_test: NDArray[Any]
    y_test: NDArray[np.intp]
    n_classes: int

    @classmethod
    def draw(cls, name: str, seed: int) -> Stream:
        """Draw the samples of a dataset and their order."""
        dataset, generator = load(name), np.random.default_rng(seed)
        rows = generator.permutation(len(dataset.y_train))[:N_SAMPLES]
        tests = generator.permutation(len(dataset.y_test))[:N_TESTS]
        return cls(
            dataset.X_train[rows],
            dataset.y_train[rows],
            dataset.X_test[tests],
            dataset.y_test[tests],
            dataset.n_classes,
        )

    @property
    def middle(self) -> int:
        """The number of samples before the change."""
        return len(self.y) // 2

    @property
    def window(self) -> int:
        """The size of the windows: a quarter of the stream."""
        return len(self.y) // 4

    def learn(self, model: FlyClassifier, n_changed: int, *, others: bool = True) -> FlyClassifier:
        """Learn the stream; from the middle on, the first classes take the label of the next.

        Without `others`, only those classes come from then on.
        """
        y = np.concatenate([self.y[: self.middle], rotate(self.y[self.middle :], n_changed)])
        come = np.arange(len(y)) < self.middle
        come |= others | (self.y < n_changed)
        X, y = self.X[come], y[come]
        for start in range(0, len(y), BATCH):
            rows = slice(start, start + BATCH)
            model.partial_fit(X[rows], y[rows])
        return model


def rotate(y: NDArray[np.intp], n_changed: int) -> NDArray[np.intp]:
    """Return the labels after the change."""
    return np.where(y < n_changed, (y + 1) % max(1, n_changed), y)


def measure(name: str, seed: int) -> dict[str, tuple[float, ...]]:
    """Return each model's accuracies at the end of three streams.

    These are without a change, with a change of all classes, and, if half of the classes change
    and the others come no more, those on both halves.
    """
    stream = Stream.draw(name, seed)
    X, y, n, half = stream.X_test, stream.y_test, stream.n_classes, stream.n_classes // 2
    found: dict[str, tuple[float, ...]] = {}
    for kind, parameters in models(stream.window).items():
        new = FlyClassifier(**parameters, random_state=seed)
        mixed = stream.learn(clone(new), 0).score(X, y)
        rotated = stream.learn(clone(new), n).score(X, rotate(y, n))
        right = stream.learn(new, half, others=False).predict(X) == rotate(y, half)
        found[kind] = mixed, rotated, right[y < half].mean(), right[y >= half].mean()
    return found


def keeps_answering(name: str, seed: int) -> float:
    """Return the share of test samples that the compartment without decay answers at the end."""
    stream = Stream.draw(name, seed)
    best = []
    for rates in RECIPE:
        model = FlyClassifier(readout="fly", compartments=[rates], random_state=seed)
        stream.learn(model, stream.n_classes)
        best.append(model.decision_function(stream.X_test).max(axis=1))
    return float((best[0] >= best[1]).mean())


def measure_rates(name: str, seed: int) -> NDArray[np.float64]:
    """Return the mean accuracy before and after the change, for every decay and learning rate."""
    stream = Stream.draw(name, seed)
    coder = design_layer(stream.X.shape[1], FLY_LAYER, seed=seed)
    first, second, tested = (
        [codes for _, codes in coder.encode(X, 1)]
        for X in (stream.X[: stream.middle], stream.X[stream.middle :], stream.X_test)
    )
    before, after = np.split(stream.y, [stream.middle])
    after, y_after = (rotate(y, stream.n_classes) for y in (after, stream.y_test))
    halves = (first, before, stream.y_test), (second, after, y_after)
    found = np.empty((len(DECAYS), len(LEARNING_RATES)))
    for i, decay in enumerate(DECAYS):
        for j, rate in enumerate(LEARNING_RATES):
            memory, accuracies = DecayingMemory(coder.n_cells), []
            for batches, y, y_test in halves:
                start = 0
                for codes in batches:
                    end = start + len(codes)
                    memory.learn(codes, y[start:end].tolist(), (Rates(rate, decay),))
                    start = end
                best = [memory.store.best(codes, n_threads=1) for codes in tested]
                accuracies.append((memory.classes[np.concatenate(best)] == y_test).mean())
            found[i, j] = np.mean(accuracies)
    return found


def time_steps(readout: ReadoutName) -> tuple[float, float, float]:
    """Return microseconds of `learn_one` without and with a window, and its bytes per sample."""
    stream = Stream.draw("clinc150", 0)
    X, y = stream.X[: 2 * N_TIMED], stream.y[: 2 * N_TIMED].tolist()
    found = []
    for window in (None, N_TIMED):
        model = FlyClassifier(readout=readout, window=window, n_threads=1)
        model.fit(X[:N_TIMED], y[:N_TIMED])
        before, times = model.nbytes, []
        for row in range(N_TIMED, 2 * N_TIMED):
            start = time.perf_counter()
            model.learn_one(X[row], y[row])
            times.append(time.perf_counter() - start)
        found.append((float(np.median(times)) * 1e6, before))
    (plain, without), (with_window, nbytes) = found
    return plain, with_window, (nbytes - without) / N_TIMED


STREAMS = f"""\
{N_SAMPLES:,} mixed samples of all classes. The window is a quarter of the stream, the decay is
1 / window, and the compartments are {list(RECIPE)}. Default layers, but ridge has
{RIDGE["n_cells"]:,} cells. Test accuracy at the end:

- mixed: the labels do not change;
- rotated: from the middle of the stream on, each class has the label of the next;
- changed, others: from the middle on, only half of the classes come, and rotate their labels;
  accuracy on these, and on the others."""


def repeat(function: Callable[[str, int], T], name: str) -> list[T]:
    """Return what a function measures on a dataset with each seed; seeds run in parallel."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, [name] * N_SEEDS, range(N_SEEDS)))


def tabulate(name: str) -> str:
    """Return the table of all models on one dataset."""
    runs = repeat(measure, name)
    rows = [
        [kind, *(str(spread(column)) for column in zip(*(run[kind] for run in runs), strict=True))]
        for kind in runs[0]
    ]
    return report.table((f"{name}: model", "mixed", "rotated", "changed", "others"), rows)


def tabulate_rates(name: str) -> str:
    """Return the table of decays and learning rates on one dataset."""
    runs = repeat(measure_rates, name)
    means = np.mean(runs, axis=0)
    rows = [
        [f"{decay:g}", *(f"{mean:.3f}" for mean in row)]
        for decay, row in zip(DECAYS, means, strict=True)
    ]
    return report.table((f"{name}: decay", *(f"{rate:g}" for rate in LEARNING_RATES)), rows)


def main() -> None:
    """Measure all models, and write the page."""
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    shares = [f"{spread(repeat(keeps_answering, name))} on {name}" for name in DATASETS]
    timed = [
        [readout, f"{plain:,.0f}", f"{window:,.0f}", f"{nbytes:,.0f}"]
        for readout in READOUTS
        for plain, window, nbytes in [time_steps(readout)]
    ]
    report.publish(
        "drift.md",
        "# Streams whose labels change",
        environment,
        "## Window, decay and compartments",
        STREAMS,
        *map(tabulate, DATASETS),
        "After the rotation the compartment without decay answers most test samples (its score is "
        f"the highest for {' and '.join(shares)}): its weights do not fall, while those of the "
        "other fall between two samples of a class. So the old labels keep winning.",
        "## The learning rate of a memory with decay",
        "Mean of the test accuracies just before the rotation and at the end, by decay (rows) and "
        f'learning rate (columns), mean over seeds. "auto" is {RATE_WITH_DECAY:g}.',
        *map(tabulate_rates, DATASETS),
        "## The cost of a window",
        f"Microseconds of `learn_one` without and with a full window of {N_TIMED:,} samples, one "
        "thread, CLINC150; bytes of the window for each sample.",
        report.table(("readout", "plain, us", "window, us", "bytes"), timed),
    )


if __name__ == "__main__":
    main()
