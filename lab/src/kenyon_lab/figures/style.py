"""The style of all figures."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from kenyon_lab.methods import METHODS
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

WIDTH = 7.0
"""Width of a figure in inches: that of a page."""

PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#888888",
}
"""Colours after Okabe and Ito, distinct to the colour-blind and by lightness in grey print."""

BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE, GREY = PALETTE.values()

_SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    "svg.hashsalt": "kenyon",
    "savefig.dpi": 200,
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the style of all figures within a with statement."""
    with mpl.rc_context(_SETTINGS):
        yield


def look_of(method: str) -> tuple[str, str, str]:
    """Return the colour, the marker and the line style of a method in all figures."""
    colour, marker, line = METHODS[method].look
    return PALETTE[colour], marker, line


def new_figure(
    n_rows: int = 1, n_columns: int = 1, height: float = 2.6
) -> tuple[Figure, list[Axes]]:
    """Return a figure of page width and its panels by row; `height` is that of a row in inches."""
    figure = Figure(figsize=(WIDTH, height * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    return figure, list(panels.flat)


def letter_panels(panels: list[Axes]) -> None:
    """Prefix the titles of two or more panels with A, B, C."""
    if len(panels) == 1:
        return
    for letter, axes in zip("ABCDEFGHIJ", panels, strict=False):
        axes.set_title(f"{letter}  {axes.get_title(loc='left')}", loc="left")


def add_legend(figure: Figure, panels: list[Axes], n_columns: int) -> None:
    """Add a legend below a figure, with each label of its panels once."""
    named: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=n_columns)


def save(figure: Figure, folder: Path, name: str, data_digest: str) -> list[Path]:
    """Write a figure as PNG and SVG, without dates, so that files are reproducible.

    The PNG file names its data by their digest, so that a test can tell whether they changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    for path in paths:
        kind = path.suffix[1:]
        png = {"Software": None, "Data": data_digest}
        with replacing(path) as beside:
            figure.savefig(beside, format=kind, metadata={"Date": None} if kind == "svg" else png)
    return paths
