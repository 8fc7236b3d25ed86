"""Kenyon beside River's classifiers on River's streams.

Run as `python benchmarks/river_streams.py`; `--quick` only shows that it runs. The streams need no
download. Writes benchmarks/results/river.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import report
import river_data
from river import (
    evaluate,
    forest,
    linear_model,
    metrics,
    multiclass,
    naive_bayes,
    neighbors,
    optim,
    preprocessing,
    tree,
)

from kenyon.river import FlyClassifier
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from river_data import Stream

N_SEEDS = 5
N_SAMPLES = 2000
BATCH = 100
ROUNDS = 3
OTHER_SEEDS = 100, 101
"""For choices of parameters; no stream of the comparison has them."""
RATES = 0.01, 0.03, 0.1, 0.3, 1.0
"""Learning rates of logistic regression; the first is River's default."""
ORDERED = {"ImageSegments": partial(river_data.real, "ImageSegments"), "digits": river_data.digits}
"""Streams whose classes come one after the other."""

METHOD = f"""\
Each sample is predicted, then learned (`evaluate.progressive_val_score`). The datasets come in the
order of their files, with models of {N_SEEDS} seeds; the generators give {N_SAMPLES:,} samples for
each of {N_SEEDS} seeds. With "drift" the concept changes: that of SEA and Agrawal in the middle,
that of the others all the time. All have the default parameters of their library, but for those
named and the learning rate of logistic regression, see below. "declared" gives the features by
name. Kenyon, logistic regression, ALMA and kNN stand behind `StandardScaler()`. With more than two
classes, logistic regression and ALMA are wrapped in `OneVsRestClassifier`. Mean and standard
deviation over seeds. The time is that of the processor for one prediction and one learning with one
thread, of the fastest seed; the methods take turns on each stream. Other programs were running."""

PARAMETERS = """\
The learning rate of logistic regression is the best of those below: mean progressive accuracy on
the generated streams with the seeds 100 and 101, which no stream above has. Kenyon's defaults were
chosen on the same streams (river_defaults.md)."""

ORDERS = f"""\
Two thirds of a dataset are learned, in random order or one class after the other as new classes
come; accuracy on the last third. Mean and standard deviation over {N_SEEDS} seeds, which draw the
parts and the orders. "digits" are scikit-learn's. A running scaler depends on the order; "unscaled"
is `FlyClassifier(constant=0)` without one."""

BATCHES = f"""\
ImageSegments, predicted and learned one by one, or in batches of {BATCH} rows by `predict_many` and
`learn_many` of a pandas frame, which predict a whole batch before it is learned. Microseconds of
the processor for one sample, the fastest of {ROUNDS} rounds."""


def kenyon(_: Stream, seed: int, **parameters: Any) -> Any:
    fly = FlyClassifier(random_state=seed, n_threads=1, **parameters)
    return preprocessing.StandardScaler() | fly


def declared(stream: Stream, seed: int, **parameters: Any) -> Any:
    return kenyon(stream, seed, features=list(stream[0][0]), **parameters)


def linear(make: Callable[[], Any], stream: Stream, _: int) -> Any:
    """Return a scaled classifier of two classes, or one for each of more."""
    n_classes = len({y for _, y in stream})
    model = make() if n_classes == 2 else multiclass.OneVsRestClassifier(make())
    return preprocessing.StandardScaler() | model


def logistic(rate: float) -> Any:
    return partial(linear, lambda: linear_model.LogisticRegression(optim.SGD(rate)))


