"""Capacity on real data: accuracy on some of CLINC150's classes, predicted and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.style import BLACK, BLUE, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = {
    "predicted": ("predicted from the overlaps of training samples", BLACK, "", "-"),
    "counts": ("measured, weights without a cap", BLUE, "s", "none"),
    "auto": ('measured, learning rate "auto"', VERMILION, "o", "none"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return accuracy against the number of classes."""
    figure, (axes,) = new_figure(height=2.6)
    for kind, (label, colour, marker, line) in _LOOKS.items():
        axes.plot(
            found["n_classes"],
            found[kind],
            color=colour,
            marker=marker,
            linestyle=line,
            label=label,
        )
    axes.set(xscale="log", ylim=(0.8, 1.005), xlabel="classes of CLINC150", ylabel="accuracy")
    axes.set_xticks(found["n_classes"], [str(n) for n in found["n_classes"]])
    axes.minorticks_off()
    axes.legend(loc="lower left")
    return figure
