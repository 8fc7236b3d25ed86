"""The cost of single steps with the readout "ridge".

Run as `python benchmarks/steps.py`; `--quick` only shows that it runs. Writes
benchmarks/results/steps.md.
"""

from __future__ import annotations

from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import report
from problem import N_FEATURES, SEED, default_classifier, draw_on_sphere
from race import Contestant, race
from rounding import solution
from scipy.linalg import blas, cho_factor, cho_solve
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from kenyon import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from kenyon import FlyClassifier

    Samples = NDArray[np.float32]
    Labels = NDArray[np.int64]

FEW, MANY = 150, 10_000
PER_CLASS = {FEW: 100, MANY: 4}
TURN, N_TURNS = 50, 20
BATCH, N_SINGLE = 1000, 100
N_CELLS_BEFORE, PENALTY_BEFORE = 2000, 0.01
PAIR_GOAL, MANY_GOAL, BATCH_GOAL, NOVELTY_GOAL = 1.5, 15e-3, 1, 10

METHOD = f"""\
{N_FEATURES} inputs, default parameters, one thread; CPU time, which excludes other programs.
Samples are drawn around class means on a sphere. Contestants take turns."""

PAIRS = f"""\
A pair is `learn_one` and then `predict_one` of other samples. The mean is over {TURN * N_TURNS:,}
pairs in turns of {TURN}; the fastest turn is less disturbed by other programs. BLAS is `dsymv`,
`dsyr` and `dger` through SciPy, for as many cells and classes, between the turns. Goals:
{PAIR_GOAL:g} times BLAS with {FEW} classes, {MANY_GOAL * 1e3:g} ms with {MANY:,}."""

REFRESHES = """\
A refresh solves from the sums and inverts; pairs with one are not in the mean above. It is due
after as many updates as cells, or when the number of samples has changed the shift. The share is
that of its time spread over as many pairs as cells, relative to a pair."""

FLOAT32 = f"""\
More than 1,024 classes have float32 weights. They are compared with float64 weights that SciPy
solves for, on {BATCH:,} samples: the largest difference of scores relative to the largest score,
and the share of other labels."""

BATCHES = f"""\
Learning {BATCH:,} samples and predicting as many, with {FEW} classes, relative to ridge as it was
before with {N_CELLS_BEFORE:,} cells: the same counting of pairs, the Gram matrix expanded to a
square, `cho_factor` and `cho_solve` for all classes, a sparse product. Goal: at most
{BATCH_GOAL:g}."""

READS = f"""\
Other steps with {FEW} classes: unlearning one sample and predicting one; novelty scores of
{BATCH:,} samples and of one, relative to predicting them (goal: at most {NOVELTY_GOAL:g}); the
first prediction after `load`, relative to one that has to solve."""


class Pairs:
    """Pairs of `learn_one` and `predict_one`, each with its time and whether it refreshed."""

    def __init__(self, n_classes: int) -> None:
        rng = np.random.default_rng(SEED)
        X, y = draw_on_sphere(n_classes, PER_CLASS[n_classes] * n_classes, rng)
        self.model = default_classifier().fit(X, y)
        self.model.predict(X[:1])
        self.solving = self._solve(X[0], int(y[0]))
        self.samples = cycle(zip(X, y.tolist(), X[1:], strict=False))
        self.taken: list[float] = []
        self.refreshes: list[float] = []
        self.turns: list[float] = []

    def turn(self) -> None:
        """Run one turn."""
        times = []
        for x, label, other in self._next():
            version = solution(self.model).refreshed
            seconds = _seconds(partial(self._pair, x, label, other))
            refreshed = solution(self.model).refreshed != version
            (self.refreshes if refreshed else times).append(seconds)
        self.taken += times
        self.turns.append(float(np.mean(times)))

    @property
    def mean(self) -> float:
        """Seconds of a pair."""
        return float(np.mean(self.taken))

    def _next(self) -> Iterator[tuple[Any, int, Any]]:
        for _ in range(TURN):
            yield next(self.samples)

    def _pair(self, x: Any, label: int, other: Any) -> None:
        self.model.learn_one(x, label)
        self.model.predict_one(other)

    def _solve(self, x: Any, label: int) -> float:
        """Return the seconds of a solution from the sums and of its inverse."""
        self.model.refresh()
        solve = _seconds(partial(self.model.predict_one, x))
        return solve + _seconds(partial(self._pair, x, label, x))


