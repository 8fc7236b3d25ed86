"""Margins of real points before and after the coding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.style import BLACK, GREY, VERMILION, add_legend, letter_panels, new_figure
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_LOOKS: dict[str, tuple[str, str, str]] = {
    "before": ("before the coding", BLACK, "--"),
    "after": ("after the coding", VERMILION, "-"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return a panel for each dataset with the distribution of the margins."""
    figure, panels = new_figure(1, len(found), height=2.7)
    for axes, (name, one) in zip(panels, found.items(), strict=True):
        edges = np.linspace(*_ends(one["before"], one["after"]), 81)
        for when, (label, colour, line) in _LOOKS.items():
            shares = np.histogram(one[when], edges)[0] / len(one[when])
            axes.stairs(shares, edges, label=label, color=colour, linestyle=line, linewidth=1.3)
        before, after = one["share_before"], np.mean(one["shares"])
        axes.set_title(f"{dataset_title(name)}: {before:.3f} above 0 before, {after:.3f} after")
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_xlabel("margin / mean square of the points")
    panels[0].set_ylabel("share of points")
    letter_panels(panels)
    add_legend(figure, panels, 2)
    return figure


def _ends(*margins: NDArray[np.float64]) -> tuple[float, float]:
    return min(float(one.min()) for one in margins), max(float(one.max()) for one in margins)
