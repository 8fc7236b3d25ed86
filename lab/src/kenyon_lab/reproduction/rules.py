"""Rules that judge a statement by the runs of methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.figures.titles import dataset_title, describe_seeds
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.summary import ONE_RUN, Spread
from kenyon_lab.reproduction.judgement import NOT_MEASURED, Judgement, grade
from kenyon_lab.reproduction.tables import halfway

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.judgement import Verdict

    Judge = Callable[[Evidence], Judgement]
    Measure = Callable[[Summary], Spread]

NEAR, FAR, DEVIATIONS, SLIGHTLY, NEARLY_ONE = 0.03, 0.10, 2.0, 0.005, 0.9

_TOLERANCE = f"{NEAR} or {DEVIATIONS:g} standard deviations of the difference (at most {FAR})"
DISTANCE = f"Reproduced within {_TOLERANCE}, partly within {FAR}."
CLOSE = (
    f"Reproduced within {_TOLERANCE}, partly within {FAR}; the deviation includes the paper's, if "
    "it states one. Not comparable with another encoder."
)
ABOVE = (
    "Reproduced if above by more than the standard deviation of the difference (a single run has "
    f"{ONE_RUN}), partly if level."
)
BELOW = ABOVE.replace("above", "below")
LEAD = (
    f"Reproduced if ahead of each method by the number less {_TOLERANCE}, partly if above each by "
    "more than the standard deviation of the difference."
)
ALIKE = f"Reproduced if they differ by at most {_TOLERANCE}, partly by at most {FAR}."
NEGATIVE = (
    f"Reproduced if the mean over seeds is below {-SLIGHTLY} for some task and below {-FAR} for "
    "none, partly if below zero for some task."
)
NEARLY_ALL = (
    f"Reproduced if the mean over seeds is at least {NEARLY_ONE} for each task but the last, "
    "partly if it is on average over these tasks."
)
EQUAL_AT_FIRST = (
    f"Reproduced if equal after the first task for every seed, partly if within {NEAR}."
)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of some methods on one dataset, by the names that a statement gives the methods."""

    dataset: str
    has_other_encoder: bool  # Than the paper's.
    by_method: dict[str, Summary]

    def __getitem__(self, method: str) -> Summary:
        return self.by_method[method]

    def title(self, method: str) -> str:
        """Return the printed name of the method that was run."""
        return METHODS[self[method].method].title

    def describe(self, *parts: str) -> str:
        """Return a measurement with its dataset and seeds."""
        where = [dataset_title(self.dataset)]
        where += ["other encoder"] * self.has_other_encoder
        seeds = describe_seeds({summary.method: summary for summary in self.by_method.values()})
        return f"{', '.join(parts)} ({', '.join([*where, seeds])})"

    def compare(self, measure: Measure, *methods: str) -> str:
        """Describe a measure of some methods."""
        return self.describe(*(f"{self.title(one)} {measure(self[one])}" for one in methods))


def accuracy(summary: Summary) -> Spread:
    """Return the accuracy after all classes."""
    return summary.measure("accuracy")


def accuracy_at_half(summary: Summary) -> Spread:
    """Return the accuracy after half of the tasks."""
    return summary.accuracy_after(halfway(summary.records[0]))


def memory_loss(summary: Summary) -> Spread:
    """Return the mean memory loss of all tasks."""
    return summary.measure("memory_loss")


def first_task(summary: Summary) -> Spread:
    """Return the accuracy after the first task."""
    return summary.accuracy_after(1)


def close(
    datasets: Sequence[str],
    methods: Sequence[str],
    number: float,
    measure: Measure = accuracy,
    deviation: float = 0.0,
) -> Judge:
    """Judge whether the mean of a measure over methods is near the paper's number.

    `deviation` is the paper's standard deviation, or 0 if it states none. A number that depends on
    the encoder cannot be compared if the encoder is another one.
    """

    def judge(runs: Runs) -> Judgement:
        spreads = [measure(runs[method]) for method in methods]
        mean = sum(spread.mean for spread in spreads) / len(spreads)
        ours = Spread(mean, _together(*spreads) / len(spreads))
        other = runs.has_other_encoder
        verdict = "not comparable" if other else _near(ours, number, deviation)
        return Judgement(verdict, runs.describe(str(ours)))

    return _rule(datasets, methods, judge)


def gap(datasets: Sequence[str], higher: str, lower: str, number: float) -> Judge:
    """Judge whether the difference of two accuracies is near the paper's number."""

    def judge(runs: Runs) -> Judgement:
        difference = _difference(accuracy(runs[higher]), accuracy(runs[lower]))
        measured = runs.describe(f"{difference} below {runs.title(higher)}")
        return Judgement(_near(difference, number), measured)

    return _rule(datasets, (higher, lower), judge)


def above(
    datasets: Sequence[str],
    highers: Sequence[str],
    lowers: Sequence[str],
    measure: Measure = accuracy,
) -> Judge:
    """Judge whether the lowest of some methods is above the highest of others."""

    def judge(runs: Runs) -> Judgement:
        low = min(highers, key=lambda method: measure(runs[method]).mean)
        high = max(lowers, key=lambda method: measure(runs[method]).mean)
        a, b = measure(runs[low]), measure(runs[high])
        return Judgement(grade(a.above(b), not b.above(a)), runs.compare(measure, low, high))

    return _rule(datasets, (*highers, *lowers), judge)


