"""Kenyon's readouts beside every other method, on five datasets.

Run as `python benchmarks/beyond.py`: collects the runs of `make reproduction` and `make ceilings`
from lab/results, and runs nothing. Writes benchmarks/results/beyond.md.
"""

from __future__ import annotations

import report

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.search import tuned_parameters
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.profiles import PROFILES

FULL = PROFILES["full"]
DATASETS = ("mnist20", "mnist20-distorted", "cifar100", "tiny100", "clinc150")
SHOWN = ("fly", "bayes", "ridge", "kenyon", "offline", "gem", "bir", "ewc", "vanilla")
SHOWN += ("ncm", "slda", "ranpac", "fly-cl")
CEILINGS = ("offline-neighbours", "offline-logistic", "offline-svm")
LARGE_DATASETS = ("mnist20-distorted", "tiny100")
LARGE = {"ranpac": (None, 10_000), "fly-cl": (None, 10_000)}
"""Numbers of cells without regard to memory; None: the method's default, which is 10,000 here."""
STORE = Store(report.RESULTS.parents[1] / "lab" / "results")
METHOD = """\
Accuracy on all classes after all tasks, mean±standard deviation over seeds (the number of seeds
in brackets if it is not five); seconds to learn and peak RSS, the growth of the process, are
medians. Parameters are the paper's, else the choice of `kenyon-lab tune`, else defaults;
Kenyon's readouts have their defaults. RanPAC and Fly-CL have 3,200 units. The last three are
offline ceilings (`make ceilings`): they store all samples and learn all classes at once. The seed
only shuffles the samples, on which neighbours do not depend, nor the SVM but by rounding; the
parameters of the SVM were searched with 10,000 samples. Seconds are rough: the runs were made at
different times, some with other work on the machine."""

LARGER = """\
With the 10,000 units that RanPAC and Fly-CL have in their papers (Fly-CL with `--tuned`). Ridge
with many cells is in accuracy.md:"""


def ceiling(dataset: str, method: str) -> Summary | None:
    """Return the runs of a ceiling with the parameters that a search chose."""
    chosen = METHODS[method].tuned.get((dataset, "shuffled"))
    if chosen is None:
        return None
    plan = Plan(Problem(dataset, n_tasks=1), range(FULL.n_seeds), single_task=False)
    records = [record for job in plan.jobs(method, chosen) if (record := STORE.find(job))]
    return Summary(records) if records else None


def accuracy(runs: Summary | None) -> str:
    """Return the accuracy, and the number of seeds if it is not five."""
    if runs is None:
        return "-"
    n_seeds = len(runs.records)
    return f"{runs.measure('accuracy')}" + ("" if n_seeds == FULL.n_seeds else f" ({n_seeds})")


def cost(runs: Summary | None) -> str:
    """Return seconds and memory."""
    if runs is None:
        return "-"
    return f"{runs.cost('learn_seconds'):,.0f} s, {runs.cost('peak_rss') / 1e6:,.0f} MB"


def large(dataset: str, method: str) -> str:
    """Return accuracy and memory of a method with many cells."""
    plan = Plan(Problem(dataset), range(FULL.n_seeds), single_task=False)
    known = plan.problem.defaults(method)[1] | tuned_parameters(STORE, plan, method)
    cells = []
    for n_cells in LARGE[method]:
        jobs = plan.jobs(method, {**known, "n_cells": n_cells})
        if records := [record for job in jobs if (record := STORE.find(job))]:
            runs = Summary(records)
            cells.append(f"{accuracy(runs)}, {runs.cost('peak_rss') / 1e9:.1f} GB")
    return "; ".join(sorted(cells)) or "-"


def main() -> None:
    """Write the page."""
    environment = report.environment("seeds 0 to 4", ("kenyon",))
    runs = FULL.collect(STORE).runs
    found = {
        method: [runs.get(dataset, {}).get(method) for dataset in DATASETS] for method in SHOWN
    }
    found |= {method: [ceiling(dataset, method) for dataset in DATASETS] for method in CEILINGS}
    tables = [
        report.table(
            (title, *DATASETS),
            [(METHODS[method].title, *map(show, of_each)) for method, of_each in found.items()],
        )
        for title, show in (("method", accuracy), ("what it took", cost))
    ]
    lines = ["# Kenyon's readouts beside every other method", "", environment, "", METHOD]
    rows = [(METHODS[m].title, *(large(data, m) for data in LARGE_DATASETS)) for m in LARGE]
    lines += ["", tables[0], "", tables[1], "", LARGER, ""]
    lines += [report.table(("many cells", *LARGE_DATASETS), rows)]
    report.save("beyond.md", "\n".join(lines))


if __name__ == "__main__":
    main()
