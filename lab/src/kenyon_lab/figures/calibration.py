"""Reliability diagrams: how often a model is right, against how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.style import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
)
from kenyon_lab.protocol.summary import spread
from kenyon_lab.reproduction.evidence import DATASET_TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence

_COLOURS = {"fly": VERMILION, "bayes": BLUE, "ridge": GREEN}
FEWEST = 20
"""Samples, over all seeds, without which a bin says too little to be shown."""


def draw(evidence: Evidence) -> Figure:
    """Return a row of panels for each dataset, a panel for each readout."""
    findings = [finding.found for finding in evidence.findings["calibration"]]
    names = list(findings[0])
    figure, panels = new_figure(len(names), len(_COLOURS), height=2.5)
    for row, name in enumerate(names):
        for column, readout in enumerate(_COLOURS):
            axes = panels[row * len(_COLOURS) + column]
            _plot(axes, readout, [found[name] for found in findings])
            axes.set_title(f"{DATASET_TITLES.get(name, name)}, {readout}")
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            if row == len(names) - 1:
                axes.set_xlabel("probability of the class predicted")
            if column == 0:
                axes.set_ylabel("share that is right")
    letter_panels(panels)
    add_legend(figure, panels, 4)
    return figure


def _plot(axes: Axes, readout: str, found: list[dict[str, Any]]) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", label="as it should be")
    usual = [one[readout] for one in found]
    _curve(axes, [one["softmax"] for one in usual], GREY, "x", "softmax of the scores")
    colour = _COLOURS[readout]
    paper = f"{readout}, the paper's"
    lines = [f"error {spread(one['error'] for one in usual)}"]
    if paper in found[0]:
        sized = [one[paper] for one in found]
        _curve(axes, sized, colour, "s", "the paper's sizes", fillstyle="none", linestyle="--")
        lines.append(f"the paper's {spread(one['error'] for one in sized)}")
    _curve(axes, usual, colour, "o", f"predict_proba, {readout}")
    axes.text(0.97, 0.04, "\n".join(lines), ha="right", transform=axes.transAxes, fontsize=7)


def _curve(
    axes: Axes, found: list[dict[str, Any]], colour: str, marker: str, label: str, **look: Any
) -> None:
    """Put the bins of all seeds together."""
    number, sure, right = (
        np.sum([one[what] for one in found], axis=0) for what in ("number", "sure", "right")
    )
    shown = number >= FEWEST
    x, y = sure[shown] / number[shown], right[shown] / number[shown]
    axes.plot(x, y, color=colour, marker=marker, label=label, linewidth=1.2, **look)
