"""Kenyon's ridge beside RanPAC and Fly-CL: equal units, equal memory, default against default.

Run as `python benchmarks/fairness.py`: collects the runs in lab/results, and runs nothing. The
commands of missing ones are `kenyon-lab bench DATASET --methods METHOD --set METHOD.n_cells=N
--seeds 5 --no-single-task --store lab/results`. Writes benchmarks/results/fairness.md.
"""

from __future__ import annotations

from typing import Any

import report

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.profiles import PROFILES

FULL = PROFILES["full"]
STORE = Store(report.RESULTS.parents[1] / "lab" / "results")
DATASETS = ("clinc150", "mnist20-distorted")
COLUMNS: dict[str, dict[str, int | None]] = {
    "equal units": dict.fromkeys(
        ("ridge", "ranpac-published", "fly-cl-published", "ranpac", "fly-cl"), 3200
    ),
    "about equal peak memory": {"ridge": None, "ranpac-published": 3200, "fly-cl-published": 5100},
    "default against default": {"kenyon": None, "ranpac": 10_000, "fly-cl": 10_000},
}
"""Numbers of units by column and method; None: the default."""
DEFAULT_CELLS = {"ridge": 4100, "kenyon": 2304}
METHOD = """\
Accuracy after all classes, mean±standard deviation over seeds (the number of seeds in brackets if
it is not five), with the number of units and the peak RSS, the growth of the process (median).
"Published" computes in single precision and chooses the penalty as the published code does; the
others compute in double precision, with penalties from 10^-8 to 10^8. RanPAC and Fly-CL have 10,000
units in their papers, and Kenyon's default has 2,304 cells. A dash: not run."""


def find(dataset: str, method: str, n_cells: int | None) -> Summary | None:
    """Return the stored runs of a method with a number of units."""
    given: dict[str, Any] = {} if n_cells is None else {"n_cells": n_cells}
    plan = Plan(Problem(dataset), range(FULL.n_seeds), single_task=False)
    parameters = FULL.defaults(dataset, method)[1] | given
    records = [r for job in plan.jobs(method, parameters) if (r := STORE.find(job))]
    return Summary(records) if records else None


def cell(dataset: str, method: str, n_cells: int | None) -> str:
    """Return accuracy, units and memory of a method."""
    runs = find(dataset, method, n_cells)
    if runs is None:
        return "-"
    n_seeds = len(runs.records)
    seeds = "" if n_seeds == FULL.n_seeds else f" ({n_seeds})"
    units = f"{n_cells or DEFAULT_CELLS[method]:,}"
    return f"{runs.measure('accuracy')}{seeds}, {units}, {runs.cost('peak_rss') / 1e6:,.0f} MB"


def main() -> None:
    """Write the page."""
    environment = report.environment("seeds 0 to 4", ("kenyon", "numpy", "scipy"))
    lines = ["# Kenyon's ridge beside RanPAC and Fly-CL", "", environment, "", METHOD, ""]
    methods = dict.fromkeys(method for column in COLUMNS.values() for method in column)
    for dataset in DATASETS:
        rows = [
            (
                METHODS[method].title,
                *(
                    cell(dataset, method, column[method]) if method in column else ""
                    for column in COLUMNS.values()
                ),
            )
            for method in methods
        ]
        lines += [report.table((dataset, *COLUMNS), rows), ""]
    report.save("fairness.md", "\n".join(lines[:-1]))


if __name__ == "__main__":
    main()
