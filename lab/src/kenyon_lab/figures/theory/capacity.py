"""Capacity: accuracy against the number of classes, predicted and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.style import BLUE, GREEN, ORANGE, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = ((VERMILION, "o"), (BLUE, "s"), (GREEN, "^"), (ORANGE, "D"))


def draw(found: dict[str, Any]) -> Figure:
    """Return a curve for each code and kind of class; the markers are what was measured."""
    figure, (axes,) = new_figure(height=3.0)
    for curve, (colour, marker) in zip(found["curves"], _LOOKS, strict=False):
        measured = np.array(curve["measured"])
        axes.plot(curve["n_classes"], curve["predicted"], color=colour)
        axes.errorbar(
            curve["n_classes"],
            measured.mean(axis=0),
            measured.std(axis=0, ddof=1) if len(measured) > 1 else None,
            color=colour,
            marker=marker,
            linestyle="none",
            capsize=2,
            label=f"{curve['n_cells']:,} / {curve['n_active']} / {curve['n_samples']} / "
            f"{curve['within']:.2f}",
        )
    axes.plot([], [], color="black", label="predicted")
    axes.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="classes: noisy copies of random prototypes",
        ylabel="accuracy",
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(
        loc="outside lower center",
        ncols=3,
        title="cells / active / samples a class / overlap within classes",
    )
    return figure