class Blas:
    """The BLAS calls of one update, on a square matrix."""

    def __init__(self, n_cells: int, n_classes: int) -> None:
        rng = np.random.default_rng(SEED)
        self.matrix = np.asfortranarray(np.eye(n_cells))
        self.weights = np.zeros((n_cells, n_classes), order="F")
        self.code, self.error = rng.random(n_cells), rng.random(n_classes)
        self.turns: list[float] = []

    def turn(self) -> None:
        """Run one turn."""
        self.turns.append(_seconds(lambda: [self._update() for _ in range(TURN)]) / TURN)

    def _update(self) -> None:
        gain = blas.dsymv(1.0, self.matrix, self.code, lower=1)
        blas.dsyr(-1e-9, gain, lower=1, a=self.matrix, overwrite_a=1)
        blas.dger(1e-9, gain, self.error, a=self.weights, overwrite_a=1)


def pair_tables(n_turns: int, many: int) -> tuple[str, ...]:
    """Show the times of pairs, of refreshes, and the cost of float32."""
    rows, refreshes = [], []
    for n_classes in (FEW, many):
        pairs = Pairs(n_classes)
        peer = Blas(_n_cells(pairs.model), n_classes)
        for _ in range(n_turns):
            pairs.turn()
            peer.turn()
        ratio = pairs.mean / float(np.mean(peer.turns))
        met = ratio <= PAIR_GOAL if n_classes == FEW else pairs.mean <= MANY_GOAL
        fastest = min(pairs.turns), min(peer.turns)
        rows.append(
            [
                f"{n_classes:,} classes",
                *(f"{x * 1e3:.2f}" for x in (pairs.mean, np.mean(peer.turns))),
                f"{ratio:.2f}",
                *(f"{x * 1e3:.2f}" for x in fastest),
                f"{fastest[0] / fastest[1]:.2f}",
                _yes_or_no(met),
            ]
        )
        share = pairs.solving / (_n_cells(pairs.model) * pairs.mean)
        refreshes.append(
            [
                f"{n_classes:,} classes",
                f"{len(pairs.refreshes)}",
                f"{pairs.solving:.2f}",
                f"{share:.0%}",
            ]
        )
        last = pairs.model
        del pairs, peer
    names = ("mean", "BLAS", "ratio", "fastest turn", "BLAS", "ratio")
    return (
        report.table(("ms a pair", *names, "met"), rows),
        REFRESHES,
        report.table(("refreshes", "in all pairs", "s each", "share"), refreshes),
        FLOAT32,
        report.table(("float32", "scores", "other labels"), float32_rows(last)),
    )


def float32_rows(model: FlyClassifier) -> list[list[str]]:
    """Compare a model after its updates, and after a refresh, with float64 weights."""
    X, _ = draw_on_sphere(len(model.classes_), BATCH, np.random.default_rng(SEED + 1))
    exact = _exact_scores(model, X)
    rows = []
    for name in ("after the pairs", "after a refresh"):
        error = np.abs(model.decision_function(X) - exact).max() / np.abs(exact).max()
        changed = np.mean(model.predict(X) != model.classes_[exact.argmax(axis=1)])
        rows.append([name, f"{error:.1e}", f"{changed:.2%}"])
        model.refresh()
    return rows


def batch_table(rounds: int) -> str:
    """Compare learning and reading a batch with ridge as it was before."""
    model, before = _fitted(), _fitted(n_cells=N_CELLS_BEFORE)
    X, y = draw_on_sphere(FEW, BATCH, np.random.default_rng(SEED + 1))

    def now() -> None:
        model.partial_fit(X, y)
        model.predict(X)

    def then() -> None:
        before.partial_fit(X, y)
        _predict_as_before(before, X)

    times = race(
        {
            f"{_n_cells(model):,} cells": Contestant(BATCH, now, clock=process_time),
            f"{N_CELLS_BEFORE:,} cells as before": Contestant(BATCH, then, clock=process_time),
        },
        rounds,
    )
    ours, theirs = times.values()
    ratio = ours / theirs
    header = (f"learn and read {BATCH:,}, ms", *times, "ratio", "met")
    numbers = [f"{seconds * BATCH * 1e3:.0f}" for seconds in times.values()]
    return report.table(
        header, [[f"{FEW} classes", *numbers, f"{ratio:.2f}", _yes_or_no(ratio <= BATCH_GOAL)]]
    )


