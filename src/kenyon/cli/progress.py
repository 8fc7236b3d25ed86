"""A progress bar with the number of rows and their rate, on a terminal only."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from kenyon.cli.tables import Progress


class Show(Protocol):
    """Shows how far a file is read."""

    def __call__(self, rows: int, progress: Progress) -> None:
        """Show the number of rows so far, and the part of the file."""


@contextmanager
def showing(title: str, output: str | None = None) -> Iterator[Show]:
    """Yield a function that updates a progress bar on standard error, if that is a terminal.

    There is no bar while a table is written to the same terminal: while `output` is "-".
    """
    if not sys.stderr.isatty() or (output == "-" and sys.stdout.isatty()):
        yield lambda rows, progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TextColumn("{task.fields[rate]:,.0f} rows/s"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=None, rows=0, rate=0.0)
        yield _Updater(bars, task)


class _Updater:
    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars, self._task = bars, task

    def __call__(self, rows: int, progress: Progress) -> None:
        elapsed = self._bars.tasks[0].elapsed or 0.0
        self._bars.update(
            self._task,
            total=progress.total,
            completed=progress.done,
            rows=rows,
            rate=rows / elapsed if elapsed > 0 else 0.0,
        )
