"""Errors in the means: how long they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.style import BLUE, GREY, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = {
    "worst": ("the worst error for each point", VERMILION, "o", "-"),
    "random": ("errors in random directions", BLUE, "s", "--"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return the share of points that are right against the length of the errors."""
    figure, (axes,) = new_figure(height=2.4)
    for kind, (label, colour, marker, line) in _LOOKS.items():
        axes.plot(
            found["lengths"], found[kind], color=colour, marker=marker, linestyle=line, label=label
        )
    axes.axvline(1, color=GREY, linewidth=0.8)
    axes.set(
        ylim=(0, 1.05),
        xlabel=r"length of the errors in the class means, in units of $\gamma$ / (2 max $\|x\|$)",
        ylabel="share of points that are right",
    )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(loc="center right")
    return figure
