"""Unequal counts, divided out or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import BLUE, VERMILION, add_legend, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES = {
    "means": Line("divided by the counts: means", VERMILION, "o", "-"),
    "sums": Line("as they are: sums", BLUE, "s", "--"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return accuracy against how many times as many samples every other class has."""
    figure, (axes,) = new_figure(height=2.4)
    for rule, line in _LINES.items():
        plot_mean(axes, found["ratios"], found[rule], line)
    axes.set(
        xscale="log",
        ylim=(0, 0.8),
        xticks=found["ratios"],
        xticklabels=found["ratios"],
        xlabel="how many times as many samples even classes have as odd ones",
        ylabel="test accuracy, MNIST-20",
    )
    axes.minorticks_off()
    add_legend(figure, [axes], n_columns=3)
    return figure