def read_table(rounds: int) -> str:
    """Show unlearning, novelty scores, and the first prediction after loading."""
    model = _fitted()
    X, y = draw_on_sphere(FEW, BATCH, np.random.default_rng(SEED + 1))
    rows = [_unlearn_row(model, X, y)]
    model.novelty(X[:1])
    steps = [partial(model.predict_one, x) for x in X[:N_SINGLE]]
    novelties = [partial(model.novelty, X[i : i + 1]) for i in range(N_SINGLE)]
    times = race(
        {
            "predict": Contestant(BATCH, partial(model.predict, X), clock=process_time),
            "novelty": Contestant(BATCH, partial(model.novelty, X), clock=process_time),
            "predict_one": Contestant(N_SINGLE, *steps, clock=process_time),
            "novelty of one": Contestant(N_SINGLE, *novelties, clock=process_time),
        },
        rounds,
    )
    for name, novelty, predict in (
        (f"novelty / predict, {BATCH:,} samples", "novelty", "predict"),
        ("novelty / predict_one, one sample", "novelty of one", "predict_one"),
    ):
        ratio = times[novelty] / times[predict]
        met = _yes_or_no(ratio <= NOVELTY_GOAL)
        rows.append([name, _ms(times[novelty]), _ms(times[predict]), f"{ratio:.1f}", met])
    rows.append(_load_row(model, X[0]))
    return report.table(("step", "ms a sample", "relative to, ms", "ratio", "met"), rows)


def _unlearn_row(model: FlyClassifier, X: Samples, y: Labels) -> list[str]:
    model.partial_fit(X[:N_SINGLE], y[:N_SINGLE]).predict_one(X[0])
    model.learn_one(X[0], int(y[0])).predict_one(X[0])  # inverts
    learned, unlearned = [], []
    for i in range(N_SINGLE):
        learned.append(_seconds(lambda i=i: model.learn_one(X[i], int(y[i])).predict_one(X[0])))
        unlearned.append(
            _seconds(lambda i=i: model.unlearn(X[i : i + 1], y[i : i + 1]).predict_one(X[0]))
        )
    taken, relative_to = np.mean(unlearned), np.mean(learned)
    name = "unlearn one and predict_one / learn_one and predict_one"
    return [name, _ms(taken), _ms(relative_to), f"{taken / relative_to:.1f}", ""]


def _load_row(model: FlyClassifier, x: Any) -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.kenyon"
        model.save(path)
        loaded = load(path).set_params(n_threads=1)
        first = _seconds(partial(loaded.predict_one, x))
    loaded.refresh()
    solving = _seconds(partial(loaded.predict_one, x))
    name = "first predict_one after load / after refresh"
    return [name, _ms(first), _ms(solving), f"{first / solving:.3f}", ""]


def _fitted(**parameters: Any) -> FlyClassifier:
    X, y = draw_on_sphere(FEW, PER_CLASS[FEW] * FEW, np.random.default_rng(SEED))
    model = default_classifier(**parameters).fit(X, y)
    model.predict(X[:1])
    return model


def _exact_scores(model: FlyClassifier, X: Samples) -> NDArray[np.float64]:
    """Return the scores of weights in float64."""
    with model.circuit_.memory.reading as snapshot:
        memory = snapshot.memory
        weights = _solve(memory, solution(model).shift)
        samples = memory.samples
    scores = np.asarray(_codes(model, X) @ weights)
    return scores * np.sqrt(samples.mean() / samples)


def _predict_as_before(model: FlyClassifier, X: Samples) -> NDArray[Any]:
    with model.circuit_.memory.reading as snapshot:
        memory = snapshot.memory
        weights = _solve(memory, PENALTY_BEFORE * memory.pairs.trace / memory.n_cells)
        weights /= np.sqrt(memory.samples)
    return model.classes_[(_codes(model, X) @ weights).argmax(axis=1)]


def _solve(memory: Any, shift: float) -> NDArray[np.float64]:
    matrix = memory.pairs.expand(1).T
    matrix[np.diag_indices_from(matrix)] += shift
    factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
    counters = memory.synapses.T.astype(np.float64, order="F")
    return np.asarray(cho_solve(factor, counters, overwrite_b=True, check_finite=False))


def _codes(model: FlyClassifier, X: Samples) -> csr_array:
    starts, cells, levels = model.circuit_.coder.native.encode(X, 1).to_csr()
    return csr_array((levels.astype(np.float64), cells, starts), (len(X), _n_cells(model)))


def _n_cells(model: FlyClassifier) -> int:
    return model.circuit_.coder.n_cells


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}"


def _yes_or_no(met: bool) -> str:
    return "yes" if met else "no"


def main() -> None:
    quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "scipy"))
    with threadpool_limits(1):
        pairs = pair_tables(2 if quick else N_TURNS, MANY)
        batches = batch_table(1 if quick else 5)
        reads = read_table(1 if quick else 5)
    sections = (METHOD, PAIRS, *pairs, BATCHES, batches, READS, reads)
    report.publish("steps.md", "# Single steps", environment, *sections, saved=not quick)


if __name__ == "__main__":
    main()
