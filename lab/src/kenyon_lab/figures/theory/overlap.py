"""The share of common winners against the cosine of two inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon.suggest import gaussian_overlap
from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
)
from kenyon_lab.theory.overlap import rough_overlap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.theory.overlap import OverlapCurve

_MATRICES = {"fly": "the fly's sparse binary matrix", "gaussian": "a dense Gaussian matrix"}


def draw(found: dict[str, Any]) -> Figure:
    """Return a panel for each matrix and share of active cells."""
    figure, panels = new_figure(len(found), len(_MATRICES), height=2.5)
    left = iter(panels)
    for one in found.values():
        for matrix, name in _MATRICES.items():
            axes = next(left)
            _draw_curve(axes, one[matrix], one["active"])
            axes.set(title=f"{one['active']:.0%} active, {name}")
    for axes in panels[-len(_MATRICES) :]:
        axes.set_xlabel("cosine of two inputs")
    for axes in panels[:: len(_MATRICES)]:
        axes.set_ylabel("share of common winners")
    letter_panels(panels)
    add_legend(figure, panels, 2)
    return figure


def _draw_curve(axes: Axes, curve: OverlapCurve, active: float) -> None:
    x = curve.cosines
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, label="the cosine itself")
    envelope = f"upper envelope, {curve.n_pairs:,} pairs at each cosine"
    axes.step(x, curve.upper, color=BLUE, linestyle="--", where="pre", label=envelope)
    axes.plot(x, curve.mean, color=VERMILION, marker="o", markersize=3, label="mean")
    exact = gaussian_overlap(x, active)
    axes.plot(x, exact, color=BLACK, linewidth=1, label="exact, for a Gaussian matrix")
    rough = rough_overlap(x, active)
    axes.plot(x, rough, color=BLACK, linewidth=1, linestyle=":", label="rough, (l/m)$^{1-s}$")
    axes.set(ylim=(-0.02, 1.02))
