"""Whether the parameters that the theory suggests are as good as those of a grid search.

Run as `python benchmarks/suggest.py`, with tiny100 in KENYON_DATA_DIR: searches a grid on a part of
the training samples, then compares its best, what `kenyon.suggest` says and the defaults on
the test samples. Writes benchmarks/results/suggest.md.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import report

from kenyon import FlyClassifier
from kenyon.circuit import Coder
from kenyon.suggest import suggest
from kenyon_lab.data import load
from kenyon_lab.data.split import split
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

DATASETS, N_SEEDS, GOAL = ("mnist20", "clinc150", "tiny100"), 5, 0.02
N_LEARNED, N_TESTED = 400, 50
"""Of each class, at most, while the grid is searched."""

CELLS = (2000, 5000, 20_000)
FAN_IN = (0.05, 0.1, 0.25, 0.5)
ACTIVE = (0.01, 0.02, 0.05, 0.1)
RATES = (5, 10, 20, 50, 100, 200)
"""Fan-in as shares of the features, winners as shares of the cells, rates times samples a class."""

METHOD = f"""\
Accuracy with the readout "fly". The grid: {", ".join(f"{n:,}" for n in CELLS)} cells; fan-in
{", ".join(f"{s:g}" for s in FAN_IN)} times the features; {", ".join(f"{a:.0%}" for a in ACTIVE)}
of the cells active; learning rates of {", ".join(map(str, RATES))} over the samples of a class. It
was searched with one seed: at most {N_LEARNED} training samples to a class were learned, and at
most {N_TESTED} others to a class, put aside, were asked. Its best, the suggestion (which knows the
numbers of features, classes and samples, and nothing else) and the defaults then learned all
training samples: accuracy on the test samples, mean ± standard deviation over five seeds. Goal: the
suggestion is at most {GOAL * 100:.0f} points below the grid's best."""


def search(dataset: Dataset) -> tuple[float, dict[str, Any]]:
    """Return the grid's best accuracy on samples put aside, and the parameters for all samples."""
    X, y, X_aside, y_aside = split(dataset.X_train, dataset.y_train, 0)
    (X, y), (X_aside, y_aside) = thin(X, y, N_LEARNED), thin(X_aside, y_aside, N_TESTED)
    n_each, n_all = len(y) / dataset.n_classes, len(dataset.y_train) / dataset.n_classes
    best: tuple[float, dict[str, Any]] = (0.0, {})
    for n_cells, share, active in product(CELLS, FAN_IN, ACTIVE):
        sizes = {
            "n_cells": n_cells,
            "fan_in": round(share * dataset.n_features),
            "n_active": round(active * n_cells),
        }
        fly = FlyClassifier(**sizes).fit(X, y)
        for rate in RATES:
            fly.set_params(learning_rate=min(1.0, rate / n_each))
            accuracy = float(fly.score(X_aside, y_aside))
            if accuracy > best[0]:
                best = accuracy, {**sizes, "learning_rate": float(f"{min(1, rate / n_all):.2g}")}
        print(dataset.name, sizes, f"{best[0]:.4f}", flush=True)
    return best


def thin(X: NDArray[Any], y: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return at most so many samples of each class."""
    kept = np.concatenate([np.flatnonzero(y == label)[:most] for label in np.unique(y)])
    return X[kept], y[kept]


def measure(dataset: Dataset, parameters: dict[str, Any]) -> list[float]:
    """Return the accuracy on the test samples with each seed."""
    return [
        float(
            FlyClassifier(**parameters, random_state=seed)
            .fit(dataset.X_train, dataset.y_train)
            .score(dataset.X_test, dataset.y_test)
        )
        for seed in range(N_SEEDS)
    ]


def describe(dataset: Dataset, parameters: dict[str, Any]) -> tuple[str, ...]:
    """Return cells, fan-in, winners and learning rate, those chosen by default too."""
    sizes = {name: parameters.get(name) for name in ("n_cells", "fan_in", "n_active")}
    coder = Coder.design(dataset.n_features, **sizes)
    usual = 20 * dataset.n_classes / len(dataset.y_train)
    rate = parameters.get("learning_rate", usual)
    return f"{coder.n_cells:,}", str(coder.fan_in), str(coder.n_active), f"{rate:.2g}"


def compare(name: str) -> list[tuple[str, ...]]:
    """Return the rows of a dataset."""
    dataset = load(name)
    n_each = len(dataset.y_train) // dataset.n_classes
    found, of_grid = search(dataset)
    rivals: dict[str, dict[str, Any]] = {
        "grid's best": of_grid,
        "suggest": suggest(dataset.n_features, dataset.n_classes, n_each),
        "default": {},
    }
    accuracies = {who: measure(dataset, parameters) for who, parameters in rivals.items()}
    rows = []
    for who, parameters in rivals.items():
        gap = 100 * (np.mean(accuracies["grid's best"]) - np.mean(accuracies[who]))
        behind = round(float(gap), 1) + 0.0  # no -0.0
        aside = f"{found:.3f}" if who == "grid's best" else ""
        told = str(spread(accuracies[who])), f"{behind:.1f}" if who != "grid's best" else ""
        rows.append((f"{name}, {who}", *describe(dataset, parameters), aside, *told))
    print(*rows, sep="\n", flush=True)
    return rows


def main() -> None:
    """Compare on every dataset, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    datasets = parser.parse_args().datasets
    circumstances = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    rows = [row for name in datasets for row in compare(name)]
    header = ("", "cells", "fan-in", "active", "rate", "aside", "test", "points behind")
    table = report.table(header, rows)
    met = all(float(row[-1]) <= 100 * GOAL for row in rows if "suggest" in row[0])
    verdict = f"Met: {'yes' if met else 'no'}."
    text = "\n\n".join(("# What the theory suggests", circumstances, f"{METHOD} {verdict}", table))
    print(text)
    report.save("suggest.md", text)


if __name__ == "__main__":
    main()