def below(datasets: Sequence[str], first: str, others: Sequence[str], measure: Measure) -> Judge:
    """Judge whether a measure of a method is below that of each of some others."""

    def judge(runs: Runs) -> Judgement:
        least = min(others, key=lambda method: measure(runs[method]).mean)
        a, b = measure(runs[first]), measure(runs[least])
        return Judgement(grade(b.above(a), not a.above(b)), runs.compare(measure, first, least))

    return _rule(datasets, (first, *others), judge)


def lead(datasets: Sequence[str], first: str, others: Sequence[str], number: float) -> Judge:
    """Judge whether a method is ahead of each of some others by a number."""

    def judge(runs: Runs) -> Judgement:
        best = max(others, key=lambda method: accuracy(runs[method]).mean)
        a, b = accuracy(runs[first]), accuracy(runs[best])
        ahead = _difference(a, b)
        is_ahead = ahead.mean >= number - _tolerance(ahead)
        measured = runs.describe(f"{ahead} over {runs.title(best)}")
        return Judgement(grade(is_ahead, a.above(b)), measured)

    return _rule(datasets, (first, *others), judge)


def alike(datasets: Sequence[str], first: str, second: str) -> Judge:
    """Judge whether the accuracies of two methods differ little."""

    def judge(runs: Runs) -> Judgement:
        difference = _difference(accuracy(runs[first]), accuracy(runs[second]))
        return Judgement(_near(difference, 0), runs.compare(accuracy, first, second))

    return _rule(datasets, (first, second), judge)


def negative(datasets: Sequence[str], method: str) -> Judge:
    """Judge whether a method's memory loss is below zero for some tasks."""

    def judge(runs: Runs) -> Judgement:
        losses = _losses_but_last(runs[method])
        least = losses.min()
        share = f"below zero for {(losses < 0).mean():.0%} of tasks"
        measured = runs.describe(f"{runs.title(method)} {share}", f"least {least:.3f}")
        return Judgement(grade(-FAR <= least < -SLIGHTLY, least < 0), measured)

    return _rule(datasets, (method,), judge)


def nearly_all_lost(datasets: Sequence[str], method: str) -> Judge:
    """Judge whether a method's memory loss is nearly 1 for all tasks but the last."""

    def judge(runs: Runs) -> Judgement:
        losses = _losses_but_last(runs[method])
        least, mean = losses.min(), losses.mean()
        measured = runs.describe(f"{mean:.3f} on average", f"least {least:.3f}")
        return Judgement(grade(least >= NEARLY_ONE, mean >= NEARLY_ONE), measured)

    return _rule(datasets, (method,), judge)


def equal_at_first(datasets: Sequence[str], first: str, second: str) -> Judge:
    """Judge whether two methods are equally accurate after the first task, seed by seed."""

    def judge(runs: Runs) -> Judgement:
        a, b = (_by_seed(runs[method]) for method in (first, second))
        differences = [abs(a[seed] - b[seed]) for seed in a.keys() & b.keys()]
        if not differences:
            return NOT_MEASURED
        verdict = grade(max(differences) == 0, max(differences) <= NEAR)
        return Judgement(verdict, runs.compare(first_task, first, second))

    return _rule(datasets, (first, second), judge)


def _rule(
    datasets: Sequence[str], methods: Sequence[str], judge: Callable[[Runs], Judgement]
) -> Judge:
    """Apply a rule to the first of the datasets on which all methods were run.

    The first has the paper's encoder, the others have another one.
    """

    def apply(evidence: Evidence) -> Judgement:
        for dataset in datasets:
            runs = evidence.of(dataset, methods)
            if len(runs) == len(methods):
                return judge(Runs(dataset, dataset != datasets[0], runs))
        return NOT_MEASURED

    return apply


def _near(ours: Spread, number: float, deviation: float = 0.0) -> Verdict:
    difference = abs(ours.mean - number)
    return grade(difference <= _tolerance(ours, deviation), difference <= FAR)


def _tolerance(ours: Spread, deviation: float = 0.0) -> float:
    """Return the difference that counts as none; `deviation` is the paper's."""
    together = math.hypot(np.nan_to_num(ours.deviation), deviation)
    return min(FAR, max(NEAR, DEVIATIONS * together))


def _together(*spreads: Spread) -> float:
    """Return the standard deviation of a sum, from the deviations that are known."""
    known = [spread.deviation for spread in spreads if not math.isnan(spread.deviation)]
    return math.hypot(*known) if known else math.nan


def _difference(a: Spread, b: Spread) -> Spread:
    return Spread(a.mean - b.mean, _together(a, b))


def _by_seed(summary: Summary) -> dict[int, float]:
    """Return the accuracy after the first task of each seed."""
    seeds = [record.seed for record in summary.records]
    return dict(zip(seeds, summary.accuracy_so_far[:, 0].tolist(), strict=True))


def _losses_but_last(summary: Summary) -> NDArray[np.float64]:
    """Return the memory loss of each task but the last, which cannot lose: the mean over seeds."""
    losses: NDArray[np.float64] = (summary.learned - summary.remembered).mean(axis=0)[:-1]
    return losses
