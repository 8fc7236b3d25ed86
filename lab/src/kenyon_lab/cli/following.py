"""Runs, and how they go, on the screen."""

from __future__ import annotations

import math
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from kenyon_lab.cli.console import messages, say
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import TaskID

    from kenyon_lab.protocol.job import Job
    from kenyon_lab.protocol.record import Record
    from kenyon_lab.protocol.store import Store
    from kenyon_lab.protocol.workers import News

INTERRUPTED = 130


def follow(
    jobs: Sequence[Job], n_tasks: int, n_jobs: int, store: Store
) -> tuple[list[Record], list[str]]:
    """Run jobs of so many tasks each, and show how they go.

    Returns
    -------
    records : list of Record
        Of the jobs that are done, in their order.
    failures : list of str
        A sentence for each of the others.
    """
    done: dict[str, Record] = {}
    failures = []
    screen = Screen(jobs, n_tasks)
    try:
        with screen.progress, closing(run_all(jobs, n_jobs, store)) as all_news:
            for news in all_news:
                screen.show(news)
                if isinstance(news, Finished):
                    done[news.job.digest] = news.record
                elif isinstance(news, Failed):
                    failures.append(f"{describe(news.job)}: {news.reason}")
    except KeyboardInterrupt:
        kept = f"{len(done)} of {len(jobs)} runs"
        say(f"Interrupted; the same command goes on with {kept} done.", messages)
        sys.exit(INTERRUPTED)
    return [done[job.digest] for job in jobs if job.digest in done], failures


def describe(job: Job) -> str:
    """Return what a job is called."""
    entry = METHODS[job.method]
    tried = [f"{name} {job.parameters[name]}" for name in entry.grid if job.setting == "grid"]
    return ", ".join([entry.title, *tried, job.order, f"seed {job.seed}"])


class Screen:
    """A bar for each job that runs and one for all, and a line for each that ends.

    Where nobody watches, as when a file is written, there are only the lines.
    """

    def __init__(self, jobs: Sequence[Job], n_tasks: int) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=messages,
            transient=True,
            disable=not messages.is_terminal,
            # A task may take longer than the half minute that is usually looked back.
            speed_estimate_period=math.inf,
        )
        self.n_tasks = n_tasks
        self.n_asked = len(jobs) * n_tasks
        self.bars: dict[str, TaskID] = {}
        self.whole = self.progress.add_task("all tasks", total=self.n_asked, note="")

    def show(self, news: News) -> None:
        """Show what has happened."""
        if isinstance(news, Started):
            self.bars[news.job.digest] = self.progress.add_task(
                describe(news.job), total=self.n_tasks, note=""
            )
        elif isinstance(news, Learned):
            note = f"accuracy {news.accuracy:.3f}"
            if news.job.alone and news.task == self.n_tasks - 1:
                note += ", now each task alone"
            self.progress.update(self.bars[news.job.digest], advance=1, note=note)
            self.progress.advance(self.whole)
        else:
            self._end(news)

    def _end(self, news: News) -> None:
        if news.job.digest in self.bars:
            bar = self.bars.pop(news.job.digest)
            learned = next(task.completed for task in self.progress.tasks if task.id == bar)
            self.progress.remove_task(bar)
            self.progress.advance(self.whole, self.n_tasks - learned)
        else:
            # What was done before says nothing of the time that the rest will take.
            self.n_asked -= self.n_tasks
            self.progress.update(self.whole, total=self.n_asked)
        if isinstance(news, Failed):
            say(f"{describe(news.job)}: failed", messages)
        elif isinstance(news, Finished):
            seconds = sum(news.record.learn_seconds) + sum(news.record.predict_seconds)
            how = "done before" if news.before else f"{seconds:.1f} s"
            accuracy = news.record.measures["accuracy"]
            sentence = ", ".join([f"accuracy {accuracy:.3f}", how, *news.record.warnings])
            say(f"{describe(news.job)}: {sentence}", messages)
