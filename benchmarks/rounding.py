"""The rounding errors of ridge's weights after many rank-one updates.

Run as `python benchmarks/rounding.py`; `--quick` only shows that it runs. Writes
benchmarks/results/rounding.md.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import report
from problem import SEED, default_classifier, draw_on_sphere

from kenyon.readouts import ridge

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from kenyon import FlyClassifier

N_READ = 200
"""Samples whose scores are compared."""
TOGETHER = 4
"""Samples of a call, each one rank-one update: for many more, ridge solves again instead."""
GOAL = 1e-9

METHOD = f"""\
Rounding errors after rank-one updates: `partial_fit` of {TOGETHER} new samples and `unlearn` of the
{TOGETHER} oldest in turns, with a prediction after every call, one update a sample. Scores of
{N_READ} samples and the weights are compared with those of a refresh, relative to the largest; the
table has the largest error of several checks on the way. Goal: scores below {GOAL:g} with the
refreshes that the library makes."""


@dataclass(frozen=True)
class Drift:
    """A model that learns and unlearns samples, and predicts after every call.

    Parameters
    ----------
    n_cells, n_classes : int
    n_kept : int
        Samples that it has learned before, and keeps: it unlearns the oldest.
    n_updates : int
        Rank-one updates, half of them to unlearn.
    n_checks : int
        Comparisons with a model that solves from the same sums.
    """

    n_cells: int
    n_classes: int
    n_kept: int
    n_updates: int
    n_checks: int

    def measure(self, refreshes: bool) -> dict[str, float]:
        """Return the refreshes and the largest relative errors of scores and of weights."""
        per_cell = ridge.UPDATES_PER_CELL if refreshes else math.inf
        with patch.object(ridge, "UPDATES_PER_CELL", per_cell):
            measured = self._run()
        # A model that solves again at every call has no errors, and shows nothing.
        most = math.ceil(self.n_updates / (per_cell * self.n_cells))
        assert measured["refreshes"] <= most, f"{measured['refreshes']} refreshes, not {most}"
        return measured

    def _run(self) -> dict[str, float]:
        rng = np.random.default_rng(SEED)
        X, y = draw_on_sphere(self.n_classes, 4 * self.n_kept, rng)
        read = X[:N_READ]
        model = default_classifier(n_cells=self.n_cells).fit(X[: self.n_kept], y[: self.n_kept])
        model.predict(X[:1])
        refreshed, errors = {solution(model).refreshed}, []
        n_steps = self.n_updates // (2 * TOGETHER)
        checks = {n_steps * (i + 1) // self.n_checks for i in range(self.n_checks)}
        oldest, newest = 0, self.n_kept
        for step in range(1, n_steps + 1):
            new = slice(newest, newest + TOGETHER)
            old = slice(oldest, oldest + TOGETHER)
            for change, rows in ((model.partial_fit, new), (model.unlearn, old)):
                change(X[rows], y[rows])
                model.predict_one(read[step % N_READ])
                refreshed.add(solution(model).refreshed)
            oldest, newest = (oldest + TOGETHER) % len(X), (newest + TOGETHER) % len(X)
            if step in checks:
                errors.append(relative_errors(model, read))
        scores, weights = np.max(errors, axis=0)
        return {"refreshes": len(refreshed) - 1, "scores": scores, "weights": weights}


def relative_errors(model: FlyClassifier, X: NDArray[np.float32]) -> tuple[float, float]:
    """Compare scores and weights with those of a refresh, relative to the largest."""
    exact = deepcopy(model).refresh()
    return (
        _relative(model.decision_function(X), exact.decision_function(X)),
        _relative(_weights(model), _weights(exact)),
    )


def solution(model: FlyClassifier) -> Any:
    """Return the cached solution of a model: its solver, its version and its last refresh."""
    with model.circuit_.memory.reading as snapshot:
        return snapshot.cache.peek("ridge solution")


def _weights(model: FlyClassifier) -> NDArray[np.float64]:
    read = solution(model)
    return np.asarray(read.solver.get(0, read.solver.n_classes))[read.order]


def _relative(values: NDArray[np.float64], exact: NDArray[np.float64]) -> float:
    return float(np.abs(values - exact).max() / np.abs(exact).max())


DRIFTS = (
    Drift(n_cells=256, n_classes=10, n_kept=1000, n_updates=1_000_000, n_checks=97),
    Drift(n_cells=2304, n_classes=150, n_kept=6000, n_updates=10_000, n_checks=7),
)
QUICK_DRIFTS = (Drift(n_cells=256, n_classes=10, n_kept=1000, n_updates=2000, n_checks=3),)


def drift_table(drifts: tuple[Drift, ...]) -> str:
    """Show the errors with the library's refreshes and without."""
    cases = [(drift, refreshes) for drift in drifts for refreshes in (True, False)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        results = pool.map(Drift.measure, *zip(*cases, strict=True))
        rows = [
            [
                f"{drift.n_cells:,} cells, {drift.n_classes} classes",
                f"{drift.n_updates:,}",
                f"{measured['refreshes']:,.0f}",
                f"{measured['scores']:.1e}",
                f"{measured['weights']:.1e}",
                ("yes" if measured["scores"] < GOAL else "no") if refreshes else "",
            ]
            for (drift, refreshes), measured in zip(cases, results, strict=True)
        ]
    return report.table(("circuit", "updates", "refreshes", "scores", "weights", "met"), rows)


def main() -> None:
    quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "scipy"))
    table = drift_table(QUICK_DRIFTS if quick else DRIFTS)
    report.publish("rounding.md", "# Rounding errors", environment, METHOD, table, saved=not quick)


if __name__ == "__main__":
    main()
