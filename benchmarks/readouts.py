"""What the readouts cost: learning, solving and predicting, as ratios of times taken in one run.

Run as `python benchmarks/readouts.py`; `--quick` shows only that everything runs. Writes
benchmarks/results/readouts.md.
"""

from __future__ import annotations

import argparse
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
from kenyon._native import Counters, Pairs, learn_with_pairs
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
All take turns in rounds; of each step of the work the fastest time counts, so that noise is
everyone's. One thread, except where two are named."""

PAIRS = f"""\
Counting pairs from codes, {BATCH} samples at a time, with {N_CELLS} cells: in a second of processor
time, which other programs take nothing of, and in a second. Goal: {PAIRS_GOAL} samples a second on
two threads."""

SOLVING = f"""\
Reading a model of {N_CELLS} cells, {ACTIVE} active, for the first time after learning, against
SciPy's `cho_factor` and `cho_solve` of the same matrix, in place, with the penalty known. Goal: at
most {SOLVE_GOAL} times that. Then reading it again after every {STEP} samples more: the first time,
and on the average of {N_READS} times, of which some factor the matrix anew."""

LEARNING = f"""\
Learning ({BATCH} samples a call, and one) and predicting, by readout, with {N_CELLS} cells and
{A.n_features} inputs, from samples to labels. Beside it how many times the time of "fly"."""


@dataclass(frozen=True)
class Reading:
    """A model of real data to be read."""

    data: str
    n_samples: int

    def measure(self, rounds: int) -> dict[str, float]:
        """Return seconds of SciPy's solution and of reads, the fastest each."""
        dataset = load(self.data)
        order = np.random.default_rng(SEED).permutation(len(dataset.X_train))
        # The last ones are learned on and on, and unlearned again.
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
        read = partial(model.predict, X[:1])
        taken: dict[str, list[float]] = {"SciPy": [], "known": [], "auto": []}
        reads = np.full(N_READS, math.inf)
        for _ in range(rounds):
            taken["SciPy"].append(_scipy(model))
            for name, penalty in (("known", 0.01), ("auto", "auto")):
                _start_anew(model.set_params(penalty=penalty))
                taken[name].append(_seconds(read))
            for i, new in enumerate(more.reshape(N_READS, STEP)):
                model.partial_fit(X[new], y[new])
                reads[i] = min(reads[i], _seconds(read))
            model.unlearn(X[more], y[more])
        fastest = {name: min(seconds) for name, seconds in taken.items()}
        return {**fastest, "next": reads[0], "average": reads.mean()}

    def row(self, taken: dict[str, float]) -> list[str]:
        """Lay out the times as ratios to SciPy's."""
        ratios = {name: seconds / taken["SciPy"] for name, seconds in taken.items()}
        names = ("known", "auto", "next", "average")
        return [
            f"{self.data}, {self.n_samples:,} samples, {load(self.data).n_classes} classes",
            f"{taken['SciPy'] * 1e3:.0f}",
            *(f"{ratios[name]:.2f}" for name in names),
            "yes" if max(ratios["known"], ratios["auto"]) <= SOLVE_GOAL else "no",
        ]


READINGS = (Reading("mnist20", 10_000), Reading("mnist20", 100_000), Reading("clinc150", 10_000))
QUICK_READINGS = (Reading("mnist20", 2000),)


def pairs_table(rounds: int) -> str:
    """Show how many samples a second pairs are counted of."""
    contestants = {}
    for n_active in N_ACTIVE:
        size = replace(A, n_active=n_active)
        contestants[f"{n_active} busy"] = _pairs(size, 1, process_time)
        contestants[f"{n_active} one"] = _pairs(size, 1, perf_counter)
        contestants[f"{n_active} two"] = _pairs(size, 2, perf_counter)
    times = race(contestants, rounds)
    rows = []
    for n_active in N_ACTIVE:
        rates = [1 / times[f"{n_active} {name}"] for name in ("busy", "one", "two")]
        met = "yes" if rates[-1] >= PAIRS_GOAL else "no"
        rows.append([f"{n_active} active", *(f"{rate:,.0f}" for rate in rates), met])
    header = ("samples a second", "of processor time", "one thread", "two threads", "met")
    return report.table(header, rows)


def solving_table(readings: tuple[Reading, ...], rounds: int) -> str:
    """Show what reading takes as ratios to SciPy's Cholesky."""
    header = (
        "data",
        "SciPy, ms",
        "penalty known",
        "penalty auto",
        f"{STEP} more",
        "on average",
        "met",
    )
    return report.table(header, [reading.row(reading.measure(rounds)) for reading in readings])


def learning_table(size: Size, rounds: int) -> str:
    """Show what learning and predicting take with each readout."""
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
    beside = [f"{readout} / fly" for readout in READOUTS[1:]]
    return report.table((f"us a sample, {size.n_active} active", *READOUTS, *beside), rows)


def _pairs(size: Size, n_threads: int, clock: Callable[[], float]) -> Contestant:
    X, _ = size.draw(BATCH, np.random.default_rng(SEED))
    codes, slots = size.coder().native.encode(X, 1), np.zeros(BATCH, dtype=np.int32)
    counters, pairs = Counters(size.n_cells), Pairs(size.n_cells)
    counters.insert(0)

    def learn() -> None:
        learn_with_pairs(counters, pairs, codes, slots, n_threads)

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
    """Return the seconds of SciPy's solution of what a model would solve."""
    with model.circuit_.memory.reading as memory:
        lower, C = memory.pairs.expand(1), memory.synapses.T.astype(np.float64)
    matrix = lower.T
    matrix[np.diag_indices_from(matrix)] += 0.01 * memory.pairs.trace / len(matrix)

    def solve() -> NDArray[np.float64]:
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, C, check_finite=False))

    return _seconds(solve)


def _start_anew(model: FlyClassifier) -> None:
    with model.circuit_.memory.reading as memory:
        memory.derived, memory.factor = {}, None


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _caution() -> str:
    load_before = os.getloadavg()[0]
    if load_before <= BUSY:
        return ""
    return (
        f"Other programs were running (load {load_before:.1f}): times are too long, two threads "
        "had less than two cores, and ratios are rough."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, and no result is kept")
    quick = parser.parse_args().quick
    circumstances = report.environment(packages=("kenyon", "numpy", "scipy"))
    caution = _caution()
    with threadpool_limits(1):
        sections = (
            "# Readouts",
            circumstances,
            *([caution] if caution else []),
            METHOD,
            PAIRS,
            pairs_table(2 if quick else 15),
            SOLVING,
            solving_table(QUICK_READINGS if quick else READINGS, 1 if quick else 5),
            LEARNING,
            *(learning_table(replace(A, n_active=n), 2 if quick else 10) for n in (160, ACTIVE)),
        )
    text = "\n\n".join(sections)
    print(text)
    if not quick:
        report.save("readouts.md", text)


if __name__ == "__main__":
    main()
