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

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary

    Judge = Callable[[Evidence], Judgement]
    Measure = Callable[[Summary], Spread]

NEAR, FAR, DEVIATIONS, SLIGHTLY = 0.03, 0.10, 2.0, 0.005

CLOSE = (
    f"Reproduced within {NEAR} or {DEVIATIONS:g} standard deviations (at most {FAR}), partly "
    f"within {FAR}; at most partly on a stand-in."
)
ABOVE = (
    "Reproduced if above by more than the standard deviation of the difference (a single run has "
    f"{ONE_RUN}), partly if level."
)
BELOW = ABOVE.replace("above", "below")
LEAD = (
    f"Reproduced if ahead of each method by the number less {NEAR}, partly if above each; at most "
    "partly on a stand-in."
)
ALIKE = f"Reproduced if they differ by at most {NEAR}, partly by at most {FAR}."
NEGATIVE = (
    f"Reproduced if the mean over seeds is below {-SLIGHTLY} for some task and below {-FAR} for "
    "none, partly if below zero for some task."
)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of some methods on one dataset, which may stand in for the statement's dataset."""

    dataset: str
    is_stand_in: bool
    by_method: dict[str, Summary]

    def __getitem__(self, method: str) -> Summary:
        return self.by_method[method]

    def describe(self, *parts: str) -> str:
        """Return a measurement with its dataset and seeds."""
        seeds = describe_seeds(self.by_method)
        return f"{', '.join(parts)} ({dataset_title(self.dataset)}, {seeds})"


def accuracy(summary: Summary) -> Spread:
    """Return the accuracy after all classes."""
    return summary.measure("accuracy")


def accuracy_at_half(summary: Summary) -> Spread:
    """Return the accuracy after half of the tasks."""
    return summary.accuracy_after(halfway(summary.records[0]))


def memory_loss(summary: Summary) -> Spread:
    """Return the mean memory loss of all tasks."""
    return summary.measure("memory_loss")


def loss_but_last(summary: Summary) -> Spread:
    """Return the mean memory loss of all tasks but the last, which cannot lose."""
    n_tasks = summary.records[0].n_tasks
    loss, share = memory_loss(summary), n_tasks / (n_tasks - 1)
    return Spread(share * loss.mean, share * loss.deviation)


def close(
    datasets: Sequence[str], methods: Sequence[str], number: float, measure: Measure = accuracy
) -> Judge:
    """Judge whether the mean of a measure over methods is near the paper's number."""

    def judge(runs: Runs) -> Judgement:
        spreads = [measure(runs[method]) for method in methods]
        mean = sum(spread.mean for spread in spreads) / len(spreads)
        return _near(runs, Spread(mean, _together(*spreads) / len(spreads)), number)

    return _rule(datasets, methods, judge)


def gap(datasets: Sequence[str], higher: str, lower: str, number: float) -> Judge:
    """Judge whether the difference of two accuracies is near the paper's number."""

    def judge(runs: Runs) -> Judgement:
        return _near(runs, _difference(accuracy(runs[higher]), accuracy(runs[lower])), number)

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
        measured = runs.describe(_named(low, a), _named(high, b))
        return Judgement(grade(a.above(b), not b.above(a)), measured)

    return _rule(datasets, (*highers, *lowers), judge)


def below(datasets: Sequence[str], first: str, others: Sequence[str], measure: Measure) -> Judge:
    """Judge whether a measure of a method is below that of each of some others."""

    def judge(runs: Runs) -> Judgement:
        least = min(others, key=lambda method: measure(runs[method]).mean)
        a, b = measure(runs[first]), measure(runs[least])
        measured = runs.describe(_named(first, a), _named(least, b))
        return Judgement(grade(b.above(a), not a.above(b)), measured)

    return _rule(datasets, (first, *others), judge)


def lead(datasets: Sequence[str], first: str, others: Sequence[str], number: float) -> Judge:
    """Judge whether a method is ahead of each of some others by a number."""

    def judge(runs: Runs) -> Judgement:
        best = max(others, key=lambda method: accuracy(runs[method]).mean)
        a, b = accuracy(runs[first]), accuracy(runs[best])
        ahead = _difference(a, b)
        measured = runs.describe(f"{ahead} over {METHODS[best].title}")
        is_ahead = ahead.mean >= number - NEAR and not runs.is_stand_in
        return Judgement(grade(is_ahead, a.above(b)), measured)

    return _rule(datasets, (first, *others), judge)


def negative(datasets: Sequence[str], method: str) -> Judge:
    """Judge whether a method's memory loss is below zero for some tasks."""

    def judge(runs: Runs) -> Judgement:
        losses = (runs[method].learned - runs[method].remembered).mean(axis=0)[:-1]
        least = losses.min()
        share = f"below zero for {(losses < 0).mean():.0%} of tasks"
        measured = runs.describe(share, f"least {least:.3f}")
        return Judgement(grade(-FAR <= least < -SLIGHTLY, least < 0), measured)

    return _rule(datasets, (method,), judge)


def alike(datasets: Sequence[str], first: str, second: str) -> Judge:
    """Judge whether the accuracies of two methods differ little."""

    def judge(runs: Runs) -> Judgement:
        a, b = accuracy(runs[first]), accuracy(runs[second])
        difference = abs(a.mean - b.mean)
        measured = runs.describe(_named(first, a), _named(second, b))
        return Judgement(grade(difference <= NEAR, difference <= FAR), measured)

    return _rule(datasets, (first, second), judge)


def _rule(
    datasets: Sequence[str], methods: Sequence[str], judge: Callable[[Runs], Judgement]
) -> Judge:
    """Apply a rule to the first of the datasets on which all methods were run."""

    def apply(evidence: Evidence) -> Judgement:
        for dataset in datasets:
            runs = evidence.of(dataset, methods)
            if len(runs) == len(methods):
                return judge(Runs(dataset, dataset != datasets[0], runs))
        return NOT_MEASURED

    return apply


def _near(runs: Runs, spread: Spread, number: float) -> Judgement:
    difference = abs(spread.mean - number)
    tolerance = min(FAR, max(NEAR, DEVIATIONS * np.nan_to_num(spread.deviation)))
    near = difference <= tolerance and not runs.is_stand_in
    return Judgement(grade(near, difference <= FAR), runs.describe(str(spread)))


def _together(*spreads: Spread) -> float:
    """Return the standard deviation of a sum, from the deviations that are known."""
    known = [spread.deviation for spread in spreads if not math.isnan(spread.deviation)]
    return math.hypot(*known) if known else math.nan


def _difference(a: Spread, b: Spread) -> Spread:
    return Spread(a.mean - b.mean, _together(a, b))


def _named(method: str, spread: Spread) -> str:
    return f"{METHODS[method].title} {spread}"
