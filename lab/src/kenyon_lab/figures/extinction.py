"""Extinction: accuracy on the extinguished group and on all other test samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLUE,
    GREY,
    VERMILION,
    add_legend,
    add_subtitle,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS = {
    "others": Line("all other classes", GREY, "s", "--"),
    "rest": Line("rest of the class", BLUE, "v", ":"),
    "group": Line("extinguished group of the class", VERMILION, "o", "-"),
}


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a row for each dataset and a panel for each share."""
    names, shares = list(findings[0]), next(iter(findings[0].values()))["share"]
    figure, panels = new_figure(len(names), len(shares), height=2.3)
    cases = [(name, i) for name in names for i in range(len(shares))]
    for axes, (name, i) in zip(panels, cases, strict=True):
        runs = [found[name] for found in findings]
        x = np.array(runs[0]["n_extinguished"])
        for kind, line in _KINDS.items():
            plot_mean(axes, x, [run[kind][i] for run in runs], line)
        axes.set(ylim=(-0.03, 1.02), title=dataset_title(name))
        axes.set_xlabel("samples extinguished")
    for axes in panels[:: len(shares)]:
        axes.set_ylabel("accuracy")
    letter_panels(panels)
    for axes, (_, i) in zip(panels, cases, strict=True):
        add_subtitle(axes, f"weakened by a share of {shares[i]:g} a sample")
    add_legend(figure, panels, n_columns=2)
    return figure
