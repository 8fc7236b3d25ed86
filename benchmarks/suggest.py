"""Parameters suggested by the theory against those of a grid search.

Run as `python benchmarks/suggest.py`, with tiny100 in KENYON_DATA_DIR: searches a grid on training
samples, then compares its best, `kenyon.suggest` and the defaults on the test samples. Writes
benchmarks/results/suggest.md.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import report

from kenyon import FlyClassifier
from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.suggest import suggest
from kenyon_lab.data import load
from kenyon_lab.data.split import split
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data import Dataset

DATASETS, N_SEEDS, GOAL = ("mnist20-distorted", "clinc150", "tiny100"), 5, 0.02
MAX_LEARNED, MAX_VALIDATED = 400, 50
"""Samples of each class in the grid search."""

CELLS = (2000, 5000, 20_000)
FAN_IN = (0.05, 0.1, 0.25, 0.5)
ACTIVE = (0.01, 0.02, 0.05, 0.1)
RATES = (5, 10, 20, 50, 100, 200)
"""Shares of features, shares of cells, and learning rates times the samples of a class."""

METHOD = f"""\
Accuracy with the readout "fly". The grid: {", ".join(f"{n:,}" for n in CELLS)} cells; fan-in
{", ".join(f"{s:g}" for s in FAN_IN)} times the features; {", ".join(f"{a:.0%}" for a in ACTIVE)}
of the cells active; learning rates of {", ".join(map(str, RATES))} over the samples of a class. The
grid search has one seed, learns at most {MAX_LEARNED} training samples of each class and validates
on at most {MAX_VALIDATED} held-out ones. Then its best parameters, the suggestion (from the numbers
of features, classes and samples alone) and the defaults learn all training samples: accuracy on the
test samples, mean ± standard deviation over five seeds. Goal: the suggestion is at most
{GOAL * 100:.0f} points below the grid search."""


def search(dataset: Dataset) -> tuple[float, dict[str, Any]]:
    """Return the best validation accuracy of the grid, and its parameters for all samples."""
    X, y, *validation = split(dataset.X_train, dataset.y_train, 0)
    (X, y), (X_val, y_val) = thin(X, y, MAX_LEARNED), thin(*validation, MAX_VALIDATED)
    n_each, n_all = len(y) / dataset.n_classes, len(dataset.y_train) / dataset.n_classes
    best: tuple[float, dict[str, Any]] = (0.0, {})
    for n_cells, share, active in product(CELLS, FAN_IN, ACTIVE):
        sizes = {
            "n_cells": n_cells,
            "fan_in": round(share * dataset.n_features),
            "n_active": round(active * n_cells),
        }
        fly = FlyClassifier(**sizes, readout="fly").fit(X, y)
        for rate in RATES:
            fly.set_params(learning_rate=min(1.0, rate / n_each))
            accuracy = float(fly.score(X_val, y_val))
            if accuracy > best[0]:
                best = accuracy, {**sizes, "learning_rate": float(f"{min(1, rate / n_all):.2g}")}
        print(dataset.name, sizes, f"{best[0]:.4f}", flush=True)
    return best


def thin(X: NDArray[Any], y: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return at most `most` samples of each class."""
    rows = np.concatenate([np.flatnonzero(y == label)[:most] for label in np.unique(y)])
    return X[rows], y[rows]


def measure(dataset: Dataset, parameters: dict[str, Any]) -> list[float]:
    """Return the accuracy on the test samples with each seed."""
    return [
        float(
            FlyClassifier(**parameters, readout="fly", random_state=seed)
            .fit(dataset.X_train, dataset.y_train)
            .score(dataset.X_test, dataset.y_test)
        )
        for seed in range(N_SEEDS)
    ]


def describe(dataset: Dataset, parameters: dict[str, Any]) -> tuple[str, ...]:
    """Return cells, fan-in, active cells and learning rate, with defaults for those missing."""
    sizes = {name: parameters.get(name) for name in ("n_cells", "fan_in", "n_active")}
    coder = design_layer(dataset.n_features, FLY_LAYER, **sizes)
    default = 20 * dataset.n_classes / len(dataset.y_train)
    rate = parameters.get("learning_rate", default)
    return f"{coder.n_cells:,}", str(coder.fan_in), str(coder.n_active), f"{rate:.2g}"


def compare(name: str) -> list[tuple[str, ...]]:
    """Return the rows of a dataset."""
    dataset = load(name)
    n_each = len(dataset.y_train) // dataset.n_classes
    validated, best = search(dataset)
    candidates: dict[str, dict[str, Any]] = {
        "grid search": best,
        "suggest": suggest(dataset.n_features, dataset.n_classes, n_each),
        "default": {},
    }
    accuracies = {source: measure(dataset, chosen) for source, chosen in candidates.items()}
    rows = []
    for source, parameters in candidates.items():
        gap = 100 * (np.mean(accuracies["grid search"]) - np.mean(accuracies[source]))
        behind = f"{round(float(gap), 1) + 0.0:.1f}"  # no -0.0
        first, last = (f"{validated:.3f}", "") if source == "grid search" else ("", behind)
        test = str(spread(accuracies[source]))
        rows.append((f"{name}, {source}", *describe(dataset, parameters), first, test, last))
    print(*rows, sep="\n", flush=True)
    return rows


def main() -> None:
    """Compare on every dataset, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    datasets = parser.parse_args().datasets
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}")
    rows = [row for name in datasets for row in compare(name)]
    header = ("", "cells", "fan-in", "active", "rate", "validation", "test", "points behind")
    table = report.table(header, rows)
    met = all(float(row[-1]) <= 100 * GOAL for row in rows if "suggest" in row[0])
    method = f"{METHOD} Met: {'yes' if met else 'no'}."
    report.publish("suggest.md", "# Suggested parameters", environment, method, table)


if __name__ == "__main__":
    main()
