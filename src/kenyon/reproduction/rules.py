"""How statements are judged: what is read from the evidence, and when it counts as reproduced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kenyon.figures.curves import DATASETS
from kenyon.protocol.summary import Spread
from kenyon.reproduction.judgement import Judgement
from kenyon.reproduction.tables import halfway
from kenyon.rivals.catalogue import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kenyon.figures.evidence import Evidence
    from kenyon.protocol.summary import Summary
    from kenyon.reproduction.judgement import Outcome

    Judge = Callable[[Evidence], Judgement]
    Read = Callable[[Evidence], "Reading | None"]
    Measure = Callable[[Summary], Spread]

NEAR, FAR, DEVIATIONS = 0.03, 0.10, 2.0

CLOSE = f"Reproduced within {NEAR} or {DEVIATIONS:g} standard deviations, partly within {FAR}."
ABOVE = "Reproduced if above by more than the standard deviations together, partly if level."
MARGIN = f"Reproduced if ahead of each by the number less {NEAR}, partly if ahead of each."
ALIKE = f"Reproduced if they differ by at most {NEAR}, partly by at most {FAR}."

NEGATIVE = "Reproduced if the mean over seeds is below zero for some task."

NOT_MEASURED = Judgement("not measured", "")


@dataclass(frozen=True)
class Reading:
    """A number with its spread, and where it was read."""

    spread: Spread
    where: str

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
        deviation = math.hypot(*map(_deviation, spreads)) / len(spreads)
        return Reading(Spread(mean, deviation), _where(dataset, runs))

    return reading


def gap(datasets: Sequence[str], higher: str, lower: str) -> Read:
    """Read by how much the accuracy of a method is above that of another."""

    def reading(evidence: Evidence) -> Reading | None:
        if not (found := find(evidence, datasets, (higher, lower))):
            return None
        dataset, runs = found
        a, b = accuracy(runs[higher]), accuracy(runs[lower])
        spread = Spread(a.mean - b.mean, math.hypot(_deviation(a), _deviation(b)))
        return Reading(spread, _where(dataset, runs))

    return reading


def close(reading: Read, number: float) -> Judge:
    """Judge whether a number is near the paper's."""

    def judge(evidence: Evidence) -> Judgement:
        found = reading(evidence)
        if found is None:
            return NOT_MEASURED
        difference = abs(found.spread.mean - number)
        reproduced = difference <= max(NEAR, DEVIATIONS * _deviation(found.spread))
        return Judgement(outcome(reproduced, difference <= FAR), str(found))

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
        ahead = accuracy(runs[first]).mean - accuracy(runs[best]).mean
        measured = f"{ahead:+.3f} to {METHODS[best].title} ({_where(dataset, runs)})"
        return Judgement(outcome(ahead >= number - NEAR, ahead > 0), measured)

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
        share = float((losses < 0).mean())
        measured = f"{share:.0%} of tasks, least {losses.min():.3f} ({_where(dataset, runs)})"
        return Judgement(outcome(share > 0, partly=False), measured)

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


def _deviation(spread: Spread) -> float:
    return 0.0 if math.isnan(spread.deviation) else spread.deviation


def _called(method: str, spread: Spread) -> str:
    return f"{METHODS[method].title} {spread}"


def _where(dataset: str, runs: dict[str, Summary]) -> str:
    n_seeds = min(len(summary.records) for summary in runs.values())
    return f"{DATASETS.get(dataset, dataset)}, {n_seeds} seed{'s' if n_seeds > 1 else ''}"
