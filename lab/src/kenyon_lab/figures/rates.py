"""The learning rate as a matter of reading: one model a panel, read with many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import plot_mean
from kenyon_lab.figures.style import BLACK, BLUE, GREY, SKY, VERMILION, letter_panels, new_figure
from kenyon_lab.reproduction.evidence import DATASET_TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence

_CURVES = {
    "accuracy": ("accuracy", VERMILION, "o", "-"),
    "at_cap_of_used": ("weights at their cap, of those that are not zero", BLUE, "s", "--"),
    "at_cap": ("weights at their cap, of all", SKY, "v", ":"),
}
_STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 10,
    "markeredgecolor": BLACK,
    "linestyle": "none",
}


def draw(evidence: Evidence) -> Figure:
    """Return a panel for each dataset; the stars are what the model reads with by itself."""
    findings = [finding.found for finding in evidence.findings["rates"]]
    names = list(findings[0]["datasets"])
    figure, panels = new_figure(1, len(names), height=2.9)
    for axes, name in zip(panels, names, strict=True):
        _plot(axes, [found["datasets"][name] for found in findings])
        if name == "mnist20":
            _mark_paper(axes, findings[0]["paper"])
        axes.set(xscale="log", ylim=(-0.03, 1.02), xlabel="learning rate")
        axes.set_title(DATASET_TITLES.get(name, name))
    panels[0].set_ylabel("accuracy, or share of weights")
    letter_panels(panels)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _plot(axes: Axes, runs: list[dict[str, Any]]) -> None:
    x, auto = runs[0]["learning_rate"], runs[0]["auto"]["learning_rate"]
    for curve, (label, colour, marker, line) in _CURVES.items():
        look = {"label": label, "color": colour, "marker": marker, "linestyle": line}
        plot_mean(axes, x, [run[curve] for run in runs], **look)
    for curve, (_, colour, *_) in _CURVES.items():
        axes.plot(auto, np.mean([run["auto"][curve] for run in runs]), color=colour, **_STAR)
    axes.plot([], [], color="white", label='the same, with "auto"', **_STAR)


def _mark_paper(axes: Axes, rate: float) -> None:
    axes.axvline(rate, color=GREY, linewidth=0.8, zorder=1)
    axes.annotate(
        f"the paper's  \n{rate:g}  ", (rate, 0.5), ha="right", va="center", color="#555555"
    )
