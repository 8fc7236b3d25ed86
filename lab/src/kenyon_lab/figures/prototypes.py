"""Figure S4: prototypes with arbitrary labels, before and after the coding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Circle, Wedge

from kenyon_lab.figures.bands import plot_mean
from kenyon_lab.figures.style import BLACK, BLUE, VERMILION, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from kenyon_lab.protocol.record import ExperimentRecord
    from kenyon_lab.reproduction.evidence import Evidence

_CLASSES = ((BLUE, "s"), (VERMILION, "o"))
_TINTS = ("#cfe3f0", "#f8dcc4")
_SPACES = {
    "inputs": ("before the coding", BLACK, "s", "--"),
    "codes": ("after the coding", VERMILION, "o", "-"),
}
_EDGE = 1.35
"""Radius of what is drawn around the circle of the prototypes, whose own is 1."""


def draw(evidence: Evidence) -> Figure:
    """Return a circle of prototypes before and after the coding, and how many can be told apart."""
    findings = evidence.findings["prototypes"]
    found = findings[0].found
    figure, panels = new_figure(2, 2, height=2.7)
    _draw_line(panels[0], found["ring"])
    _draw_fly(panels[1], found["ring"])
    _draw_shares(panels[2], findings, "linear", "Some linear rule is right about all")
    _draw_shares(panels[3], findings, "means", "The fly's rule, by class means, is right")
    panels[0].legend(loc="lower left", bbox_to_anchor=(-0.42, 0), markerscale=0.6, fontsize=7)
    panels[2].legend(loc="center left")
    panels[2].set_ylabel("share of random labelings")
    figure.supxlabel(
        f"prototypes: random directions in {found['n_inputs']} dimensions, coded by "
        f"{found['n_active']} active cells of {found['n_cells']:,}",
        fontsize=8,
    )
    letter_panels(panels)
    return figure


def _draw_line(axes: Axes, ring: dict[str, Any]) -> None:
    """Draw the best line as the chord that cuts off its arc, halfway between prototypes."""
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
    """Draw what the fly says of every direction; it does not see how far out a point is."""
    labels, told = np.array(ring["labels"]), np.array(ring["fly"])
    starts = np.flatnonzero(told != np.roll(told, 1))
    for start, stop in zip(starts, [*starts[1:], starts[0] + len(told)], strict=True):
        edges = [(place - 0.5) * 360 / len(told) for place in (start, stop)]
        axes.add_patch(Wedge((0, 0), _EDGE, *edges, color=_TINTS[told[start]], linewidth=0))
    _draw_prototypes(axes, labels, told[:: len(told) // len(labels)])
    axes.set_title(f"After the coding: the fly, {ring['n_right']} of {len(labels)} right")


def _draw_prototypes(axes: Axes, labels: NDArray[Any], told: NDArray[Any]) -> None:
    places = _directions(np.arange(len(labels)) * 2 * np.pi / len(labels))
    axes.add_patch(Circle((0, 0), 1, fill=False, color="#999999", linewidth=0.6))
    look: dict[str, Any] = {"linestyle": "", "markeredgecolor": BLACK}
    for label, (colour, marker) in enumerate(_CLASSES):
        x, y = places[labels == label].T
        name = f"class {label + 1}"
        axes.plot(x, y, color=colour, marker=marker, markersize=9, label=name, **look)
    x, y = places[labels != told].T
    axes.plot(x, y, marker="x", markersize=14, markeredgewidth=1.5, label="mistaken", **look)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    axes.set_axis_off()


def _draw_shares(axes: Axes, findings: list[ExperimentRecord], rule: str, title: str) -> None:
    for space, (name, colour, marker, line) in _SPACES.items():
        shares = [finding.found["shares"][rule][space] for finding in findings]
        look = {"label": name, "color": colour, "marker": marker, "linestyle": line}
        plot_mean(axes, findings[0].found["n_prototypes"], shares, **look)
    axes.set(title=title, xlabel="number of prototypes", xlim=(0, None), ylim=(-0.04, 1.06))


def _directions(angles: NDArray[Any]) -> NDArray[np.float64]:
    return np.column_stack([np.cos(angles), np.sin(angles)])
