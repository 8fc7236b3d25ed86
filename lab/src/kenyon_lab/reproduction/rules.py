"""How statements are judged: what is read from the evidence, and when it counts as reproduced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.summary import ONE_RUN, Spread
from kenyon_lab.reproduction.evidence import DATASET_TITLES, describe_seeds
from kenyon_lab.reproduction.judgement import Judgement
from kenyon_lab.reproduction.tables import halfway

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.evidence import Evidence
    from kenyon_lab.reproduction.judgement import Outcome

    Judge = Callable[[Evidence], Judgement]
    Read = Callable[[Evidence], "Reading | None"]
    Measure = Callable[[Summary], Spread]

NEAR, FAR, DEVIATIONS, SLIGHTLY = 0.03, 0.10, 2.0, 0.005

CLOSE = (
    f"Reproduced within {NEAR} or {DEVIATIONS:g} standard deviations (at most {FAR}), partly "
    f"within {FAR}; at most partly on a stand-in."
)
ABOVE = (
    "Reproduced if above by more than the standard deviations together (a single run counts with "
    f"{ONE_RUN}), partly if level."
)
MARGIN = (
    f"Reproduced if ahead of each by the number less {NEAR}, partly if above each; at most partly "
    "on a stand-in."
)
ALIKE = f"Reproduced if they differ by at most {NEAR}, partly by at most {FAR}."

NEGATIVE = (
    f"Reproduced if the mean over seeds is below {-SLIGHTLY} for some task and below {-FAR} for "
    "none, partly if below zero for some."
)

NOT_MEASURED = Judgement("not measured", "")


@dataclass(frozen=True)
class Reading:
    """A number with its spread, and where it was read: on the dataset itself or on a stand-in."""

    spread: Spread
    where: str
    stands_in: bool

    def __str__(self) -> str:
        return f"{self.spread} ({self.where})"


def accuracy(summary: Summary) -> Spread:
    """Return the accuracy after all classes."""
    return summary.measure("accuracy")


def accuracy_at_half(summary: Summary) -> Spread:
    """Return the accuracy after half of the tasks."""
    return summary.accuracy_after(halfway(summary.records[0]))


def memory_loss(summary: Summary) -> Spread:
    """Return the memory loss, all tasks on average."""
    return summary.measure("memory_loss")


def loss_but_last(summary: Summary) -> Spread:
    """Return the memory loss, all tasks on average but the last, which cannot lose."""
    n_tasks = summary.records[0].n_tasks
    loss, share = memory_loss(summary), n_tasks / (n_tasks - 1)
    return Spread(share * loss.mean, share * loss.deviation)


def find(
    evidence: Evidence, datasets: Sequence[str], methods: Sequence[str]
) -> tuple[str, dict[str, Summary]] | None:
    """Return the first of the datasets on which all of the methods were run, and the runs."""
    for dataset in datasets:
        runs = evidence.of(dataset, methods)
        if len(runs) == len(methods):
            return dataset, runs
    return None


def read(datasets: Sequence[str], methods: Sequence[str], measure: Measure) -> Read:
    """Read a measure, on average over methods."""

    def reading(evidence: Evidence) -> Reading | None:
        if not (found := find(evidence, datasets, methods)):
            return None
        dataset, runs = found
        spreads = [measure(summary) for summary in runs.values()]
        mean = sum(spread.mean for spread in spreads) / len(spreads)
        deviation = _together(*spreads) / len(spreads)
        return Reading(Spread(mean, deviation), _where(dataset, runs), dataset != datasets[0])

    return reading


def gap(datasets: Sequence[str], higher: str, lower: str) -> Read:
    """Read by how much the accuracy of a method is above that of another."""

    def reading(evidence: Evidence) -> Reading | None:
        if not (found := find(evidence, datasets, (higher, lower))):
            return None
        dataset, runs = found
        spread = _difference(accuracy(runs[higher]), accuracy(runs[lower]))
        return Reading(spread, _where(dataset, runs), dataset != datasets[0])

    return reading


def close(reading: Read, number: float) -> Judge:
    """Judge whether a number is near the paper's."""

    def judge(evidence: Evidence) -> Judgement:
        found = reading(evidence)
        if found is None:
            return NOT_MEASURED
        difference = abs(found.spread.mean - number)
        strays = DEVIATIONS * np.nan_to_num(found.spread.deviation)
        near = difference <= min(FAR, max(NEAR, strays)) and not found.stands_in
        return Judgement(outcome(near, difference <= FAR), str(found))

    return judge


