"""Saturation: the share of weights at their cap, predicted and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.style import BLUE, GREEN, VERMILION, letter_panels, new_figure
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = ((GREEN, "^"), (BLUE, "s"), (VERMILION, "o"))


def draw(found: dict[str, Any]) -> Figure:
    """Return a panel for each dataset, with a curve for each number of samples."""
    figure, panels = new_figure(1, len(found), height=2.8)
    for axes, (name, of_it) in zip(panels, found.items(), strict=True):
        for (n_samples, curve), (colour, marker) in zip(of_it["of"].items(), _LOOKS, strict=False):
            look: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "label": f"{n_samples:,} samples a class",
            }
            axes.plot(of_it["rates"], curve["predicted"], color=colour)
            axes.plot(of_it["rates"], curve["measured"], linestyle="none", **look)
        axes.plot([], [], color="black", label="predicted")
        axes.set(xscale="log", ylim=(-0.02, None), xlabel="learning rate")
        axes.set_title(dataset_title(name))
        axes.legend(loc="upper left")
    panels[0].set_ylabel("share of weights at their cap")
    letter_panels(panels)
    return figure
