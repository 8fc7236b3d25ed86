"""Penalties of the readout "ridge": the closed form beside fixed ones.

Run as `python benchmarks/penalty.py`, with two seeds; `--quick` only shows that it runs. Writes
benchmarks/results/penalty.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import report
from threadpoolctl import threadpool_limits

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

N_SEEDS, N_CELLS, N_HELD_OUT = 2, 2304, 3000
TRIED = 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0
DATASETS = ("mnist20-distorted", "clinc150", "tiny100")
N_SAMPLES = (200, 600, 2000, 6000, 12_000, 40_000)

METHOD = f"""\
Accuracy on {N_HELD_OUT} held-out training samples with each penalty, after learning some others:
mean of {N_SEEDS} seeds, with {N_CELLS} cells and defaults otherwise. Then the automatic penalty,
0.1 (cells / samples)² from 1e-4 to 1, with its accuracy. Every penalty is multiplied with the mean
of the Gram matrix's diagonal and rounded to a power of two; "automatic" is the value after
rounding."""


@dataclass(frozen=True)
class Comparison:
    """The accuracy with each penalty, and with the automatic one."""

    accuracies: list[float]
    automatic: float
    accuracy: float


def compare(data: str, n_samples: int, seed: int) -> Comparison:
    """Learn some samples, and predict others with every penalty."""
    dataset = load(data)
    order = np.random.default_rng(seed).permutation(len(dataset.X_train))
    held_out, rows = order[:N_HELD_OUT], order[N_HELD_OUT:][:n_samples]
    X, y = dataset.X_train[held_out], dataset.y_train[held_out]
    model = FlyClassifier(n_cells=N_CELLS, readout="ridge", random_state=seed, n_threads=1)
    model.fit(dataset.X_train[rows], dataset.y_train[rows])
    accuracy = model.score(X, y)
    with model.circuit_.memory.reading as snapshot:
        mean = snapshot.memory.pairs.trace / N_CELLS
        automatic = snapshot.cache.peek("ridge solution").shift / mean
    accuracies = [model.set_params(penalty=penalty).score(X, y) for penalty in TRIED]
    return Comparison(accuracies, automatic, accuracy)


def row(data: str, n_samples: int, seeds: Sequence[int]) -> list[str]:
    """Return a row of the table."""
    found = [compare(data, n_samples, seed) for seed in seeds]
    return [
        f"{data}, {n_samples:,}",
        f"{n_samples / N_CELLS:.2g}",
        *(f"{mean:.3f}" for mean in np.mean([one.accuracies for one in found], axis=0)),
        f"{np.mean([one.automatic for one in found]):.1e}",
        str(spread(one.accuracy for one in found)),
    ]


def main() -> None:
    quick = report.parse_quick(__doc__)
    seeds = range(1 if quick else N_SEEDS)
    environment = report.environment(f"seeds 0 to {seeds[-1]}", ("kenyon", "numpy", "scipy"))
    tried = [f"{penalty:g}" for penalty in TRIED]
    header = ("samples", "per cell", *tried, "automatic", "accuracy")
    with threadpool_limits(1):
        rows = [
            row(data, n_samples, seeds)
            for data in (DATASETS[:1] if quick else DATASETS)
            for n_samples in (N_SAMPLES[:2] if quick else N_SAMPLES)
            if n_samples + N_HELD_OUT <= len(load(data).X_train)
        ]
    table = report.table(header, rows)
    report.publish(
        "penalty.md", "# Penalties of ridge", environment, METHOD, table, saved=not quick
    )


if __name__ == "__main__":
    main()
