"""Kenyon's ridge beside RanPAC and Fly-CL: equal units, equal memory, default against default.

Run as `python benchmarks/fairness.py`: runs what lab/results lacks, which takes an hour or two.
RanPAC and Fly-CL compute in single precision and select their penalty as their published code does.
Writes benchmarks/results/fairness.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import report

from kenyon_lab.console import messages
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.progress import run_jobs
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.summary import Summary

if TYPE_CHECKING:
    from kenyon_lab.protocol.job import Job

N_JOBS = 2
STORE = Store(report.RESULTS.parents[1] / "lab" / "results")
PUBLISHED = ("ranpac-published", "fly-cl-published")
N_DEFAULT = 2304
"""Cells of Kenyon's default."""


class Run(NamedTuple):
    """A method with a number of units (None: its default), and the number of seeds."""

    method: str
    n_cells: int | None
    n_seeds: int

    def jobs(self, dataset: str) -> list[Job]:
        """Return its jobs."""
        plan = Plan(Problem(dataset), range(self.n_seeds), single_task=False)
        given: dict[str, Any] = {} if self.n_cells is None else {"n_cells": self.n_cells}
        return plan.jobs(self.method, given)


COLUMNS = {
    "equal units": [Run("ridge", 3200, 5), *(Run(method, 3200, 5) for method in PUBLISHED)],
    "equal peak memory": [Run("ridge", 4100, 5), *(Run(method, 4100, 5) for method in PUBLISHED)],
    "default against default": [
        Run("kenyon", None, 5),
        *(Run(method, 10_000, 1) for method in PUBLISHED),
    ],
}
DATASETS = ("clinc150", "mnist20-distorted")
TITLES = ("Kenyon, ridge", *(METHODS[method].title for method in PUBLISHED))
METHOD = """\
Accuracy after all classes, mean±standard deviation over seeds (the number of seeds in brackets if
it is not five), with the number of units and the peak RSS, the growth of the process (median).
Kenyon's default has 2,304 cells; RanPAC and Fly-CL have 10,000 units in their papers."""


def cell(run: Run, records: dict[str, Any], dataset: str) -> str:
    """Return accuracy, units and memory of a run."""
    summary = Summary([records[job.digest] for job in run.jobs(dataset)])
    units = f"{summary.records[0].parameters.get('n_cells', N_DEFAULT):,}"
    seeds = "" if run.n_seeds == 5 else f" ({run.n_seeds})"
    memory = f"{summary.cost('peak_rss') / 1e6:,.0f} MB"
    return f"{summary.measure('accuracy')}{seeds}, {units} units, {memory}"


def main() -> None:
    """Write the page."""
    environment = report.environment("seeds 0 to 4", ("kenyon", "numpy", "scipy"))
    lines = ["# Kenyon's ridge beside RanPAC and Fly-CL", "", environment, "", METHOD, ""]
    for dataset in DATASETS:
        jobs = [job for runs in COLUMNS.values() for run in runs for job in run.jobs(dataset)]
        records, failures = run_jobs(jobs, 1, N_JOBS, STORE, messages)
        if failures:
            raise SystemExit("\n".join(failures))
        rows = [
            (title, *(cell(runs[row], records, dataset) for runs in COLUMNS.values()))
            for row, title in enumerate(TITLES)
        ]
        lines += [report.table((dataset, *COLUMNS), rows), ""]
    report.save("fairness.md", "\n".join(lines))


if __name__ == "__main__":
    main()
