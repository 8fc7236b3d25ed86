"""Accuracy and memory loss, task by task; figures 3 and 4."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import add_legend, letter_panels, look_of, new_figure
from kenyon_lab.figures.titles import dataset_title, range_of_seeds
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return accuracy on the classes so far, a panel for each dataset."""
    datasets = evidence.datasets(methods)
    figure, panels = new_figure(math.ceil(len(datasets) / 2), min(2, len(datasets)))
    for axes, dataset in zip(panels, datasets, strict=False):
        plot_accuracy(axes, dataset, evidence.of(dataset, methods))
    for unused in panels[len(datasets) :]:
        unused.set_axis_off()
    letter_panels(panels[: len(datasets)])
    add_legend(figure, panels, n_columns=5)
    return figure


def plot_accuracy(axes: Axes, dataset: str, runs: dict[str, Summary]) -> None:
    """Plot accuracy on the classes so far against their number."""
    for method, summary in runs.items():
        _plot(axes, method, summary.n_classes_so_far, summary.accuracy_so_far)
    _label(axes, dataset, runs, xlabel="classes learned", ylabel="accuracy", ylim=(0, 1.02))


def plot_memory_loss(axes: Axes, dataset: str, runs: dict[str, Summary]) -> None:
    """Plot the memory loss of each task."""
    axes.axhline(0, color="black", linewidth=0.6)
    for method, summary in runs.items():
        losses = summary.learned - summary.remembered
        _plot(axes, method, np.arange(1, losses.shape[1] + 1), losses)
    _label(axes, dataset, runs, xlabel="task", ylabel="memory loss")


def _plot(axes: Axes, method: str, x: ArrayLike, values: ArrayLike) -> None:
    line = Line(METHODS[method].title, *look_of(method))
    width, order = (1.8, 3) if method == "fly" else (1.1, 2)
    plot_mean(axes, x, values, line, linewidth=width, zorder=order)


def _label(axes: Axes, dataset: str, runs: dict[str, Summary], **labels: Any) -> None:
    axes.set_title(f"{dataset_title(dataset)} ({range_of_seeds(runs)})")
    axes.set(**labels)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
