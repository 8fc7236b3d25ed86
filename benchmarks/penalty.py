"""The penalty that the readout "ridge" chooses, against the best by exact cross-validation.

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
from kenyon.data import load
from kenyon.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.circuit import PairingMemory

N_SEEDS, N_CELLS, N_ACTIVE = 5, 3200, 640
TRIED = ridge.PENALTIES[ridge.PENALTIES > 5e-4]
RUNS = {"clinc150": (3000, 15_000), "mnist20": (3000, 10_000)}

METHOD = f"""\
Exactly, every penalty from {TRIED[0]:g} to {TRIED[-1]:g} is factored and its trace is computed by
inverting the factor; the readout judges neighbours from the factor of one. How many times the least
cross-validation that of its choice is, and the accuracies on the test set of its choice and of the
exact one: mean and standard deviation of {N_SEEDS} seeds, {N_CELLS} cells, {N_ACTIVE} active."""


@dataclass(frozen=True)
class Choice:
    """What was chosen, what would have been best, and what it matters."""

    chosen: float
    best: float
    excess: float
    accuracy: float
    best_accuracy: float


def compare(data: str, n_samples: int, seed: int) -> Choice:
    """Learn some samples, and choose in both ways."""
    dataset = load(data)
    rows = np.random.default_rng(seed).permutation(len(dataset.X_train))[:n_samples]
    model = FlyClassifier(
        n_cells=N_CELLS,
        n_active=N_ACTIVE,
        readout="ridge",
        inhibition="subtract",
        random_state=seed,
        n_threads=1,
    ).fit(dataset.X_train[rows], dataset.y_train[rows])
    accuracy = model.score(dataset.X_test, dataset.y_test)
    with model.circuit_.memory.reading as memory:
        solution = memory.derived[ridge._Solution][1]
        chosen = float(solution.penalty)
        judged = {
            penalty: exact(memory, penalty * solution.unit) for penalty in {*TRIED.tolist(), chosen}
        }
    best = min(judged, key=judged.__getitem__)
    best_accuracy = model.set_params(penalty=best).score(dataset.X_test, dataset.y_test)
    return Choice(chosen, best, judged[chosen] / judged[best], accuracy, best_accuracy)


def exact(memory: PairingMemory, shift: float) -> float:
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


def row(data: str, n_samples: int, choices: Sequence[Choice]) -> list[str]:
    """Put seeds together."""
    return [
        f"{data}, {n_samples:,} samples",
        *(
            ", ".join(f"{penalty:g}" for penalty in sorted(penalties))
            for penalties in ({c.chosen for c in choices}, {c.best for c in choices})
        ),
        f"{max(c.excess for c in choices):.3f}",
        str(spread(c.accuracy for c in choices)),
        str(spread(c.best_accuracy for c in choices)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, and no result is kept")
    quick = parser.parse_args().quick
    seeds = range(1 if quick else N_SEEDS)
    circumstances = report.circumstances(
        f"seeds 0 to {seeds[-1]}", packages=("kenyon", "numpy", "scipy")
    )
    header = ("data", "chosen", "best", "excess, at most", "accuracy", "of the best")
    with threadpool_limits(1):
        rows = [
            row(data, n_samples, [compare(data, n_samples, seed) for seed in seeds])
            for data, numbers in RUNS.items()
            for n_samples in (numbers[:1] if quick else numbers)
        ]
    text = "\n\n".join(("# Penalties", circumstances, METHOD, report.table(header, rows)))
    print(text)
    if not quick:
        report.save("penalty.md", text)


if __name__ == "__main__":
    main()
