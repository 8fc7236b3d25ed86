"""Every method on mnist20, whose features are like the paper's, in both orders of samples.

Run as `python benchmarks/mnist20.py`: collects the runs of `make reproduction`, where run i has the
encoder and the model of seed i, and runs the other order with one seed. Writes
benchmarks/results/mnist20.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import report
from methods import ORDER_FREE, QUALITY, cost, quality

from kenyon_lab.console import messages
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.progress import run_jobs
from kenyon_lab.protocol.store import Store
from kenyon_lab.protocol.summary import Summary
from kenyon_lab.reproduction.profiles import PROFILES

if TYPE_CHECKING:
    from kenyon_lab.protocol.job import Job

DATASET, N_JOBS = "mnist20", 2
COLUMNS = [name for name in QUALITY if name != "intransigence"]
FULL = PROFILES["full"]
STORE = Store(report.RESULTS.parents[1] / "lab" / "results")
# All but the methods whose sums do not depend on the order of samples.
OTHER_ORDER = [
    name
    for name in FULL.methods_on(DATASET)
    if name not in ORDER_FREE and METHODS[name].group not in ("readout", "modern")
]
METHOD = """\
Ten tasks of two classes; 84 features, 120,000 training and 20,000 test samples; the paper's
parameters, or, where it has none, the choice of a search, or defaults. Run i has the encoder and
the model of seed i. Mean±standard deviation over seeds. "So far" is the mean over tasks of the
accuracy on all classes so far; "of" is the mean accuracy on a task right after it, from which
memory loss is counted. Passes count every sample shown, be it new, stored or generated, for each
training sample. Peak RSS is the growth of the process. Two runs at a time, on one thread each, with
other work on the machine: seconds (medians over seeds) are rough."""
OTHER = """\
Perceptrons with the samples of a task shuffled, all others with one class after the other."""


def other_order(method: str) -> list[Job]:
    """Return the run of a method in the order that it does not have by default."""
    order = "classes" if METHODS[method].order == "shuffled" else "shuffled"
    plan = Plan(Problem(DATASET), [0], order, single_task=False)
    return plan.jobs(method, FULL.defaults(DATASET, method)[1])


def run(jobs: dict[str, list[Job]]) -> list[Summary]:
    """Run the jobs that the store lacks; return the runs of each method."""
    in_turn = [job for group in jobs.values() for job in group]
    records, failures = run_jobs(in_turn, 10, N_JOBS, STORE, messages)
    if failures:
        raise SystemExit("\n".join(failures))
    return [Summary([records[job.digest] for job in group]) for group in jobs.values()]


def main() -> None:
    """Write the page."""
    environment = report.environment("seeds 0 to 4", ("kenyon", "numpy", "scipy", "torch"))
    default = list(FULL.collect(STORE).runs[DATASET].values())
    other = run({method: other_order(method) for method in OTHER_ORDER})
    lines = ["# Every method on mnist20", "", environment, "", METHOD, ""]
    lines += ["## In its default order", "", quality(default, COLUMNS), "", cost(default), ""]
    lines += ["## In the other order, seed 0", "", OTHER, ""]
    lines += [quality(other, COLUMNS), "", cost(other)]
    report.save("mnist20.md", "\n".join(lines))


if __name__ == "__main__":
    main()
