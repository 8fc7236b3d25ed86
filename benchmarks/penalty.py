"""Penalties of the readout "ridge": the automatic one, the most accurate, the best by GCV.

Run as `python benchmarks/penalty.py`, with five seeds; `--quick` only shows that it runs. Writes
benchmarks/results/penalty.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import report
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri
from threadpoolctl import threadpool_limits

from kenyon import FlyClassifier
from kenyon.readouts.ridge import PENALTIES
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit import PairingMemory

N_SEEDS, N_CELLS, N_HELD_OUT = 5, 2000, 3000
TRIED = PENALTIES[PENALTIES > 5e-5]
DATASETS = ("mnist20", "clinc150", "tiny100")
N_SAMPLES = (200, 600, 2000, 6000, 12_000, 40_000)

METHOD = f"""\
Accuracy on {N_HELD_OUT} held-out training samples with each penalty, after learning some others:
mean of {N_SEEDS} seeds, with {N_CELLS} cells and defaults otherwise. Then the penalties that the
readout chooses, with its accuracy, and those with the lowest error of generalised cross-validation
(GCV) on the targets, computed exactly: every penalty factorised, traces from the inverse factor."""


@dataclass(frozen=True)
class Comparison:
    """The accuracy with each penalty and with the chosen one, and the best penalty by GCV."""

    accuracies: list[float]
    chosen: float
    accuracy: float
    best_by_gcv: float


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
        solution = snapshot.cache.peek("ridge factor")
        errors = [gcv_error(snapshot.memory, penalty * solution.unit) for penalty in TRIED]
    accuracies = [model.set_params(penalty=float(penalty)).score(X, y) for penalty in TRIED]
    return Comparison(accuracies, solution.penalty, accuracy, TRIED[np.argmin(errors)])


def gcv_error(memory: PairingMemory, shift: float) -> float:
    """Return the error of generalised cross-validation for a shift, up to a factor."""
    A, C = memory.pairs.expand(1).T, memory.synapses.T.astype(np.float64)
    A[np.diag_indices_from(A)] += shift
    factor = cho_factor(A, overwrite_a=True, check_finite=False)
    W = cho_solve(factor, C, check_finite=False)
    n_samples = memory.pairs.n_samples
    residual = n_samples - np.vdot(W, C) - shift * np.vdot(W, W)
    inverse, _ = dtrtri(factor[0], overwrite_c=True)
    freedom = n_samples - len(A) + shift * np.square(np.triu(inverse)).sum()
    return float(residual / freedom**2)


def row(data: str, n_samples: int, seeds: Sequence[int]) -> list[str]:
    """Return a row of the table."""
    found = [compare(data, n_samples, seed) for seed in seeds]
    return [
        f"{data}, {n_samples:,}",
        f"{n_samples / N_CELLS:g}",
        *(f"{mean:.3f}" for mean in np.mean([one.accuracies for one in found], axis=0)),
        _list({one.chosen for one in found}),
        str(spread(one.accuracy for one in found)),
        _list({one.best_by_gcv for one in found}),
    ]


def _list(penalties: set[float]) -> str:
    return ", ".join(f"{penalty:g}" for penalty in sorted(penalties))


def main() -> None:
    quick = report.parse_quick(__doc__)
    seeds = range(1 if quick else N_SEEDS)
    environment = report.environment(f"seeds 0 to {seeds[-1]}", ("kenyon", "numpy", "scipy"))
    tried = [f"{penalty:g}" for penalty in TRIED]
    header = ("samples", "per cell", *tried, "chosen", "accuracy", "best by GCV")
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
