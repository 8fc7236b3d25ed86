"""Penalties of the readout "ridge": the one it chooses, the best for labels, the best for targets.

Run as `python benchmarks/penalty.py`, with five seeds; `--quick` shows only that everything runs.
Writes benchmarks/results/penalty.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import report
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri
from threadpoolctl import threadpool_limits

from kenyon import FlyClassifier, ridge
from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit import PairingMemory

N_SEEDS, N_CELLS, N_ASIDE = 5, 2000, 3000
TRIED = ridge.PENALTIES[ridge.PENALTIES > 5e-5]
DATASETS = ("mnist20", "clinc150", "tiny100")
N_SAMPLES = (200, 600, 2000, 6000, 12_000, 40_000)

METHOD = f"""\
Accuracy on {N_ASIDE} training samples put aside, with each penalty, after learning some others: a
mean of {N_SEEDS} seeds, with {N_CELLS} cells, everything else as the readout has it. Beside it the
penalties that the readout chose, and its accuracy; and those that cross-validation of targets would
choose if every penalty were factored and its trace computed by inverting the factor."""


@dataclass(frozen=True)
class Comparison:
    """What came of each penalty, of the one that the readout chose, and the best for targets."""

    accuracies: list[float]
    chosen: float
    accuracy: float
    best: float


def compare(data: str, n_samples: int, seed: int) -> Comparison:
    """Learn some samples, and read them with every penalty."""
    dataset = load(data)
    order = np.random.default_rng(seed).permutation(len(dataset.X_train))
    aside, rows = order[:N_ASIDE], order[N_ASIDE:][:n_samples]
    X, y = dataset.X_train[aside], dataset.y_train[aside]
    model = FlyClassifier(n_cells=N_CELLS, readout="ridge", random_state=seed, n_threads=1)
    model.fit(dataset.X_train[rows], dataset.y_train[rows])
    accuracy = model.score(X, y)
    with model.circuit_.memory.reading as memory:
        chosen, unit = memory.factor.penalty, memory.factor.unit
        judged = [cross_validation(memory, penalty * unit) for penalty in TRIED]
    accuracies = [model.set_params(penalty=float(penalty)).score(X, y) for penalty in TRIED]
    return Comparison(accuracies, chosen, accuracy, TRIED[np.argmin(judged)])


def cross_validation(memory: PairingMemory, shift: float) -> float:
    """Return the generalised cross-validation of a shift, up to a factor."""
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
    """Put seeds together."""
    found = [compare(data, n_samples, seed) for seed in seeds]
    return [
        f"{data}, {n_samples:,}",
        f"{n_samples / N_CELLS:g}",
        *(f"{mean:.3f}" for mean in np.mean([one.accuracies for one in found], axis=0)),
        _list({one.chosen for one in found}),
        str(spread(one.accuracy for one in found)),
        _list({one.best for one in found}),
    ]


def _list(penalties: set[float]) -> str:
    return ", ".join(f"{penalty:g}" for penalty in sorted(penalties))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, and no result is kept")
    quick = parser.parse_args().quick
    seeds = range(1 if quick else N_SEEDS)
    circumstances = report.environment(
        f"seeds 0 to {seeds[-1]}", packages=("kenyon", "numpy", "scipy")
    )
    header = (
        "samples",
        "to a cell",
        *(f"{penalty:g}" for penalty in TRIED),
        "chosen",
        "accuracy",
        "for targets",
    )
    with threadpool_limits(1):
        rows = [
            row(data, n_samples, seeds)
            for data in (DATASETS[:1] if quick else DATASETS)
            for n_samples in (N_SAMPLES[:2] if quick else N_SAMPLES)
            if n_samples + N_ASIDE <= len(load(data).X_train)
        ]
    text = "\n\n".join(("# Penalties", circumstances, METHOD, report.table(header, rows)))
    print(text)
    if not quick:
        report.save("penalty.md", text)


if __name__ == "__main__":
    main()
