"""The cost of the readouts to learn, solve and predict, as ratios of times from one run.

Run as `python benchmarks/readouts.py`; `--quick` only shows that it runs. Writes
benchmarks/results/readouts.md.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from problem import SEED, A, Size
from race import Contestant, race
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from kenyon import FlyClassifier
from kenyon._native import Counters, Pairs, change
from kenyon.readouts import READOUTS
from kenyon_lab.data import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_ACTIVE = (160, 640, 1280)
BATCH, N_SINGLE = 1024, 64
PAIRS_GOAL, SOLVE_GOAL = 5000, 2
STEP, N_READS = 100, 9
N_CELLS, ACTIVE = 3200, 640
BUSY = 0.5

METHOD = """\
The contestants take turns in every round. Each step of their work counts with its fastest time. One
thread, unless the column names two."""

PAIRS = f"""\
Counting pairs from codes, {BATCH} samples at a time, with {N_CELLS} cells: samples in a second of
CPU time, which excludes other programs, and of wall time. Goal: {PAIRS_GOAL} samples a second on
two threads."""

SOLVING = f"""\
The first prediction of "ridge" after learning, with {N_CELLS} cells, {ACTIVE} of them active,
relative to SciPy's `cho_factor` and `cho_solve` of the same matrix, in place, with a given penalty.
Goal: at most {SOLVE_GOAL}. Then the prediction after every {STEP} further samples: the first, and
the mean of {N_READS}, some of which factorise the matrix again."""

LEARNING = f"""\
Learning ({BATCH} samples a call, or one) and predicting by readout, from samples to labels, with
{N_CELLS} cells and {A.n_features} inputs; then the ratio to "fly"."""


@dataclass(frozen=True)
class Reading:
    """A model of real data, whose predictions are timed."""

    data: str
    n_samples: int

    def measure(self, rounds: int) -> dict[str, float]:
        """Return the fastest seconds of SciPy's solution and of predictions."""
        dataset = load(self.data)
        order = np.random.default_rng(SEED).permutation(len(dataset.X_train))
        # Every round learns the last samples, and unlearns them again.
        rows, more = order[: self.n_samples], order[-N_READS * STEP :]
        X, y = dataset.X_train, dataset.y_train
        model = FlyClassifier(
            n_cells=N_CELLS,
            n_active=ACTIVE,
            readout="ridge",
            inhibition="subtract",
            random_state=SEED,
            n_threads=1,
        ).fit(X[rows], y[rows])
        predict = partial(model.predict, X[:1])
        taken: dict[str, list[float]] = {"SciPy": [], "given": [], "auto": []}
        reads = np.full(N_READS, math.inf)
        for _ in range(rounds):
            taken["SciPy"].append(_scipy(model))
            for name, penalty in (("given", 0.01), ("auto", "auto")):
                _clear_cache(model.set_params(penalty=penalty))
                taken[name].append(_seconds(predict))
            for i, new in enumerate(more.reshape(N_READS, STEP)):
                model.partial_fit(X[new], y[new])
                reads[i] = min(reads[i], _seconds(predict))
            model.unlearn(X[more], y[more])
        fastest = {name: min(seconds) for name, seconds in taken.items()}
        return {**fastest, "next": reads[0], "mean": reads.mean()}

    def row(self, taken: dict[str, float]) -> list[str]:
        """Return a row of the table: times relative to SciPy's."""
        ratios = {name: seconds / taken["SciPy"] for name, seconds in taken.items()}
        names = ("given", "auto", "next", "mean")
        return [
            f"{self.data}, {self.n_samples:,} samples, {load(self.data).n_classes} classes",
            f"{taken['SciPy'] * 1e3:.0f}",
            *(f"{ratios[name]:.2f}" for name in names),
            "yes" if max(ratios["given"], ratios["auto"]) <= SOLVE_GOAL else "no",
        ]


READINGS = (
    Reading("mnist20-distorted", 10_000),
    Reading("mnist20-distorted", 100_000),
    Reading("clinc150", 10_000),
)
QUICK_READINGS = (Reading("mnist20-distorted", 2000),)


def pairs_table(rounds: int) -> str:
    """Show the samples a second of counting pairs."""
    contestants = {}
    for n_active in N_ACTIVE:
        size = replace(A, n_active=n_active)
        contestants[f"{n_active} CPU"] = _pairs(size, 1, process_time)
        contestants[f"{n_active} one"] = _pairs(size, 1, perf_counter)
        contestants[f"{n_active} two"] = _pairs(size, 2, perf_counter)
    times = race(contestants, rounds)
    rows = []
    for n_active in N_ACTIVE:
        rates = [1 / times[f"{n_active} {name}"] for name in ("CPU", "one", "two")]
        met = "yes" if rates[-1] >= PAIRS_GOAL else "no"
        rows.append([f"{n_active} active", *(f"{rate:,.0f}" for rate in rates), met])
    header = ("samples a second", "CPU time", "one thread", "two threads", "met")
    return report.table(header, rows)


