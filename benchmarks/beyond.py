"""Kenyon's readouts beside every other method, on three datasets.

Run as `python benchmarks/beyond.py`: puts together the runs of `make reproduction` that are kept in
results/, and runs nothing. Writes benchmarks/results/beyond.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import report

from kenyon.experiments.archive import Archive
from kenyon.protocol.store import Store
from kenyon.reproduction.profiles import PROFILES
from kenyon.rivals.catalogue import METHODS

if TYPE_CHECKING:
    from kenyon.protocol.summary import Summary

FULL = PROFILES["full"]
DATASETS = ("mnist20", "tiny100", "clinc150")
SHOWN = ("fly", "bayes", "ridge", "offline", "gem", "bir", "ewc", "vanilla")
SHOWN += ("ncm", "slda", "ranpac", "fly-cl")
KEPT = report.RESULTS.parents[1] / "results"
METHOD = """\
Accuracy on all classes after all tasks, mean±standard deviation over seeds (in brackets how many
where it is not five); seconds to learn and memory that the process grew by are medians. Parameters
are the paper's where it has some, else those that `kenyon tune` chose, else defaults; Kenyon's
readouts have their defaults. RanPAC and Fly-CL have 3,200 units. Seconds are rough: the runs were
made at different times, some with other work on the machine."""


def accuracy(runs: Summary | None) -> str:
    """Return what was reached."""
    if runs is None:
        return "-"
    n_seeds = len(runs.records)
    return f"{runs.measure('accuracy')}" + ("" if n_seeds == FULL.n_seeds else f" ({n_seeds})")


def cost(runs: Summary | None) -> str:
    """Return what it took."""
    if runs is None:
        return "-"
    return f"{runs.cost('learn_seconds'):,.0f} s, {runs.cost('peak_memory') / 1e6:,.0f} MB"


def main() -> None:
    """Write the page."""
    circumstances = report.circumstances("seeds 0 to 4", ("kenyon",))
    runs = FULL.collect(Store(KEPT), Archive(KEPT)).runs
    found = {method: [runs[dataset].get(method) for dataset in DATASETS] for method in SHOWN}
    tables = [
        report.table(
            (title, *DATASETS),
            [(METHODS[method].title, *map(show, found[method])) for method in SHOWN],
        )
        for title, show in (("method", accuracy), ("what it took", cost))
    ]
    lines = ["# Kenyon's readouts beside every other method", "", circumstances, "", METHOD]
    report.save("beyond.md", "\n".join([*lines, "", tables[0], "", tables[1]]))


if __name__ == "__main__":
    main()
