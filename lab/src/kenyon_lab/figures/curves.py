"""Accuracy and memory loss, task by task; figure 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.selection import compared_datasets
from kenyon_lab.figures.style import (
    add_legend,
    add_subtitle,
    label_rows,
    letter_panels,
    look_of,
    new_grid,
)
from kenyon_lab.figures.ticks import tick_tasks
from kenyon_lab.figures.titles import dataset_title, describe_seeds
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary

MARKERS = 6
"""About as many markers as a line has."""


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return accuracy on the classes so far, a panel for each dataset."""
    datasets = compared_datasets(evidence, methods)
    shown = [(dataset_title(name), evidence.of(name, methods)) for name in datasets]
    figure, panels, free = new_grid(len(shown))
    for axes, (_, runs) in zip(panels, shown, strict=True):
        plot_accuracy(axes, runs)
    label_rows(panels, "accuracy")
    add_titles(panels, shown)
    add_legend(figure, panels, n_columns=3, free=free)
    return figure


def add_titles(panels: list[Axes], shown: list[tuple[str, dict[str, Summary]]]) -> None:
    """Add the letter of each panel, its title, and the number of seeds of its runs."""
    for axes, (title, _) in zip(panels, shown, strict=True):
        axes.set_title(title)
    letter_panels(panels)
    for axes, (_, runs) in zip(panels, shown, strict=True):
        add_subtitle(axes, describe_seeds(runs))


def plot_accuracy(
    axes: Axes, runs: dict[str, Summary], titles: Mapping[str, str] | None = None
) -> None:
    """Plot accuracy on the classes so far against their number.

    The legend has the title of each method, or the one of `titles`.
    """
    accuracies = {method: summary.accuracy_so_far for method, summary in runs.items()}
    n_classes = next(iter(runs.values())).n_classes_so_far
    _plot(axes, n_classes, accuracies, (0, 1), titles)
    axes.set(xlabel="classes learned", ylabel="accuracy", ylim=(0, 1.02))


def plot_memory_loss(axes: Axes, runs: dict[str, Summary]) -> None:
    """Plot the memory loss of each task."""
    axes.axhline(0, color="black", linewidth=0.6)
    losses = {method: summary.learned - summary.remembered for method, summary in runs.items()}
    n_tasks = next(iter(losses.values())).shape[1]
    _plot(axes, np.arange(1, n_tasks + 1), losses, (-1, 1))
    axes.set(xlabel="task", ylabel="memory loss")


def _plot(
    axes: Axes,
    x: NDArray[np.intp],
    values: dict[str, NDArray[np.float64]],
    bounds: tuple[float, float],
    titles: Mapping[str, str] | None = None,
) -> None:
    """Plot the values of each method; the first method is on top.

    Lines may coincide, so their markers are at different tasks.
    """
    titles = {method: METHODS[method].title for method in values} | dict(titles or {})
    step = max(2, round(len(x) / MARKERS))
    for i, (method, of_runs) in enumerate(values.items()):
        line = Line(titles[method], *look_of(method))
        look = {
            "linewidth": 1.8 if method == "fly" else 1.1,
            "zorder": 3 - i / len(values),
            "markevery": (i % step, step),
        }
        plot_mean(axes, x, of_runs, line, bounds=bounds, **look)
    tick_tasks(axes, x.tolist())