def methods(rate: float) -> dict[str, Callable[[Stream, int], Any]]:
    """Return all methods, by name: functions of a stream and a seed."""
    return {
        "Kenyon": kenyon,
        "Kenyon, declared": declared,
        "Kenyon, window=1000": partial(kenyon, window=1000),
        "Kenyon, declared, decay=0.001": partial(declared, decay=0.001, n_cells=None),
        "GaussianNB": lambda *_: naive_bayes.GaussianNB(),
        f"LogisticRegression, SGD({rate:g})": logistic(rate),
        "ALMA": partial(linear, linear_model.ALMAClassifier),
        "kNN": lambda *_: preprocessing.StandardScaler() | neighbors.KNNClassifier(),
        "HoeffdingTree": lambda *_: tree.HoeffdingTreeClassifier(),
        "HoeffdingAdaptiveTree": lambda _, seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
        "ARF": lambda _, seed: forest.ARFClassifier(seed=seed),
    }


@dataclass
class Runs:
    """The runs of a method on a stream."""

    accuracies: list[float] = field(default_factory=list)
    kappas: list[float] = field(default_factory=list)
    time: float = math.inf

    def add(self, samples: Stream, model: Any) -> None:
        accuracy, kappa = metrics.Accuracy(), metrics.CohenKappa()
        start = process_time()
        evaluate.progressive_val_score(samples, model, accuracy + kappa)
        self.time = min(self.time, (process_time() - start) / len(samples) * 1e6)
        self.accuracies.append(accuracy.get())
        self.kappas.append(kappa.get())

    def row(self) -> list[str]:
        return [str(spread(self.accuracies)), str(spread(self.kappas)), f"{self.time:,.0f}"]


def compare(name: str, streams: Sequence[Stream], rate: float) -> tuple[str, dict[str, Runs]]:
    """Return the table and the runs of all methods on one stream, with each seed."""
    found = {method: Runs() for method in methods(rate)}
    for seed, samples in enumerate(streams):
        for method, make in methods(rate).items():
            found[method].add(samples, make(samples, seed))
    header = f"{name}, {len(streams[0]):,} samples", "accuracy", "Kappa", "us"
    return report.table(header, [[method, *runs.row()] for method, runs in found.items()]), found


def summarise(found: dict[str, dict[str, Runs]]) -> str:
    """Return the table of mean accuracies, Kappas, ranks and times over all streams."""
    names = list(next(iter(found.values())))
    accuracies = np.array(
        [[np.mean(runs[name].accuracies) for name in names] for runs in found.values()]
    )
    kappas = np.array([[np.mean(runs[name].kappas) for name in names] for runs in found.values()])
    times = np.array([[runs[name].time for name in names] for runs in found.values()])
    ranks = 1 + (accuracies[:, :, None] < accuracies[:, None]).sum(axis=2)
    columns = accuracies.mean(axis=0), kappas.mean(axis=0), ranks.mean(axis=0), times.mean(axis=0)
    rows = [
        [name, f"{accuracy:.3f}", f"{kappa:.3f}", f"{rank:.1f}", f"{time:,.0f}"]
        for name, accuracy, kappa, rank, time in zip(names, *columns, strict=True)
    ]
    return report.table(("mean of all streams", "accuracy", "Kappa", "rank", "us"), rows)


def choose_rate(n: int) -> tuple[float, str]:
    """Return the best learning rate of logistic regression, and the table of all."""
    means = []
    for rate in RATES:
        found = Runs()
        for seed in OTHER_SEEDS:
            for name in river_data.GENERATED:
                samples = river_data.generated(name, n, seed)
                found.add(samples, logistic(rate)(samples, seed))
        means.append(float(np.mean(found.accuracies)))
    rows = [[f"SGD({rate:g})", f"{mean:.3f}"] for rate, mean in zip(RATES, means, strict=True)]
    return RATES[int(np.argmax(means))], report.table(("LogisticRegression", "accuracy"), rows)


def unscaled(_: Stream, seed: int) -> Any:
    return FlyClassifier(random_state=seed, n_threads=1, constant=0)


