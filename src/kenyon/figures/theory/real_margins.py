"""Margins of real points before and after the coding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.figures.curves import DATASETS
from kenyon.figures.style import BLACK, GREY, VERMILION, add_legend, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS: dict[str, tuple[str, str, str]] = {
    "before": ("before the coding", BLACK, "--"),
    "after": ("after the coding", VERMILION, "-"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return a panel for each dataset with the distribution of the margins."""
    figure, panels = new_figure(1, len(found), height=2.7)
    for axes, (name, margins) in zip(panels, found.items(), strict=True):
        together = np.concatenate(list(margins.values()))
        edges = np.linspace(together.min(), together.max(), 81)
        for when, values in margins.items():
            label, colour, line = _LOOKS[when]
            shares = np.histogram(values, edges)[0] / len(values)
            axes.stairs(shares, edges, label=label, color=colour, linestyle=line, linewidth=1.3)
        before, after = ((values > 0).mean() for values in margins.values())
        axes.set_title(
            f"{DATASETS.get(name, name)}: {before:.3f} above 0 before, {after:.3f} after"
        )
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_xlabel("margin / mean square of the points")
    panels[0].set_ylabel("share of points")
    letter_panels(panels)
    add_legend(figure, panels, 2)
    return figure
