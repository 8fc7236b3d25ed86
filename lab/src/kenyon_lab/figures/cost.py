"""Accuracy against training time and peak memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from kenyon_lab.figures.style import add_legend, letter_panels, look_of, new_figure
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


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset, a panel for each cost."""
    datasets = evidence.datasets(methods)
    figure, panels = new_figure(len(datasets), len(COSTS), height=3.2)
    for row, dataset in enumerate(datasets):
        for column, (label, cost) in enumerate(COSTS.items()):
            axes = panels[row * len(COSTS) + column]
            for method, summary in evidence.of(dataset, methods).items():
                _mark(axes, method, summary, cost(summary))
            axes.set(xscale="log", xlabel=label, ylabel="final accuracy", ylim=(0, 1))
            low, high = axes.get_xlim()
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < MANY * low else (1,)))
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_title(dataset_title(dataset))
    letter_panels(panels)
    add_legend(figure, panels, n_columns=4)
    return figure


def _mark(axes: Axes, method: str, summary: Summary, cost: float) -> None:
    colour, marker, _ = look_of(method)
    axes.plot(
        cost,
        summary.measure("accuracy").mean,
        marker,
        color=colour,
        markerfacecolor=colour if summary.sees_once else "white",
        markersize=8 if method == "fly" else 6,
        label=METHODS[method].title,
        zorder=3 if method == "fly" else 2,
    )
