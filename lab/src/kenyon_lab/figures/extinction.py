"""Extinction: how a class's answer to a group of samples falls, and what else falls with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.figures.bands import plot_mean
from kenyon_lab.figures.style import BLUE, GREY, VERMILION, letter_panels, new_figure
from kenyon_lab.reproduction.evidence import DATASET_TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence

_KINDS = {
    "others": ("all other classes", GREY, "s", "--"),
    "rest": ("the rest of the class", BLUE, "v", ":"),
    "group": ("the group of the class that is extinguished", VERMILION, "o", "-"),
}


def draw(evidence: Evidence) -> Figure:
    """Return a row for each dataset and a panel for each share."""
    findings = [finding.found for finding in evidence.findings["extinction"]]
    names, shares = list(findings[0]), next(iter(findings[0].values()))["share"]
    figure, panels = new_figure(len(names), len(shares), height=2.2)
    cases = [(name, i) for name in names for i in range(len(shares))]
    for axes, (name, i) in zip(panels, cases, strict=True):
        runs = [found[name] for found in findings]
        x = np.array(runs[0]["n_extinguished"])
        for kind, (label, colour, marker, line) in _KINDS.items():
            look = {"label": label, "color": colour, "marker": marker, "linestyle": line}
            plot_mean(axes, x, [run[kind][i] for run in runs], **look)
        axes.set(ylim=(-0.03, 1.02), title=f"{DATASET_TITLES.get(name, name)}, share {shares[i]:g}")
        axes.set_xlabel("samples extinguished")
    for axes in panels[:: len(shares)]:
        axes.set_ylabel("answered with its class")
    letter_panels(panels)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
