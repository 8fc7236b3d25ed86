"""What several figures are made of: accuracy and memory loss, task by task."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from kenyon_lab.figures.bands import plot_mean
from kenyon_lab.figures.style import add_legend, letter_panels, look_of, new_figure
from kenyon_lab.methods import METHODS
from kenyon_lab.reproduction.evidence import DATASET_TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.evidence import Evidence


def draw_accuracy(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a figure of accuracy on the classes so far, a panel for each dataset."""
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
    """Plot accuracy on the classes so far against how many there are."""
    for method, summary in runs.items():
        plot_mean(axes, summary.n_classes_so_far, summary.accuracy_so_far, **look(method))
    _label(axes, dataset, runs, "accuracy")
    axes.set(xlabel="classes learned", ylim=(0, 1.02))


def plot_memory_loss(axes: Axes, dataset: str, runs: dict[str, Summary]) -> None:
    """Plot the memory loss of each task."""
    axes.axhline(0, color="black", linewidth=0.6)
    for method, summary in runs.items():
        losses = summary.learned - summary.remembered
        plot_mean(axes, np.arange(1, losses.shape[1] + 1), losses, **look(method))
    _label(axes, dataset, runs, "memory loss")
    axes.set_xlabel("task")


def count_seeds(runs: dict[str, Summary]) -> str:
    """Say how many seeds there are, in a few words."""
    counts = [len(summary.records) for summary in runs.values()]
    fewest, most = min(counts), max(counts)
    if fewest < most:
        return f"{fewest} to {most} seeds"
    return f"{most} seed{'s' if most > 1 else ''}"


def look(method: str) -> dict[str, Any]:
    """Return how a method's line looks."""
    colour, marker, line = look_of(method)
    return {
        "color": colour,
        "marker": marker,
        "linestyle": line,
        "label": METHODS[method].title,
        "linewidth": 1.8 if method == "fly" else 1.1,
        "zorder": 3 if method == "fly" else 2,
    }


def _label(axes: Axes, dataset: str, runs: dict[str, Summary], what: str) -> None:
    axes.set_title(f"{DATASET_TITLES.get(dataset, dataset)} ({count_seeds(runs)})")
    axes.set_ylabel(what)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
