"""Kenyon beside classifiers that one would use instead: accuracy, time and what each can do.

Run as `python benchmarks/alternatives.py`; needs the packages faiss-cpu, hnswlib and setfit, and
CLINC150's texts in KENYON_DATA_DIR or a network. CLINC150's 150 intents come one after the other.
All methods but SetFit have the same features, packaged ones of MiniLM. All have one thread, and
take turns. The parameters of the peers are chosen on a fifth of the training samples, outside of
the measured time.
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
from alternative_methods import ABILITIES, CANDIDATES, FEW
from alternative_setfit import N_SHOTS, N_STEPS, pick
from threadpoolctl import threadpool_limits

from kenyon.encoders import TextEncoder
from kenyon_lab.data import load
from kenyon_lab.data.clinc150 import read_queries
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from alternative_methods import Candidate, Labels, Samples
    from numpy.typing import NDArray

    Makers = Mapping[str, Callable[..., Any]]
    Runs = dict[str, list["Run"]]

N_SEEDS = 5
N_SINGLE = 50
SLOW_STEP = 5
N_FIRST = 15
HELD_OUT = 5
PACKAGES = (
    *("kenyon", "numpy", "scikit-learn", "faiss-cpu", "hnswlib", "river", "setfit"),
    *("torch", "sentence-transformers", "transformers"),
)
METHOD = f"""\
Classes come one after the other, in an order that the seed draws, each once. "accuracy" is over
all test queries at the end, "first {N_FIRST}" over those of the {N_FIRST} classes that came
first: a method that forgets loses these. "new class" is the time from the samples of the last
class, when 149 are learned, to the next answer. "one answer" is the median of {N_SINGLE} single
calls. "to learn all" is the sum over the classes, to the first answer; logistic regression and
SetFit are fitted once here, with all classes, and not for every class as their users would have
to. "state" is the pickled model, with the samples that it must keep for the next class. Mean and
standard deviation over the seeds for accuracies; the fastest of the seeds for times, which
are CPU time of one thread. River's models answer every {SLOW_STEP}th test query."""
SETFIT = f"""\
SetFit is unlike the others in three ways. It trains MiniLM itself, on pairs of {N_SHOTS} texts of
each class, and then a logistic regression on all texts. Its accuracy and its times include this
encoder. And its training is shortened, to {N_STEPS} steps of 16 pairs: its default, all pairs of
these texts, takes 90,000 steps. More steps, on a GPU, may give more."""
FEW_SAMPLES = f"""\
SetFit is made for few samples. Here all methods have only {N_SHOTS} samples of each class, which
the seed draws. The parameters are those above."""
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

    def train_on(self, rows: NDArray[Any]) -> Data:
        """Return the same data with some of the training samples."""
        return self._replace(X_train=self.X_train[rows], y_train=self.y_train[rows])


class Run(NamedTuple):
    """The measures of one run."""

    accuracy: float
    first: float
    learn: float
    new_class: float
    one: float
    nbytes: int


def read(is_quick: bool) -> tuple[Data, Data]:
    """Return the features and the texts of CLINC150; in a quick run those of a few classes."""
    clinc, queries = load("clinc150"), read_queries()
    train, test = queries["train"], queries["test"]
    assert [clinc.class_names[label] for label in clinc.y_train] == train.intents
    assert [clinc.class_names[label] for label in clinc.y_test] == test.intents
    features = Data(clinc.X_train, clinc.y_train, clinc.X_test, clinc.y_test)
    texts = features._replace(X_train=np.array(train.texts), X_test=np.array(test.texts))
    if is_quick:
        few = clinc.y_train < 2 * N_FIRST
        return features.train_on(few), texts.train_on(few)
    return features, texts


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


def run(name: str, make: Callable[..., Any], data: Data, seed: int) -> Run:
    """Learn the classes one after the other, and measure."""
    step = SLOW_STEP if CANDIDATES[name].is_slow else 1
    X, y = data.X_train, data.y_train
    order = np.random.default_rng(seed).permutation(np.unique(y))
    model, times = make(X.shape[-1], len(order), seed), []
    *before, last = order
    X_test, y_test = data.X_test[::step], data.y_test[::step]
    for label in before:
        mine = y == label
        times.append(_seconds(partial(model.learn, X[mine], y[mine])))
    if not CANDIDATES[name].is_refitted:
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
    header = "method", *ABILITIES, "accuracy", "new class, ms", "one answer, ms"
    return report.table(header, rows)


def measure(made: Makers, n_seeds: int, data: Callable[[str, int], Data]) -> Runs:
    """Return the runs of some methods, which take turns in every seed."""
    runs: Runs = {name: [] for name in made}
    for seed in range(n_seeds):
        for name, found in runs.items():
            found.append(run(name, made[name], data(name, seed), seed))
            print(name, found[-1], file=sys.stderr, flush=True)
    return runs


def about_encoder(texts: Data) -> str:
    """Return how long the encoder of the features takes."""
    encoder = TextEncoder(cache=False, n_threads=1).fit()
    encoder.transform(texts.X_test[:1])  # reads the weights
    one = median(_seconds(partial(encoder.transform, [text])) for text in texts.X_test[:N_SINGLE])
    every = _seconds(partial(encoder.transform, texts.X_train))
    return (
        f"The encoder of the features takes {one * 1e3:.1f} ms for one text and {every:.0f} s for "
        "all training queries. The tables have its time for SetFit alone."
    )


def main() -> None:
    """Measure all methods, and write the page."""
    is_quick = report.parse_quick(__doc__)
    environment = report.environment(f"seeds 0 to {N_SEEDS - 1}", PACKAGES)
    features, texts = read(is_quick)

    def every(name: str, seed: int) -> Data:
        return texts if CANDIDATES[name].reads_texts else features

    def some(name: str, seed: int) -> Data:
        return every(name, seed).train_on(pick(features.y_train, seed))

    with threadpool_limits(1):
        made, chosen = {}, []
        for name, candidate in CANDIDATES.items():
            made[name], parameter = choose(candidate, features.X_train, features.y_train)
            chosen += [f"{name} {parameter}"] if parameter else []
        n_seeds = N_SEEDS
        if is_quick:
            n_seeds, made["SetFit"] = 1, partial(made["SetFit"], n_steps=5)
        runs = measure(made, n_seeds, every)
        few = measure({name: made[name] for name in FEW}, n_seeds, some)
        encoder = about_encoder(texts)
    header = (
        *("method", "accuracy", f"first {N_FIRST}", "to learn all, s"),
        *("new class, ms", "one answer, ms", "state, MB", "seeds"),
    )
    report.publish(
        "alternatives.md",
        "# Kenyon beside alternatives",
        environment,
        f"CLINC150: {len(features.y_train):,} training and {len(features.y_test):,} test queries "
        f"of 150 classes, {features.X_train.shape[1]} features of MiniLM.",
        METHOD,
        encoder,
        report.table(header, [row(name, each) for name, each in runs.items()]),
        SETFIT,
        "## What each can do",
        overview(runs),
        REASONS,
        f"Parameters chosen on held-out training samples: {'; '.join(chosen)}.",
        f"## With {N_SHOTS} samples of each class",
        FEW_SAMPLES,
        report.table(header, [row(name, each) for name, each in few.items()]),
        saved=not is_quick,
    )


if __name__ == "__main__":
    main()
