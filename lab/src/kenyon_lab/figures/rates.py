"""Accuracy and saturation against the learning rate, one trained model per panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    GREY,
    SKY,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVES = {
    "accuracy": Line("accuracy", VERMILION, "o", "-"),
    "at_cap_of_used": Line("share of non-zero weights at their cap", BLUE, "s", "--"),
    "at_cap": Line("share of all weights at their cap", SKY, "v", ":"),
}
_STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 10,
    "markeredgecolor": BLACK,
    "linestyle": "none",
}


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a panel for each dataset; stars mark the learning rate "auto"."""
    names = list(findings[0]["datasets"])
    figure, panels = new_figure(1, len(names), height=2.9)
    for axes, name in zip(panels, names, strict=True):
        _plot(axes, [found["datasets"][name] for found in findings])
        if name == "mnist20":
            _mark_paper(axes, findings[0]["paper"])
        axes.set(xscale="log", ylim=(-0.03, 1.02), xlabel="learning rate")
        axes.set_title(dataset_title(name))
    panels[0].set_ylabel("accuracy, or share of weights")
    letter_panels(panels)
    add_legend(figure, panels, n_columns=2)
    return figure


def _plot(axes: Axes, runs: list[dict[str, Any]]) -> None:
    x, auto = runs[0]["learning_rate"], runs[0]["auto"]["learning_rate"]
    for curve, line in _CURVES.items():
        plot_mean(axes, x, [run[curve] for run in runs], line)
    for curve, line in _CURVES.items():
        axes.plot(auto, np.mean([run["auto"][curve] for run in runs]), color=line.color, **_STAR)
    axes.plot([], [], color="white", label='learning rate "auto"', **_STAR)


def _mark_paper(axes: Axes, rate: float) -> None:
    axes.axvline(rate, color=GREY, linewidth=0.8, zorder=1)
    axes.annotate(
        f"the paper's  \n{rate:g}  ", (rate, 0.5), ha="right", va="center", color="#555555"
    )
