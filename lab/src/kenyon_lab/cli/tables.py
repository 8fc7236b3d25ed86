"""Results of a comparison as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.padding import Padding
from rich.table import Table

from kenyon_lab.console import printer, say
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kenyon_lab.protocol.search import Trial
    from kenyon_lab.protocol.summary import Summary

QUALITY: dict[str, Callable[[Summary], str]] = {
    "accuracy": lambda summary: str(summary.measure("accuracy")),
    "mean\nso far": lambda summary: summary.measure("average_accuracy").middle,
    "memory loss": lambda summary: str(summary.measure("memory_loss")),
    "of": lambda summary: summary.measure("learned").middle,
    "backward\ntransfer": lambda summary: summary.measure("backward_transfer").middle,
    "intran-\nsigence": lambda summary: summary.measure("intransigence").middle,
}
COST: dict[str, Callable[[Summary], str]] = {
    "learn,\ns": lambda summary: f"{summary.cost('learn_seconds'):,.1f}",
    "predict,\ns": lambda summary: f"{summary.cost('predict_seconds'):,.1f}",
    "peak\nRSS, MB": lambda summary: f"{summary.cost('peak_rss') / 1e6:,.0f}",
    "parameters": lambda summary: f"{summary.cost('n_parameters'):,.0f}",
    "exem-\nplars": lambda summary: f"{summary.cost('n_exemplars'):,.0f}",
    "passes": lambda summary: f"{summary.cost('n_passes'):,.1f}",
}


def print_summaries(summaries: Sequence[Summary]) -> None:
    """Print quality and cost, grouped by parameters, order and number of seeds."""
    for run in dict.fromkeys(map(_run, summaries)):
        say(f"With {run}:")
        for columns in (QUALITY, COST):
            table = _table("method", numbers=list(columns))
            for summary in summaries:
                if _run(summary) == run:
                    cells = [cell(summary) for cell in columns.values()]
                    table.add_row(METHODS[summary.method].title, *cells)
            printer.print(Padding(table, (1, 0), expand=False))


def print_trials(trials: Sequence[Trial]) -> None:
    """Print the trials of a search."""
    table = _table(numbers=[*trials[0].parameters, "accuracy"])
    for trial in trials:
        table.add_row(*map(str, trial.parameters.values()), str(trial.accuracy))
    printer.print(Padding(table, (1, 0), expand=False))


def _run(summary: Summary) -> str:
    n_seeds = len(summary.records)
    seeds = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
    order = {"shuffled": "samples shuffled", "classes": "class by class"}[summary.order]
    return f"{summary.setting} parameters, {order}, {seeds}"


def _table(*words: str, numbers: Sequence[str]) -> Table:
    # Edges would take two columns of a terminal.
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    for column in words:
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right")
    return table