def solving_table(readings: tuple[Reading, ...], rounds: int) -> str:
    """Show the times of predictions relative to SciPy's Cholesky factorisation."""
    ratios = ("penalty given", "penalty auto", f"{STEP} more", "mean")
    header = ("data", "SciPy, ms", *ratios, "met")
    return report.table(header, [reading.row(reading.measure(rounds)) for reading in readings])


def learning_table(size: Size, rounds: int) -> str:
    """Show the times of learning and predicting with each readout."""
    contestants = {}
    for readout in READOUTS:
        for work, contestant in _work(size, readout).items():
            contestants[f"{work} {readout}"] = contestant
    times = race(contestants, rounds)
    rows = []
    for work in ("partial_fit", "learn_one", "predict", "predict_one"):
        taken = [times[f"{work} {readout}"] for readout in READOUTS]
        ratios = [f"{seconds / taken[0]:.2f}" for seconds in taken[1:]]
        rows.append([work, *(f"{seconds * 1e6:.2f}" for seconds in taken), *ratios])
    compared = [f"{readout} / fly" for readout in READOUTS[1:]]
    return report.table((f"us a sample, {size.n_active} active", *READOUTS, *compared), rows)


def _pairs(size: Size, n_threads: int, clock: Callable[[], float]) -> Contestant:
    X, _ = size.draw(BATCH, np.random.default_rng(SEED))
    codes, slots = size.coder().encode(X, 1), np.zeros(BATCH, dtype=np.int32)
    counters, pairs = Counters(size.n_cells), Pairs(size.n_cells)
    counters.insert(np.zeros(1, np.int32))

    def learn() -> None:
        change(counters, pairs, None, n_threads, learned=codes, learned_slots=slots)

    return Contestant(BATCH, learn, clock=clock)


def _work(size: Size, readout: str) -> dict[str, Contestant]:
    X, y = size.draw(BATCH, np.random.default_rng(SEED))
    reader = size.classifier().set_params(readout=readout).fit(X, y)
    learner = size.classifier().set_params(readout=readout).fit(X, y)
    singles = list(zip(X[:N_SINGLE], y[:N_SINGLE].tolist(), strict=True))

    reader.predict(X)
    return {
        "partial_fit": Contestant(BATCH, lambda: learner.partial_fit(X, y)),
        "learn_one": Contestant(
            N_SINGLE, *(partial(learner.learn_one, *single) for single in singles)
        ),
        "predict": Contestant(BATCH, lambda: reader.predict(X)),
        "predict_one": Contestant(N_SINGLE, *(partial(reader.predict_one, x) for x, _ in singles)),
    }


def _scipy(model: FlyClassifier) -> float:
    """Return the seconds of SciPy to solve the equations of a model."""
    with model.circuit_.memory.reading as snapshot:
        pairs, C = snapshot.memory.pairs, snapshot.memory.synapses.T.astype(np.float64)
        matrix = pairs.expand(1).T
    matrix[np.diag_indices_from(matrix)] += 0.01 * pairs.trace / len(matrix)

    def solve() -> NDArray[np.float64]:
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, C, check_finite=False))

    return _seconds(solve)


def _clear_cache(model: FlyClassifier) -> None:
    with model.circuit_.memory.reading as snapshot:
        for kind in ("ridge weights", "ridge factor"):
            snapshot.cache.discard(kind)


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _warning() -> str:
    load_before = os.getloadavg()[0]
    if load_before <= BUSY:
        return ""
    return (
        f"Other programs were running (load {load_before:.1f}): times are too long, two threads "
        "had less than two cores, and ratios are rough."
    )


def main() -> None:
    quick = report.parse_quick(__doc__)
    introduction = [report.environment(packages=("kenyon", "numpy", "scipy")), _warning(), METHOD]
    with threadpool_limits(1):
        tables = (
            PAIRS,
            pairs_table(2 if quick else 15),
            SOLVING,
            solving_table(QUICK_READINGS if quick else READINGS, 1 if quick else 5),
            LEARNING,
            *(learning_table(replace(A, n_active=n), 2 if quick else 10) for n in (160, ACTIVE)),
        )
    sections = ("# Readouts", *filter(None, introduction), *tables)
    report.publish("readouts.md", *sections, saved=not quick)


if __name__ == "__main__":
    main()
