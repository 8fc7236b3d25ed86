"""Figure 1: two inputs in one circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.path import Path

from kenyon_lab.figures.style import BLUE, GREY, VERMILION, letter_panels, new_figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Places = NDArray[np.float64]

_COLOURS = (VERMILION, BLUE)
_SILENT, _FROZEN = "#c8c8c8", "#c4c4c4"

# The layers, in inches: the feet of the bars, the middle of the disc, the outputs; and half of
# their height.
_INPUTS, _CELLS, _CLASSES, _TALL = 0.75, 3.05, 5.9, 1.15


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a row for each input: its features, its active cells, and the classes."""
    found = findings[0]
    first, second = found["inputs"]
    figure, panels = new_figure(2, 1, height=3.0)
    _draw_row(panels[0], found, first, second, _COLOURS[0])
    _draw_row(panels[1], found, second, first, _COLOURS[1])
    letter_panels(panels)
    return figure


def _draw_row(
    axes: Axes, found: dict[str, Any], taught: dict[str, Any], other: dict[str, Any], colour: str
) -> None:
    classes, n_changed = found["classes"], len(taught["changed"])
    axes.set(xlim=(0, 7), ylim=(-1.45, 1.2), aspect="equal")
    axes.set_axis_off()
    axes.set_title(
        f"The first '{classes[taught['target']]}' is learned: {n_changed} of "
        f"{n_changed + taught['n_frozen']:,} synapses change"
    )
    features = _column(_INPUTS, len(taught["features"]))
    cells = _disc(found["n_cells"])
    outputs = _column(_CLASSES, len(classes))
    _draw_inputs(axes, features, taught, colour)
    _draw_cells(axes, cells, taught, found["shared"], colour)
    _draw_outputs(axes, outputs, classes, taught["target"], colour)
    _draw_connections(axes, features, cells, outputs, taught, colour)
    shared_with = classes[other["target"]]
    for x, text in (
        (_INPUTS, f"{len(features)} features, and the\ninputs of {len(taught['traced'])} cells"),
        (
            _CELLS,
            f"{len(taught['cells'])} of {len(cells):,} Kenyon cells are active,\n"
            f"{len(found['shared'])} of them (ringed) also for the '{shared_with}'",
        ),
        (_CLASSES, f"{len(classes)} classes; in grey, some\nsynapses that do not change"),
    ):
        axes.text(x, -1.24, text, fontsize=7, ha="center", va="top", linespacing=1.3)


def _draw_connections(
    axes: Axes,
    features: Places,
    cells: Places,
    outputs: Places,
    taught: dict[str, Any],
    colour: str,
) -> None:
    wires = ((features[i], cells[cell]) for cell, wired in taught["traced"] for i in wired)
    frozen = (
        (cells[cell], outputs[rank])
        for rank, strongest in enumerate(taught["strongest"])
        for cell in strongest
    )
    changed = ((cells[cell], outputs[rank]) for rank, cell, _, _ in taught["changed"])
    _connect(axes, wires, colour, linewidths=0.4, alpha=0.6, zorder=1)
    _connect(axes, frozen, _FROZEN, linewidths=0.3, zorder=1)
    _connect(axes, changed, colour, linewidths=0.4, alpha=0.6, zorder=3)


def _draw_inputs(axes: Axes, places: Places, taught: dict[str, Any], colour: str) -> None:
    """Draw the features as bars, in colour if they are inputs of a traced cell."""
    features = np.array(taught["features"])
    wired = {i for _, wired in taught["traced"] for i in wired}
    axes.barh(
        places[:, 1],
        -0.6 * features / features.max(),
        left=_INPUTS,
        height=0.7 * (places[0, 1] - places[1, 1]),
        color=[colour if i in wired else GREY for i in range(len(features))],
    )


def _draw_cells(
    axes: Axes, places: Places, taught: dict[str, Any], shared: list[int], colour: str
) -> None:
    # Thousands of vector circles would make the SVG large.
    _dot(axes, places, 2, color=_SILENT, rasterized=True)
    strength = np.array(taught["levels"]) / 255
    _dot(axes, places[taught["cells"]], 14 * strength, color=colour, zorder=4)
    _dot(axes, places[shared], 26, facecolors="none", edgecolors="black", lw=0.8, zorder=5)


def _draw_outputs(axes: Axes, places: Places, names: list[str], target: int, colour: str) -> None:
    _dot(axes, places, 12, color=_FROZEN, zorder=4)
    _dot(axes, places[[target]], 50, color=colour, zorder=5)
    plain: dict[str, Any] = {"color": "#666666", "fontsize": 5.5}
    bold: dict[str, Any] = {"color": colour, "fontsize": 9, "weight": "bold"}
    for rank, (name, (x, y)) in enumerate(zip(names, places, strict=True)):
        axes.text(x + 0.1, y, name, va="center", **bold if rank == target else plain)


def _dot(axes: Axes, places: Places, size: float | NDArray[np.float64], **look: Any) -> None:
    axes.scatter(places[:, 0], places[:, 1], s=size, **{"lw": 0, **look})


def _column(x: float, n: int) -> Places:
    return np.column_stack([np.full(n, x), np.linspace(_TALL, -_TALL, n)])


def _disc(n: int) -> Places:
    """Return evenly spaced places on a disc, each turned by the golden angle."""
    numbers = np.arange(n)
    radius, angle = _TALL * np.sqrt((numbers + 0.5) / n), np.pi * (3 - np.sqrt(5)) * numbers
    return np.column_stack([_CELLS + radius * np.cos(angle), radius * np.sin(angle)])


def _connect(axes: Axes, ends: Iterable[tuple[Places, Places]], colour: str, **look: Any) -> None:
    """Draw curves that are horizontal at both ends."""
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = []
    for (x, y), (to_x, to_y) in ends:
        middle = (x + to_x) / 2
        paths.append(Path([(x, y), (middle, y), (middle, to_y), (to_x, to_y)], codes))
    axes.add_collection(PathCollection(paths, facecolors="none", edgecolors=colour, **look))