def learn_in_orders(samples: Stream, rate: float, seed: int) -> dict[str, list[float]]:
    """Return each method's accuracies after random order and after classes one by one."""
    shuffled = [samples[i] for i in np.random.default_rng(seed).permutation(len(samples))]
    cut = 2 * len(samples) // 3
    train, test = shuffled[:cut], shuffled[cut:]
    found: dict[str, list[float]] = {}
    for order in (train, sorted(train, key=lambda sample: str(sample[1]))):
        for name, make in {"Kenyon, unscaled": unscaled, **methods(rate)}.items():
            model = make(train, seed)
            for x, y in order:
                model.learn_one(x, y)
            right = np.mean([model.predict_one(x) == y for x, y in test])
            found.setdefault(name, []).append(float(right))
    return found


def compare_orders(name: str, n: int | None, n_seeds: int, rate: float) -> str:
    """Return the table of accuracies after both orders."""
    samples = ORDERED[name](n=n)
    runs = [learn_in_orders(samples, rate, seed) for seed in range(n_seeds)]
    rows = [
        [
            method,
            *(str(spread(column)) for column in zip(*(run[method] for run in runs), strict=True)),
        ]
        for method in runs[0]
    ]
    return report.table((name, "random order", "class after class"), rows)


def time_batches(samples: Stream, rate: float) -> str:
    """Return the table of times one by one and in batches."""
    X, y = pd.DataFrame([x for x, _ in samples]), pd.Series([y for _, y in samples])
    makers = methods(rate)
    names = "Kenyon", "Kenyon, declared", "GaussianNB", f"LogisticRegression, SGD({rate:g})"
    found = {name: [Runs(), Runs()] for name in names}
    for _ in range(ROUNDS):
        for name, (single, batched) in found.items():
            single.add(samples, makers[name](samples, 0))
            add_batches(batched, X, y, makers[name](samples, 0))
    rows = [
        [
            name,
            *(text for runs in pair for text in (f"{runs.time:,.0f}", f"{runs.accuracies[0]:.3f}")),
        ]
        for name, pair in found.items()
    ]
    return report.table(
        ("ImageSegments", "one by one, us", "accuracy", "batches, us", "accuracy"), rows
    )


def add_batches(runs: Runs, X: pd.DataFrame, y: pd.Series[Any], model: Any) -> None:
    start, right = process_time(), 0
    for first in range(0, len(X), BATCH):
        rows = slice(first, first + BATCH)
        # River's models cannot all predict before they have learned.
        right += (model.predict_many(X[rows]) == y[rows]).sum() if first else 0
        model.learn_many(X[rows], y[rows])
    runs.time = min(runs.time, (process_time() - start) / len(X) * 1e6)
    runs.accuracies.append(right / (len(X) - BATCH))


def main() -> None:
    """Measure all methods, and write the page."""
    quick = report.parse_quick(__doc__)
    environment = report.environment(
        f"seeds 0 to {N_SEEDS - 1}", ("kenyon", "river", "numpy", "pandas")
    )
    n_seeds, n, n_real = (1, 60, 60) if quick else (N_SEEDS, N_SAMPLES, None)
    rate, rates = choose_rate(n)
    streams = {name: [river_data.real(name, n_real)] * n_seeds for name in river_data.REAL}
    for name in river_data.GENERATED:
        streams[name] = [river_data.generated(name, n, seed) for seed in range(n_seeds)]
    compared = {name: compare(name, runs, rate) for name, runs in streams.items()}
    orders = [compare_orders(name, n_real, n_seeds, rate) for name in ORDERED]
    batches = time_batches(river_data.real("ImageSegments", 2 * BATCH if quick else None), rate)
    report.publish(
        "river.md",
        "# Kenyon in River",
        environment,
        "## Streams",
        METHOD,
        summarise({name: runs for name, (_, runs) in compared.items()}),
        *(text for text, _ in compared.values()),
        "## Parameters",
        PARAMETERS,
        rates,
        "## Classes one after the other",
        ORDERS,
        *orders,
        "## Batches",
        BATCHES,
        batches,
        saved=not quick,
    )


if __name__ == "__main__":
    main()
