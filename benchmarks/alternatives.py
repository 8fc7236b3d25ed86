"""Kenyon beside what else one would use for intents that grow: accuracy and time of one run.

Run as `python benchmarks/alternatives.py`; `--quick` only shows that it runs. Needs faiss and
hnswlib: `pip install faiss-cpu hnswlib`. Writes benchmarks/results/alternatives.md.

CLINC150's 150 intents come one after the other, as packaged MiniLM features. All methods have the
same features and one thread, and take turns. The parameters of the peers are chosen on a fifth of
the training samples, outside of the measured time.
"""

from __future__ import annotations

import pickle
import sys
from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import report
from alternative_methods import ABILITIES, CANDIDATES, REFITTED
from threadpoolctl import threadpool_limits

from kenyon_lab.data import load
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from alternative_methods import Candidate, Labels, Samples

N_SEEDS = 3
N_SLOW_SEEDS = 1
N_SINGLE = 50
SLOW_STEP = 5
N_FIRST = 15
HELD_OUT = 5
PACKAGES = "kenyon", "numpy", "scikit-learn", "faiss-cpu", "hnswlib", "river"
METHOD = f"""\
Classes come one after the other, in an order that the seed draws, each once. "accuracy" is over
all test queries at the end, "first {N_FIRST}" over those of the {N_FIRST} classes that came
first: a method that forgets loses these. "new class" is the time from the samples of the last
class, when 149 are learned, to the next answer. "one answer" is the median of {N_SINGLE} single
calls. "to learn all" is the sum over the classes, to the first answer; logistic regression is
fitted twice here, for the 149 classes and for all 150, and not 150 times as its user would have
to. "state" is the pickled model, with the samples that it must keep for the next class. Mean over
{N_SEEDS} seeds; standard deviation for accuracies; the fastest of the seeds for times, which are
CPU time of one thread. River's models take minutes, so they have {N_SLOW_SEEDS} seed, and answer
every {SLOW_STEP}th test query."""
LEFT_OUT = """\
SetFit was not measured: it trains the encoder itself, on pairs of texts, again for every new
class, and so has features of its own. This run compares classifiers on the same features; SetFit's
head there is the logistic regression of the table. Kenyon works as its head, too
([recipe](../../docs/recipes/setfit_head.py))."""
REASONS = """\
"new class": at any time, without all classes in advance. "forgets nothing": classes that come
later do not change what was learned of earlier ones. "exact removal": of given samples, as if
they had never been learned; hnswlib only marks them as deleted. "merge": two trained models as
one. "calibrated unknowns": inputs of no class are refused at a chosen rate of false alarms.
"durable server": comes with one that learns while it answers and keeps every sample that it
acknowledged; databases of vectors are durable, but do not classify. "fit again": by training
again on stored samples."""


class Data(NamedTuple):
    """Training and test samples."""

    X_train: Samples
    y_train: Labels
    X_test: Samples
    y_test: Labels


class Run(NamedTuple):
    """The measures of one run."""

    accuracy: float
    first: float
    learn: float
    new_class: float
    one: float
    nbytes: int


def choose(candidate: Candidate, X: Samples, y: Labels) -> tuple[Callable[..., Any], str]:
    """Return the method with the parameter that is best on a held-out fifth."""
    held = np.arange(len(y)) % HELD_OUT == 0
    if not candidate.values:
        return candidate.make, ""
    scores = []
    for value in candidate.values:
        model = candidate.make(X.shape[1], y.max() + 1, 0, **{candidate.parameter: value})
        for label in np.unique(y):
            mine = (y == label) & ~held
            model.learn(X[mine], y[mine])
        scores.append(np.mean(model.predict(X[held]) == y[held]))
    best = candidate.values[int(np.argmax(scores))]
    return partial(candidate.make, **{candidate.parameter: best}), f"{candidate.parameter}={best:g}"