def above(
    datasets: Sequence[str],
    highers: Sequence[str],
    lowers: Sequence[str],
    measure: Measure = accuracy,
) -> Judge:
    """Judge whether the lowest of some methods is above the highest of others."""

    def judge(evidence: Evidence) -> Judgement:
        if not (found := find(evidence, datasets, (*highers, *lowers))):
            return NOT_MEASURED
        dataset, runs = found
        low = min(highers, key=lambda name: measure(runs[name]).mean)
        high = max(lowers, key=lambda name: measure(runs[name]).mean)
        a, b = measure(runs[low]), measure(runs[high])
        measured = f"{_called(low, a)}, {_called(high, b)} ({_where(dataset, runs)})"
        return Judgement(outcome(a.above(b), not b.above(a)), measured)

    return judge


def margin(datasets: Sequence[str], first: str, others: Sequence[str], number: float) -> Judge:
    """Judge whether a method is ahead of each of some others by a number."""

    def judge(evidence: Evidence) -> Judgement:
        if not (found := find(evidence, datasets, (first, *others))):
            return NOT_MEASURED
        dataset, runs = found
        best = max(others, key=lambda name: accuracy(runs[name]).mean)
        a, b = accuracy(runs[first]), accuracy(runs[best])
        ahead = _difference(a, b)
        measured = f"{ahead} to {METHODS[best].title} ({_where(dataset, runs)})"
        far = ahead.mean >= number - NEAR and dataset == datasets[0]
        return Judgement(outcome(far, a.above(b)), measured)

    return judge


def below(datasets: Sequence[str], first: str, others: Sequence[str], measure: Measure) -> Judge:
    """Judge whether a measure of a method is below that of each of some others."""

    def judge(evidence: Evidence) -> Judgement:
        if not (found := find(evidence, datasets, (first, *others))):
            return NOT_MEASURED
        dataset, runs = found
        least = min(others, key=lambda name: measure(runs[name]).mean)
        a, b = measure(runs[first]), measure(runs[least])
        measured = f"{_called(first, a)}, {_called(least, b)} ({_where(dataset, runs)})"
        return Judgement(outcome(b.above(a), not a.above(b)), measured)

    return judge


def negative(datasets: Sequence[str], method: str) -> Judge:
    """Judge whether a method's memory loss of some tasks is below zero."""

    def judge(evidence: Evidence) -> Judgement:
        if not (found := find(evidence, datasets, (method,))):
            return NOT_MEASURED
        dataset, runs = found
        losses = (runs[method].learned - runs[method].remembered).mean(axis=0)[:-1]
        least = losses.min()
        share = f"below zero for {(losses < 0).mean():.0%} of tasks"
        measured = f"{share}, least {least:.3f} ({_where(dataset, runs)})"
        return Judgement(outcome(-FAR <= least < -SLIGHTLY, least < 0), measured)

    return judge


def alike(datasets: Sequence[str], first: str, second: str) -> Judge:
    """Judge whether two methods do not differ much."""

    def judge(evidence: Evidence) -> Judgement:
        if not (found := find(evidence, datasets, (first, second))):
            return NOT_MEASURED
        dataset, runs = found
        a, b = accuracy(runs[first]), accuracy(runs[second])
        difference = abs(a.mean - b.mean)
        measured = f"{_called(first, a)}, {_called(second, b)} ({_where(dataset, runs)})"
        return Judgement(outcome(difference <= NEAR, difference <= FAR), measured)

    return judge


def outcome(reproduced: bool, partly: bool) -> Outcome:
    """Return the word for it."""
    return "reproduced" if reproduced else "partly" if partly else "not"


def _together(*spreads: Spread) -> float:
    """Return the deviation of a sum, as far as it is known."""
    known = [spread.deviation for spread in spreads if not math.isnan(spread.deviation)]
    return math.hypot(*known) if known else math.nan


def _difference(a: Spread, b: Spread) -> Spread:
    return Spread(a.mean - b.mean, _together(a, b))


def _called(method: str, spread: Spread) -> str:
    return f"{METHODS[method].title} {spread}"


def _where(dataset: str, runs: dict[str, Summary]) -> str:
    return f"{DATASET_TITLES.get(dataset, dataset)}, {describe_seeds(runs)}"
