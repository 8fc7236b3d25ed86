"""Figure S3: forgetting of a class while another is learned, under v1 and v4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import fill_band
from kenyon_lab.figures.style import GREY, add_legend, letter_panels, look_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BANDS = {
    "all": "band in A: one standard deviation over pairs",
    **dict.fromkeys(("alike", "unlike"), "band in B, C: one standard deviation over orders"),
}
"""What the band of some pairs is."""

_PAIRS = tuple(_BANDS)
_VERSIONS = {
    "v1": ("v1: weakens the predicted class on a mistake", *look_of("perceptron-v1")),
    "v4": ("v4, the FlyModel: weakens nothing", *look_of("fly")),
}
_CHANCE = 0.5


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return accuracy on the first class above, and on both classes below."""
    figure, panels = new_figure(2, len(_PAIRS), height=2.1)
    above, below = panels[: len(_PAIRS)], panels[len(_PAIRS) :]
    for axes, pairs in zip(above, _PAIRS, strict=True):
        _plot(axes, findings, pairs, "first")
        digits = findings[0]["digits"].get(pairs)
        axes.set_title("{}: {}, then {}".format(pairs, *digits) if digits else "all pairs")
        axes.set_ylim(-0.03, 1.04)
        axes.tick_params(labelbottom=False)
    for axes, pairs in zip(below, _PAIRS, strict=True):
        axes.axhline(_CHANCE, color=GREY, linewidth=0.8)
        _plot(axes, findings, pairs, "both")
        axes.set_ylim(0.38, 1.04)
    below[0].annotate("chance", (1, _CHANCE), (0, -3), textcoords="offset points", va="top")
    above[0].set_ylabel("accuracy on\nthe first class")
    below[0].set_ylabel("accuracy on\nboth classes")
    below[1].set_xlabel("samples of the second class")
    letter_panels(above)
    add_legend(figure, panels, n_columns=2)
    return figure


def _plot(axes: Axes, findings: list[dict[str, Any]], pairs: str, curve: str) -> None:
    """Plot means over seeds; the band is the deviation over pairs or orders of samples."""
    x = findings[0]["milestones"]
    for version, (label, colour, marker, line) in _VERSIONS.items():
        mean, deviation = (
            np.mean([found[pairs][version][part][curve] for found in findings], axis=0)
            for part in ("mean", "deviation")
        )
        axes.plot(x, mean, line, marker=marker, color=colour, label=label)
        fill_band(axes, x, mean, deviation, colour, meaning=_BANDS[pairs])
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    axes.set_xlim(-0.2, 1.4 * x[-1])
    axes.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
