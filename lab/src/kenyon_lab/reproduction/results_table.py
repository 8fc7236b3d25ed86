"""All runs as a CSV file, a line for each."""

from __future__ import annotations

import csv
import json
from operator import attrgetter
from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction.tables import halfway
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kenyon_lab.protocol.record import RunRecord
    from kenyon_lab.protocol.summary import Summary

MEASURES = (
    *("accuracy", "average_accuracy", "memory_loss", "learned"),
    *("backward_transfer", "intransigence"),
)


def _measure(name: str) -> Callable[[RunRecord], object]:
    return lambda run: run.measures[name]


COLUMNS: dict[str, Callable[[RunRecord], object]] = {
    "dataset": lambda run: run.dataset,
    "method": lambda run: run.method,
    "title": lambda run: METHODS[run.method].title,
    "setting": lambda run: None,
    "order": lambda run: run.order,
    "seed": lambda run: run.seed,
    "accuracy_half": lambda run: run.accuracy_so_far[halfway(run) - 1],
    **{name: _measure(name) for name in MEASURES},
    "accuracy_so_far": lambda run: json.dumps(run.accuracy_so_far),
    "learn_seconds": lambda run: round(sum(run.learn_seconds), 6),
    "predict_seconds": lambda run: round(sum(run.predict_seconds), 6),
    "peak_rss_bytes": lambda run: run.peak_rss,
    **{name: attrgetter(name) for name in ("n_parameters", "n_exemplars", "n_passes", "n_threads")},
    "parameters": lambda run: json.dumps(run.parameters),
    "warnings": lambda run: json.dumps(run.warnings),
    "digest": lambda run: run.digest,
    "date": lambda run: run.date,
}
"""The columns of a run; values that were not measured are empty."""


def write_results(path: Path, runs: dict[str, dict[str, Summary]]) -> None:
    """Write all runs to a CSV file, by dataset and method; an error leaves the old file."""
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for of_dataset in runs.values():
            for summary in of_dataset.values():
                for run in summary.records:
                    row = {name: read(run) for name, read in COLUMNS.items()}
                    writer.writerow({**row, "setting": summary.setting}.values())
