"""Reliability diagrams: accuracy against predicted probability."""

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
from kenyon_lab.figures.titles import dataset_title
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"fly": VERMILION, "bayes": BLUE, "ridge": GREEN}
FEWEST = 20
"""Samples over all seeds that a bin needs to be shown."""


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a row of panels for each dataset, a panel for each readout."""
    names = list(findings[0])
    figure, panels = new_figure(len(names), len(_COLOURS), height=2.5)
    for row, name in enumerate(names):
        for column, readout in enumerate(_COLOURS):
            axes = panels[row * len(_COLOURS) + column]
            _plot(axes, readout, [found[name] for found in findings])
            axes.set_title(f"{dataset_title(name)}, {readout}")
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            if row == len(names) - 1:
                axes.set_xlabel("predicted probability")
            if column == 0:
                axes.set_ylabel("accuracy")
    letter_panels(panels)
    add_legend(figure, panels, 4)
    return figure


def _plot(axes: Axes, readout: str, found: list[dict[str, Any]]) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", label="perfect calibration")
    default = [one[readout] for one in found]
    _curve(axes, [one["softmax"] for one in default], GREY, "x", "softmax of the scores")
    colour = _COLOURS[readout]
    paper = f"{readout}, the paper's"
    lines = [f"ECE {spread(one['error'] for one in default)}"]
    if paper in found[0]:
        sized = [one[paper] for one in found]
        _curve(
            axes,
            sized,
            colour,
            "s",
            "paper's parameters",
            fillstyle="none",
            linestyle="--",
        )
        lines.append(f"paper's {spread(one['error'] for one in sized)}")
    _curve(axes, default, colour, "o", f"predict_proba, {readout}")
    axes.text(0.97, 0.04, "\n".join(lines), ha="right", transform=axes.transAxes, fontsize=7)


def _curve(
    axes: Axes, found: list[dict[str, Any]], colour: str, marker: str, label: str, **look: Any
) -> None:
    """Plot the bins, pooled over seeds."""
    number, sure, right = (
        np.sum([one[name] for one in found], axis=0) for name in ("number", "sure", "right")
    )
    shown = number >= FEWEST
    x, y = sure[shown] / number[shown], right[shown] / number[shown]
    axes.plot(x, y, color=colour, marker=marker, label=label, linewidth=1.2, **look)
