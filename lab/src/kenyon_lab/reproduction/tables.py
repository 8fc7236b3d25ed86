"""Cells of the report's tables: results, costs and settings of runs."""

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
    """The text of a cell, the deviation after it, and the number that it is sorted by."""

    text: str
    deviation: str = ""
    number: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of the table of results."""

    group: str
    title: str
    meaning: str  # In a sentence.
    cell: Callable[[Summary], Cell]  # From the runs of a method.
    is_number: bool = True


def halfway(record: RunRecord) -> int:
    """Return half the number of a run's tasks, rounded down, but at least one."""
    return max(1, record.n_tasks // 2)


def short(number: float) -> str:
    """Return a number with three significant digits, or all of its integer digits.

    Examples
    --------
    >>> print(short(0.1234), short(12.34), short(12345.6))
    0.12 12.3 12,346
    """
    digits = 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:,.{digits}f}"


def leading_number(text: str) -> float | None:
    """Return the number at the start of a text, if there is one.

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
        "Accuracy on the classes so far, after half of the tasks.",
        lambda summary: _spread(summary.accuracy_after(halfway(summary.records[0]))),
    ),
    Column("Accuracy", "all", "Accuracy on all classes, after all tasks.", _measure("accuracy")),
    Column(
        "Accuracy",
        "so far",
        "Accuracy on the classes so far, averaged over all tasks.",
        _measure("average_accuracy"),
    ),
    Column(
        "Memory loss",
        "loss",
        "Accuracy on a task right after it was learned minus that at the end, averaged over tasks.",
        _measure("memory_loss"),
    ),
    Column(
        "Memory loss",
        "learned",
        "Accuracy on a task right after it was learned: a method that learned little loses little.",
        _measure("learned"),
    ),
    Column(
        "Cost",
        "learn, s",
        "Seconds to learn all tasks, median over seeds.",
        _cost("learn_seconds", short),
    ),
    Column(
        "Cost",
        "predict, s",
        "Seconds to predict the classes so far after every task, median over seeds.",
        _cost("predict_seconds", short),
    ),
    Column(
        "Cost",
        "peak RSS, MB",
        "Growth of the process to its peak resident size while it learned and predicted, median.",
        _cost("peak_rss", unit=1e6),
    ),
    Column(
        "Cost",
        "parameters",
        "Numbers that learning changes and that further learning needs.",
        _cost("n_parameters"),
    ),
    Column("Data", "exemplars", "Samples stored for rehearsal.", _cost("n_exemplars")),
    Column(
        "Data",
        "passes",
        "Samples processed during training, new, stored or generated, per training sample.",
        _cost("n_passes", "{:,.1f}".format),
    ),
    Column(
        "Runs",
        "seeds",
        "Runs that differ only in their seed; ± is the standard deviation over seeds.",
        lambda summary: Cell(str(len(summary.records)), number=len(summary.records)),
    ),
    Column("Runs", "threads", "Threads of a run.", _cost("n_threads")),
    Column(
        "Runs",
        "order",
        "Order of the samples of a task.",
        lambda summary: Cell(ORDERS[summary.order]),
        is_number=False,
    ),
    Column(
        "Runs",
        "values",
        "Source of the parameters: the paper or, where it has none, a search or the defaults.",
        lambda summary: Cell(summary.setting),
        is_number=False,
    ),
)


def parameters(summary: Summary) -> dict[str, str]:
    """Return a method's parameters as text."""
    return {name: str(value) for name, value in summary.records[0].parameters.items()}


def seeds(records: Iterable[RunRecord]) -> str:
    """Return the seeds of runs as text, in order."""
    return ", ".join(map(str, sorted(record.seed for record in records)))


def warnings(summary: Summary) -> dict[str, str]:
    """Return a method's warnings, each with its seeds."""
    texts = dict.fromkeys(text for record in summary.records for text in record.warnings)
    return {text: seeds(r for r in summary.records if text in r.warnings) for text in texts}


def environments(results: Iterable[RunRecord | ExperimentRecord]) -> list[dict[str, str]]:
    """Return machine and versions of results, one entry for each different environment."""
    groups: dict[str, list[RunRecord | ExperimentRecord]] = {}
    for result in results:
        groups.setdefault(str((result.machine, result.versions)), []).append(result)
    return [_environment(group) for group in groups.values()]


def _environment(results: list[RunRecord | ExperimentRecord]) -> dict[str, str]:
    first, dates = results[0], sorted(result.date for result in results)
    facts = {"runs and experiments": len(results), "first ended": dates[0], "last ended": dates[-1]}
    return {name: str(fact) for name, fact in {**facts, **first.machine, **first.versions}.items()}
