"""Figure S1: accuracy on each task when it was learned and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.figures.style import look_of, new_figure
from kenyon_lab.figures.titles import dataset_title
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset, a panel for each method."""
    datasets = evidence.datasets(methods)
    n = len(methods)
    figure, panels = new_figure(len(datasets), n, height=1.7)
    for row, dataset in enumerate(datasets):
        runs = evidence.of(dataset, methods)
        for column, method in enumerate(methods):
            axes = panels[row * n + column]
            axes.set_ylim(0, 1.03)
            axes.tick_params(labelleft=column == 0)
            if method in runs:
                _plot(axes, method, runs[method])
            else:
                axes.set_axis_off()
        panels[row * n].set_ylabel(f"{dataset_title(dataset)}\naccuracy on a task")
    figure.supxlabel("task", fontsize=8)
    return figure


def _plot(axes: Axes, method: str, summary: Summary) -> None:
    colour = look_of(method)[0]
    learned, remembered = summary.learned.mean(axis=0), summary.remembered.mean(axis=0)
    tasks = np.arange(1, len(learned) + 1)
    axes.vlines(tasks, remembered, learned, color=colour, linewidth=1.5, alpha=0.6)
    axes.plot(tasks, learned, "o", color=colour, markerfacecolor="white", markersize=3.5)
    axes.plot(tasks, remembered, "o", color=colour, markersize=3.5)
    axes.set_title(f"{METHODS[method].title}: {summary.measure('memory_loss').middle}", fontsize=8)
