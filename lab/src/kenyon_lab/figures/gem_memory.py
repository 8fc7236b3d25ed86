"""Exploratory: accuracy and memory loss of GEM against the exemplars that it stores per task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import NullLocator

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLACK,
    GREEN,
    SKY,
    add_legend,
    add_subtitle,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.titles import count_seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_ACCURACY, PAPER_LOSS = 0.69, 0.24
"""The paper's accuracy of GEM on MNIST-20 after 10 classes, and its average memory loss."""

_READINGS = {25: "\n(256 in all)", 256: "\n(256 a task)"}
"""What the paper's 256 memories may mean."""


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return accuracy after half of the classes and after all, and memory loss."""
    first, last = findings[0]["n_classes"]
    figure, (accuracy, loss) = new_figure(1, 2, height=3.0)
    half, full = (
        Line(f"accuracy after {first} classes", GREEN, "D", "-"),
        Line(f"accuracy after {last} classes", SKY, "o", "--"),
    )
    lost = Line("memory loss", BLACK, "s", "-.")
    _plot(accuracy, findings, "accuracy_half", half)
    _plot(accuracy, findings, "accuracy", full)
    _plot(loss, findings, "memory_loss", lost, bounds=(-1, 1))
    _mark_paper(accuracy, PAPER_ACCURACY, f"paper, {first} classes: {PAPER_ACCURACY}", below=True)
    _mark_paper(loss, PAPER_LOSS, f"paper: {PAPER_LOSS}", below=False)
    accuracy.set(title="Exploratory: accuracy of GEM", ylabel="accuracy")
    loss.set(title="Exploratory: memory loss of GEM", ylabel="memory loss")
    letter_panels([accuracy, loss])
    for axes in (accuracy, loss):
        add_subtitle(axes, f"MNIST-20, {count_seeds(len(findings))}")
    add_legend(figure, [accuracy, loss], n_columns=2)
    return figure


def _plot(
    axes: Axes, findings: list[dict[str, Any]], name: str, line: Line, **options: Any
) -> None:
    x = findings[0]["n_exemplars"]
    plot_mean(axes, x, [found[name] for found in findings], line, **options)
    axes.set(xscale="log", xlabel="exemplars per task")
    axes.set_xticks(x, [f"{n}{_READINGS.get(n, '')}" for n in x])
    axes.xaxis.set_minor_locator(NullLocator())


def _mark_paper(axes: Axes, number: float, words: str, *, below: bool) -> None:
    axes.axhline(number, color=BLACK, linewidth=1, linestyle=":")
    axes.annotate(
        words,
        (1, number),
        (0, -3 if below else 3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
    )
