"""Figure S1: accuracy on each task when it was learned and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from kenyon_lab.figures.selection import compared_datasets
from kenyon_lab.figures.style import GREY, add_subtitle, letter_panels, look_of, new_figure
from kenyon_lab.figures.ticks import tick_tasks
from kenyon_lab.figures.titles import dataset_title
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset, a panel for each method."""
    datasets = compared_datasets(evidence, methods)
    n = len(methods)
    figure, panels = new_figure(len(datasets), n, height=1.85 if len(datasets) > 1 else 2.4)
    rows = [panels[i : i + n] for i in range(0, len(panels), n)]
    for row, dataset in zip(rows, datasets, strict=True):
        row[0].set_title(dataset_title(dataset))
    letter_panels([row[0] for row in rows])
    for row, dataset in zip(rows, datasets, strict=True):
        _draw_row(row, methods, evidence.of(dataset, methods))
    for axes in rows[-1]:
        axes.set_xlabel("task")
    _add_legend(figure)
    return figure


def _draw_row(row: list[Axes], methods: tuple[str, ...], runs: dict[str, Summary]) -> None:
    for axes, method in zip(row, methods, strict=True):
        axes.set_ylim(-0.03, 1.03)
        axes.tick_params(labelleft=axes is row[0])
        if method in runs:
            _plot(axes, method, runs[method])
            loss = runs[method].measure("memory_loss").middle
            add_subtitle(axes, f"{METHODS[method].title}, loss {loss}")
        else:
            axes.set_axis_off()
    row[0].set_ylabel("accuracy on a task")


def _plot(axes: Axes, method: str, summary: Summary) -> None:
    colour = look_of(method)[0]
    learned, remembered = summary.learned.mean(axis=0), summary.remembered.mean(axis=0)
    tasks = np.arange(1, len(learned) + 1)
    axes.vlines(tasks, remembered, learned, color=colour, linewidth=1.5, alpha=0.6)
    axes.plot(tasks, learned, "o", color=colour, markerfacecolor="white", markersize=3.5)
    axes.plot(tasks, remembered, "o", color=colour, markersize=3.5)
    tick_tasks(axes, tasks.tolist())


def _add_legend(figure: Figure) -> None:
    look: dict[str, Any] = {"color": GREY, "markersize": 3.5}
    handles = [
        Line2D([], [], marker="o", markerfacecolor="white", linestyle="", **look),
        Line2D([], [], marker="o", linestyle="", **look),
        Line2D([], [], linewidth=1.5, alpha=0.6, color=GREY),
    ]
    labels = ["right after the task", "after the last task", "memory loss; above: its mean"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