def run(make: Callable[..., Any], data: Data, seed: int, step: int) -> Run:
    """Learn the classes one after the other, and measure."""
    X, y = data.X_train, data.y_train
    order = np.random.default_rng(seed).permutation(np.unique(y))
    model, times = make(X.shape[1], len(order), seed), []
    *before, last = order
    X_test, y_test = data.X_test[::step], data.y_test[::step]
    for label in before:
        mine = y == label
        times.append(_seconds(partial(model.learn, X[mine], y[mine])))
    times.append(_seconds(partial(model.predict_one, X_test[0])))
    mine = y == last
    new = _seconds(lambda: (model.learn(X[mine], y[mine]), model.predict_one(X_test[0])))
    one = median(_seconds(partial(model.predict_one, x)) for x in X_test[:N_SINGLE])
    right = model.predict(X_test) == y_test
    first = np.isin(y_test, order[:N_FIRST])
    nbytes = len(pickle.dumps(model.state()))
    return Run(right.mean(), right[first].mean(), sum(times) + new, new, one, nbytes)


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def row(name: str, runs: list[Run]) -> list[str]:
    """Return the cells of a method."""
    return [
        name,
        *(str(spread(getattr(each, field) for each in runs)) for field in ("accuracy", "first")),
        f"{min(each.learn for each in runs):,.2f}",
        f"{min(each.new_class for each in runs) * 1e3:,.1f}",
        f"{min(each.one for each in runs) * 1e3:,.2f}",
        f"{runs[0].nbytes / 1e6:,.1f}",
        f"{len(runs)}",
    ]


def overview(runs: dict[str, list[Run]]) -> str:
    """Return the table of what each method can do, with its accuracy and times."""
    rows = []
    for name, each in runs.items():
        _, accuracy, _, _, new_class, one, *_ = row(name, each)
        rows.append([name, *CANDIDATES[name].abilities, accuracy, new_class, one])
    rows.append(["SetFit", *REFITTED, "-", "-", "-"])
    header = "method", *ABILITIES, "accuracy", "new class, ms", "one answer, ms"
    return report.table(header, rows)


def main() -> None:
    """Measure all methods, and write the page."""
    is_quick = report.parse_quick(__doc__)
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}", PACKAGES)
    clinc = load("clinc150")
    few = clinc.y_train < (2 * N_FIRST if is_quick else len(clinc.class_names))
    data = Data(clinc.X_train[few], clinc.y_train[few], clinc.X_test, clinc.y_test)
    with threadpool_limits(1):
        made, chosen = {}, []
        for name, candidate in CANDIDATES.items():
            made[name], parameter = choose(candidate, data.X_train, data.y_train)
            chosen += [f"{name} {parameter}"] if parameter else []
        runs: dict[str, list[Run]] = {name: [] for name in made}
        for seed in range(N_SEEDS):
            for name, make in made.items():
                is_slow = CANDIDATES[name].is_slow
                if seed < (N_SLOW_SEEDS if is_slow else N_SEEDS):
                    runs[name].append(run(make, data, seed, SLOW_STEP if is_slow else 1))
                    print(name, runs[name][-1], file=sys.stderr, flush=True)
    header = (
        *("method", "accuracy", f"first {N_FIRST}", "to learn all, s"),
        *("new class, ms", "one answer, ms", "state, MB", "seeds"),
    )
    report.publish(
        "alternatives.md",
        "# Kenyon beside alternatives",
        environment,
        f"CLINC150: {len(data.y_train):,} training and {len(data.y_test):,} test queries of 150 "
        f"classes, {data.X_train.shape[1]} features of MiniLM, whose time is not in the table.",
        METHOD,
        report.table(header, [row(name, each) for name, each in runs.items()]),
        "## What each can do",
        overview(runs),
        REASONS,
        f"Parameters chosen on held-out training samples: {'; '.join(chosen)}.",
        LEFT_OUT,
        saved=not is_quick,
    )


if __name__ == "__main__":
    main()
