"""Figure S4: prototypes with arbitrary labels, before and after sparse coding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Circle, Wedge

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    VERMILION,
    add_legend,
    add_subtitle,
    letter_panels,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_CLASSES = ((BLUE, "s"), (VERMILION, "o"))
_TINTS = ("#cfe3f0", "#f8dcc4")
_SPACES = {
    "inputs": Line("before coding", BLACK, "s", "--"),
    "codes": Line("after coding", VERMILION, "o", "-"),
}
_EDGE = 1.35
"""Radius of the coloured disc; the circle of prototypes has radius 1."""


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a circle of prototypes before and after coding, and shares of separable labelings."""
    found = findings[0]
    figure, panels = new_figure(2, 2, height=2.7)
    _draw_line(panels[0], found["ring"])
    _draw_fly(panels[1], found["ring"])
    _draw_shares(panels[2], findings, "linear", "Separated by some linear rule")
    _draw_shares(panels[3], findings, "means", "Separated by the fly's class-mean rule")
    panels[0].legend(loc="lower left", borderaxespad=0, markerscale=0.6, fontsize=7)
    panels[2].set_ylabel("share of random labelings")
    letter_panels(panels)
    add_subtitle(panels[2], f"prototypes: random directions in {found['n_inputs']} dimensions")
    add_subtitle(panels[3], f"coded by {found['n_active']} active cells of {found['n_cells']:,}")
    add_legend(figure, panels[2:], n_columns=3)
    return figure


def _draw_line(axes: Axes, ring: dict[str, Any]) -> None:
    """Draw the best line as a chord whose ends are halfway between prototypes."""
    labels, line = np.array(ring["labels"]), ring["line"]
    n, inside = len(labels), line["inside"]
    step = 2 * np.pi / n
    middle = (line["first"] + (line["length"] - 1) / 2) * step
    reach = np.arccos(np.cos(line["length"] / 2 * step) / _EDGE)
    segment = _EDGE * _directions(np.linspace(middle - reach, middle + reach, 200))
    axes.add_patch(Circle((0, 0), _EDGE, color=_TINTS[1 - inside], linewidth=0))
    axes.fill(segment[:, 0], segment[:, 1], color=_TINTS[inside], linewidth=0)
    axes.plot(segment[[0, -1], 0], segment[[0, -1], 1], color=BLACK, linewidth=1)
    on_arc = (np.arange(n) - line["first"]) % n < line["length"]
    _draw_prototypes(axes, labels, np.where(on_arc, inside, 1 - inside))
    axes.set_title(f"Before: the best line, {line['n_right']} of {n} right")


def _draw_fly(axes: Axes, ring: dict[str, Any]) -> None:
    """Draw the fly's prediction for every direction; it ignores the length of an input."""
    labels, predicted = np.array(ring["labels"]), np.array(ring["fly"])
    starts = np.flatnonzero(predicted != np.roll(predicted, 1))
    for start, stop in zip(starts, [*starts[1:], starts[0] + len(predicted)], strict=True):
        edges = [(place - 0.5) * 360 / len(predicted) for place in (start, stop)]
        axes.add_patch(Wedge((0, 0), _EDGE, *edges, color=_TINTS[predicted[start]], linewidth=0))
    _draw_prototypes(axes, labels, predicted[:: len(predicted) // len(labels)])
    axes.set_title(f"After coding: the fly, {ring['n_right']} of {len(labels)} right")


def _draw_prototypes(axes: Axes, labels: NDArray[Any], predicted: NDArray[Any]) -> None:
    places = _directions(np.arange(len(labels)) * 2 * np.pi / len(labels))
    axes.add_patch(Circle((0, 0), 1, fill=False, color="#999999", linewidth=0.6))
    look: dict[str, Any] = {"linestyle": "", "markeredgecolor": BLACK}
    for label, (colour, marker) in enumerate(_CLASSES):
        x, y = places[labels == label].T
        name = f"class {label + 1}"
        axes.plot(x, y, color=colour, marker=marker, markersize=9, label=name, **look)
    x, y = places[labels != predicted].T
    axes.plot(x, y, marker="x", markersize=14, markeredgewidth=1.5, label="misclassified", **look)
    axes.set_ylim(-1.4, 1.4)
    # The panel is as wide as the one below, so that their titles are aligned.
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()


def _draw_shares(axes: Axes, findings: list[dict[str, Any]], rule: str, title: str) -> None:
    for space, line in _SPACES.items():
        shares = [found["shares"][rule][space] for found in findings]
        plot_mean(axes, findings[0]["n_prototypes"], shares, line)
    axes.set(title=title, xlabel="number of prototypes", xlim=(0, None), ylim=(-0.04, 1.06))


def _directions(angles: NDArray[Any]) -> NDArray[np.float64]:
    return np.column_stack([np.cos(angles), np.sin(angles)])
