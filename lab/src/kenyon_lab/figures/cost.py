"""Accuracy against training time and peak memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from kenyon_lab.figures.labels import Label, place_labels
from kenyon_lab.figures.selection import compared_datasets
from kenyon_lab.figures.style import BLACK, BLUE, GREEN, GREY, VERMILION, letter_panels, new_figure
from kenyon_lab.figures.titles import dataset_title
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary

MANY = 1000
"""Ratio of the axis limits above which only powers of ten are labelled."""

COSTS: dict[str, Callable[[Summary], float]] = {
    "training time, s": lambda summary: summary.cost("learn_seconds"),
    # Zero has no place on a logarithmic axis.
    "peak RSS, MB": lambda summary: max(1.0, summary.cost("peak_rss") / 1e6),
}


class _Family(NamedTuple):
    title: str
    colour: str
    marker: str


_FLY = _Family("FlyModel and Kenyon", VERMILION, "o")
_FAMILIES = {
    "readout": _FLY,
    "paper": _Family("networks", BLUE, "s"),
    "modern": _Family("class means, ridge regression", GREEN, "D"),
    "ablation": _Family("variants of the FlyModel", BLACK, "^"),
    "perceptron": _Family("variants of the FlyModel", BLACK, "^"),
}
"""Of the methods that have a label, by their group."""

_SETTINGS = ("-capped", "-published", "-sgd")
"""Ends of the names of methods with other settings."""


class _Point(NamedTuple):
    cost: float
    accuracy: float


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset, a panel for each cost."""
    datasets = compared_datasets(evidence, methods)
    figure, panels = new_figure(len(datasets), len(COSTS), height=3.2)
    drawn = []
    for row, dataset in enumerate(datasets):
        runs = evidence.of(dataset, methods)
        for column, (label, cost) in enumerate(COSTS.items()):
            axes = panels[row * len(COSTS) + column]
            points = {
                method: _Point(cost(summary), summary.measure("accuracy").mean)
                for method, summary in runs.items()
            }
            drawn.append(_plot(axes, runs, points))
            axes.set_title(dataset_title(dataset))
            axes.set(xlabel=label, ylabel="final accuracy")
    letter_panels(panels)
    _add_legend(figure)
    # Labels have a place once panels have their size.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes, labels in zip(panels, drawn, strict=True):
        if labels:
            place_labels(axes, labels)
    return figure


def _family(method: str) -> _Family | None:
    """Return the family of a method, or None if it is another one with other settings."""
    if method.endswith(_SETTINGS):
        return None
    return _FLY if method == "fly" else _FAMILIES.get(METHODS[method].group)


def _plot(axes: Axes, runs: dict[str, Summary], points: dict[str, _Point]) -> list[Label]:
    """Plot all points; return the labels of those that get one."""
    labels = []
    for method, point in points.items():
        family = _family(method)
        if family is None:
            axes.plot(*point, ".", color="#cccccc", zorder=1)
            continue
        title = METHODS[method].title
        labels.append(Label(title.removeprefix("Perceptron "), point, family.colour))
        axes.plot(
            *point,
            family.marker,
            color=family.colour,
            markerfacecolor=family.colour if runs[method].sees_once else "white",
            markersize=5,
            label=title,
            zorder=3,
        )
    if labels:
        _draw_front(axes, [label.point for label in labels])
    _scale(axes, max(point.accuracy for point in points.values()))
    return labels


def _scale(axes: Axes, top: float) -> None:
    """Scale the axes, with room for labels around the points."""
    axes.set(xscale="log", ylim=(-0.05, top + 0.15))
    axes.margins(x=0.14)
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < MANY * low else (1,)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_front(axes: Axes, points: list[tuple[float, float]]) -> None:
    """Draw the best accuracy at every cost."""
    costs, accuracies = np.array(sorted(points)).T
    best = np.maximum.accumulate(accuracies)
    axes.step(costs, best, where="post", color=GREY, linewidth=0.8, zorder=2)


def _add_legend(figure: Figure) -> None:
    families = dict.fromkeys(_FAMILIES.values())
    handles = [
        Line2D([], [], color=family.colour, marker=family.marker, linestyle="", label=family.title)
        for family in families
    ]
    mark: dict[str, Any] = {"color": BLACK, "marker": "o", "linestyle": ""}
    handles += [
        Line2D([], [], label="sees each sample once", **mark),
        Line2D([], [], markerfacecolor="white", label="stores or replays samples", **mark),
        Line2D([], [], color=GREY, linewidth=0.8, label="best at its cost or less"),
        Line2D([], [], color="#cccccc", marker=".", linestyle="", label="other settings of these"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
