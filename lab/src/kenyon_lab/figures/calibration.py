"""Reliability diagrams: accuracy against predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.titles import dataset_title
from kenyon_lab.protocol.summary import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"fly": VERMILION, "bayes": BLUE, "ridge": GREEN}
_PERFECT: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": ":"}
_PAPER: dict[str, Any] = {"marker": "s", "fillstyle": "none", "linestyle": "--"}
FEWEST = 20
"""Samples over all seeds that a bin needs to be shown."""


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a row of panels for each dataset, a panel for each readout."""
    names = list(findings[0])
    figure, panels = new_figure(len(names), len(_COLOURS), height=2.65)
    for row, name in enumerate(names):
        for column, readout in enumerate(_COLOURS):
            axes = panels[row * len(_COLOURS) + column]
            _plot(axes, readout, [found[name] for found in findings])
            axes.set_title(f"{dataset_title(name)}, {readout}")
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
            if row == len(names) - 1:
                axes.set_xlabel("predicted probability")
            if column == 0:
                axes.set_ylabel("accuracy")
            axes.tick_params(labelbottom=row == len(names) - 1, labelleft=column == 0)
    letter_panels(panels)
    _add_legend(figure)
    return figure


def _plot(axes: Axes, readout: str, found: list[dict[str, Any]]) -> None:
    axes.plot([0, 1], [0, 1], **_PERFECT)
    default = [one[readout] for one in found]
    softmax = [one["softmax"] for one in default]
    _curve(axes, softmax, label="softmax of the scores", color=GREY, marker="x")
    colour = _COLOURS[readout]
    paper = f"{readout}, the paper's"
    lines = [f"ECE {spread(one['error'] for one in default)}"]
    if paper in found[0]:
        sized = [one[paper] for one in found]
        _curve(axes, sized, label="paper's parameters", color=colour, **_PAPER)
        lines.append(f"paper's {spread(one['error'] for one in sized)}")
    _curve(axes, default, label=f"predict_proba, {readout}", color=colour, marker="o")
    axes.text(0.97, 0.04, "\n".join(lines), ha="right", transform=axes.transAxes, fontsize=7)


def _curve(axes: Axes, found: list[dict[str, Any]], **look: Any) -> None:
    """Plot the bins, pooled over seeds."""
    number, sure, right = (
        np.sum([one[name] for one in found], axis=0) for name in ("number", "sure", "right")
    )
    shown = number >= FEWEST
    x, y = sure[shown] / number[shown], right[shown] / number[shown]
    axes.plot(x, y, linewidth=1.2, **look)


def _add_legend(figure: Figure) -> None:
    """Add a legend in black and grey: each readout has its own colour."""
    looks: dict[str, dict[str, Any]] = {
        "perfect calibration": _PERFECT,
        "softmax of the scores": {"color": GREY, "marker": "x"},
        "predict_proba": {"color": BLACK, "marker": "o"},
        "predict_proba, paper's parameters": {"color": BLACK, **_PAPER},
    }
    handles = [Line2D([], [], label=label, **look) for label, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
