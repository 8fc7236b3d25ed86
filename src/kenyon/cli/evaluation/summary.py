"""The summary of an evaluation in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from kenyon.cli.visible import visible, visible_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kenyon.cli.evaluation.class_counts import AbsentLabel, ClassResult, Confusion
    from kenyon.cli.evaluation.evaluation import Result
    from kenyon.cli.evaluation.shares import Share

N_SHOWN = 10
"""The classes, confusions and labels that are shown."""


def print_summary(result: Result) -> None:
    """Print the measures, the worst classes and the largest confusions."""
    console = Console()
    console.print(_measures(result))
    # A title of a table would be wrapped at its width.
    if len(worst := result.worst_classes()) > 1:
        console.print(_title("Classes by F1", len(worst), "the lowest"), _classes(worst))
    if found := result.confusions:
        console.print(_title("Confusions", len(found), "the most frequent"), _confusions(found))
    if result.absent_labels:
        title = f"Labels unknown to the model, which count as wrong: {result.n_absent:,} rows"
        console.print(title, _absent_labels(result.absent_labels))


def _measures(result: Result) -> Table:
    table = Table("", "", "95% interval", "rows", box=box.SIMPLE_HEAD)
    shares = {"accuracy": result.accuracy, "among the best three": result.top_accuracy}
    numbers = {
        "mean F1 of classes": _decimals(result.macro_f1),
        "mean confidence": _percent(result.mean_confidence),
        "calibration error": _percent(result.calibration_error),
        "log loss": _decimals(result.log_loss),
        "Brier score": _decimals(result.brier_score),
    }
    _add_shares(table, shares)
    for name, number in numbers.items():
        table.add_row(name, number)
    if detection := result.detection:
        label = visible(detection.label)
        table.add_row("AUROC of the novelty score", _decimals(detection.auroc))
        shares = {
            f"{label} detected": detection.detected,
            "false alarms": detection.false_alarms,
            f"accuracy with {label}": detection.accuracy,
        }
        _add_shares(table, shares)
    return table


def _add_shares(table: Table, shares: Mapping[str, Share | None]) -> None:
    for name, share in shares.items():
        if share is None:
            continue
        low, high = share.interval or (None, None)
        interval = "" if low is None else f"{_percent(low)} to {_percent(high)}"
        rows = f"{share.count:,} of {share.total:,}"
        table.add_row(Text(name), _percent(share.value), interval, rows)


def _classes(worst: list[ClassResult]) -> Table:
    numbers = [Column(name, justify="right") for name in ("F1", "recall", "precision", "rows")]
    table = Table("class", *numbers, box=box.SIMPLE_HEAD)
    for each in worst[:N_SHOWN]:
        table.add_row(
            _label(each.label),
            _decimals(each.f1),
            _percent(each.recall),
            _percent(each.precision),
            f"{each.rows:,}",
        )
    return table


def _confusions(confusions: list[Confusion]) -> Table:
    table = Table("label", "answer", Column("rows", justify="right"), box=box.SIMPLE_HEAD)
    for label, predicted, count in confusions[:N_SHOWN]:
        table.add_row(_label(label), _label(predicted), f"{count:,}")
    return table


def _absent_labels(labels: list[AbsentLabel]) -> Table:
    rows = Column("rows", justify="right")
    table = Table("label", rows, "most frequent answer", box=box.SIMPLE_HEAD)
    for label, count, predicted in labels[:N_SHOWN]:
        table.add_row(_label(label), f"{count:,}", _label(predicted))
    return table


def _title(name: str, total: int, which: str) -> str:
    return name if total <= N_SHOWN else f"{name}: {which} {N_SHOWN} of {total:,}"


def _label(label: object) -> Text:
    """Return a label as text in which rich reads no markup."""
    return Text(visible_label(label), overflow="fold")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _decimals(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"
