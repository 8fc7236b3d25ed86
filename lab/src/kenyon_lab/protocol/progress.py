"""Jobs run with their progress on a console."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING

from rich import progress

from kenyon_lab.console import say
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.record import RunRecord
    from kenyon_lab.protocol.store import Store
    from kenyon_lab.protocol.workers import Event


def run_jobs(
    jobs: Sequence[Job], n_tasks: int, n_jobs: int, store: Store, console: Console
) -> tuple[dict[str, RunRecord], list[str]]:
    """Run jobs of `n_tasks` tasks each, and show their progress.

    Returns
    -------
    records : dict
        The record of each finished job by its digest, in the order of the jobs. A sum over them
        is therefore the same if some were finished by an earlier command.
    failures : list of str
        A sentence for each job that failed.
    """
    records: dict[str, RunRecord] = {}
    failures = []
    display = Display(jobs, n_tasks, console)
    try:
        with display.progress, closing(run_all(jobs, n_jobs, store)) as events:
            for event in events:
                display.show(event)
                if isinstance(event, Finished):
                    records[event.job.digest] = event.record
                elif isinstance(event, Failed):
                    failures.append(f"{display.describe(event.job)}: {event.reason}")
    except KeyboardInterrupt:
        finished = f"{len(records)} of {len(jobs)} runs"
        say(f"Interrupted; the same command goes on with {finished} done.", console)
        raise
    digests = dict.fromkeys(job.digest for job in jobs)
    return {digest: records[digest] for digest in digests if digest in records}, failures


class Display:
    """A bar for each running job, one for all, and a line for each job that ends.

    If the console is no terminal, there are only the lines.
    """

    def __init__(self, jobs: Sequence[Job], n_tasks: int, console: Console) -> None:
        self.progress = progress.Progress(
            "{task.description}",
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            "{task.fields[note]}",
            progress.TimeElapsedColumn(),
            "left",
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            # A task may take longer than the half minute over which rich averages by default.
            speed_estimate_period=math.inf,
        )
        self.console = console
        self.n_tasks = n_tasks
        self.total = len(jobs) * n_tasks
        self.bars: dict[str, progress.TaskID] = {}
        self.whole = self.progress.add_task("all tasks", total=self.total, note="")
        values: dict[tuple[str, str], set[str]] = {}
        for job in jobs:
            for name, value in job.parameters.items():
                values.setdefault((job.method, name), set()).add(repr(value))
        self.varied = {key for key, different in values.items() if len(different) > 1}

    def describe(self, job: Job) -> str:
        """Return the name of a job: method, parameters that vary among its jobs, order, seed."""
        varied = [f"{k} {v}" for k, v in job.parameters.items() if (job.method, k) in self.varied]
        return ", ".join([METHODS[job.method].title, *varied, job.order, f"seed {job.seed}"])

    def show(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Started):
            self.bars[event.job.digest] = self.progress.add_task(
                self.describe(event.job), total=self.n_tasks, note=""
            )
        elif isinstance(event, Learned):
            note = f"accuracy {event.accuracy:.3f}"
            if event.job.single_task and event.task == self.n_tasks - 1:
                note += ", now single tasks"
            self.progress.update(self.bars[event.job.digest], advance=1, note=note)
            self.progress.advance(self.whole)
        else:
            self._end(event)

    def _end(self, event: Event) -> None:
        if event.job.digest in self.bars:
            bar = self.bars.pop(event.job.digest)
            learned = next(task.completed for task in self.progress.tasks if task.id == bar)
            self.progress.remove_task(bar)
            self.progress.advance(self.whole, self.n_tasks - learned)
        else:
            # A cached run must not count in the estimate of the time left.
            self.total -= self.n_tasks
            self.progress.update(self.whole, total=self.total)
        if isinstance(event, Failed):
            say(f"{self.describe(event.job)}: failed", self.console)
        elif isinstance(event, Finished):
            seconds = sum(event.record.learn_seconds) + sum(event.record.predict_seconds)
            time = "done before" if event.cached else f"{seconds:.1f} s"
            accuracy = event.record.measures["accuracy"]
            sentence = ", ".join([f"accuracy {accuracy:.3f}", time, *event.record.warnings])
            say(f"{self.describe(event.job)}: {sentence}", self.console)
