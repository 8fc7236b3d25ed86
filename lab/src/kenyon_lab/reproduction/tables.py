"""What runs reached, what they took and how they were run, cell by cell."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kenyon_lab.protocol.record import ExperimentRecord, RunRecord
    from kenyon_lab.protocol.summary import Spread, Summary

ORDERS = {"shuffled": "shuffled", "classes": "by class"}


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, with the deviation after it, and the number that it is sorted by."""

    text: str
    deviation: str = ""
    number: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of the table of results.

    Parameters
    ----------
    group, title : str
        What stands above it, with others of its kind and alone.
    meaning : str
        What it is, in a sentence.
    cell : callable
        Reads it from a method's runs.
    is_number : bool
    """

    group: str
    title: str
    meaning: str
    cell: Callable[[Summary], Cell]
    is_number: bool = True


def halfway(record: RunRecord) -> int:
    """Return how many tasks are half of a run's, rounded down, but at least one."""
    return max(1, record.n_tasks // 2)


def short(number: float) -> str:
    """Return a number in three digits, or all of those before the point.

    Examples
    --------
    >>> print(short(0.1234), short(12.34), short(12345.6))
    0.12 12.3 12,346
    """
    digits = 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:,.{digits}f}"


def leading_number(text: str) -> float | None:
    """Return the number that a text begins with, if it begins with one.

    Examples
    --------
    >>> print(leading_number("0.704±0.002 (5 seeds)"), leading_number("v4"))
    0.704 None
    """
    found = re.match(r"[+-]?\d+(\.\d+)?", text)
    return float(found[0]) if found else None


def _spread(spread: Spread) -> Cell:
    if math.isnan(spread.mean):
        return Cell(spread.middle)
    deviation = "" if math.isnan(spread.deviation) else f"±{spread.deviation:.3f}"
    return Cell(spread.middle, deviation, spread.mean)


def _measure(name: str) -> Callable[[Summary], Cell]:
    return lambda summary: _spread(summary.measure(name))


def _cost(
    name: str, form: Callable[[float], str] = "{:,.0f}".format, unit: float = 1.0
) -> Callable[[Summary], Cell]:
    def cell(summary: Summary) -> Cell:
        cost = summary.cost(name) / unit
        return Cell(form(cost), number=cost)

    return cell


COLUMNS = (
    Column(
        "Accuracy",
        "half",
        "On the classes so far, after half of the tasks.",
        lambda summary: _spread(summary.accuracy_after(halfway(summary.records[0]))),
    ),
    Column("Accuracy", "all", "On all classes, after all tasks.", _measure("accuracy")),
    Column(
        "Accuracy",
        "so far",
        "On the classes so far, averaged over all tasks.",
        _measure("average_accuracy"),
    ),
    Column(
        "Memory loss",
        "loss",
        "Accuracy on a task right after it was learned less that at the end, averaged over tasks.",
        _measure("memory_loss"),
    ),
    Column(
        "Memory loss",
        "of",
        "The accuracy right after, which it is a loss of: who learned little has little to lose.",
        _measure("learned"),
    ),
    Column(
        "Cost",
        "learn, s",
        "Seconds to learn all tasks, the median over seeds.",
        _cost("learn_seconds", short),
    ),
    Column(
        "Cost",
        "predict, s",
        "Seconds to predict all classes so far after every task, the median.",
        _cost("predict_seconds", short),
    ),
    Column(
        "Cost",
        "memory, MB",
        "By how much the process grew at most while it learned and predicted, the median.",
        _cost("peak_rss", unit=1e6),
    ),
    Column(
        "Cost",
        "parameters",
        "Numbers that learning changes and that must be kept to go on.",
        _cost("n_parameters"),
    ),
    Column("Data", "kept", "Samples that are kept to be learned from again.", _cost("n_exemplars")),
    Column(
        "Data",
        "passes",
        "Samples learned from or looked at to learn, new, kept or made up, for each one there is.",
        _cost("n_passes", "{:,.1f}".format),
    ),
    Column(
        "Runs",
        "seeds",
        "Runs that differ in their seed only; ± is their standard deviation.",
        lambda summary: Cell(str(len(summary.records)), number=len(summary.records)),
    ),
    Column("Runs", "threads", "That a run computed on.", _cost("n_threads")),
    Column(
        "Runs",
        "order",
        "How the samples of a task came.",
        lambda summary: Cell(ORDERS[summary.order]),
        is_number=False,
    ),
    Column(
        "Runs",
        "values",
        "Where parameters come from: the paper or, where it has none, a search or the defaults.",
        lambda summary: Cell(summary.setting),
        is_number=False,
    ),
)


def parameters(summary: Summary) -> dict[str, str]:
    """Return a method's parameters, as people read them."""
    return {name: str(value) for name, value in summary.records[0].parameters.items()}


def seeds(records: Iterable[RunRecord]) -> str:
    """Return the seeds of runs, as people read them."""
    return ", ".join(map(str, sorted(record.seed for record in records)))


def warnings(summary: Summary) -> dict[str, str]:
    """Return what a method warned of, and with which seeds."""
    texts = dict.fromkeys(text for record in summary.records for text in record.warnings)
    return {text: seeds(r for r in summary.records if text in r.warnings) for text in texts}


def environments(results: Iterable[RunRecord | ExperimentRecord]) -> list[dict[str, str]]:
    """Return what results were obtained with, those that were obtained alike together."""
    groups: dict[str, list[RunRecord | ExperimentRecord]] = {}
    for result in results:
        groups.setdefault(str((result.machine, result.versions)), []).append(result)
    return [_environment(group) for group in groups.values()]


def _environment(results: list[RunRecord | ExperimentRecord]) -> dict[str, str]:
    first, dates = results[0], sorted(result.date for result in results)
    facts = {"runs and experiments": len(results), "first ended": dates[0], "last ended": dates[-1]}
    return {name: str(fact) for name, fact in {**facts, **first.machine, **first.versions}.items()}
