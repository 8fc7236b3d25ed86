"""The style of all figures."""

from __future__ import annotations

from contextlib import contextmanager
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kenyon_lab.figures.bands import explanations
from kenyon_lab.methods import METHODS
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.gridspec import SubplotSpec

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


def new_grid(
    n_panels: int, widths: tuple[int, ...] = (3, 2)
) -> tuple[Figure, list[Axes], Axes | None]:
    """Return a figure, its panels, and the place of the grid that is left, if any.

    A row has as many panels as one of `widths`: the first that leaves the fewest places free.
    """
    n_columns = min(widths, key=lambda n: -n_panels % n)
    figure, panels = new_figure(-(-n_panels // n_columns), n_columns)
    if len(panels) == n_panels:
        return figure, panels, None
    *panels, free = panels
    free.set_axis_off()
    return figure, panels, free


def place_of(axes: Axes) -> SubplotSpec:
    """Return the place of a panel in the grid of its figure."""
    return cast("SubplotSpec", axes.get_subplotspec())


def label_rows(panels: list[Axes], label: str) -> None:
    """Label the vertical axis of the first panel in each row."""
    for axes in panels:
        axes.set_ylabel(label if place_of(axes).is_first_col() else "")


def letter_panels(panels: list[Axes]) -> None:
    """Prefix the titles of two or more panels with A, B, C."""
    if len(panels) == 1:
        return
    for letter, axes in zip(ascii_uppercase, panels, strict=False):
        axes.set_title(f"{letter}  {axes.get_title(loc='left')}", loc="left")


def add_subtitle(axes: Axes, text: str) -> None:
    """Add a smaller line below the title of a panel, once the panel has its letter."""
    axes.set_title(axes.get_title(loc="left"), loc="left", pad=13)
    line = axes.annotate(
        text,
        (0, 1),
        (0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=7,
        color="#555555",
    )
    # It may be wider than the panel, as a title may.
    line.set_in_layout(False)


def add_legend(
    figure: Figure, panels: list[Axes], n_columns: int, free: Axes | None = None
) -> None:
    """Add a legend with each label of the panels once, and with the meaning of their bands.

    It is below the figure, or in a place of its grid that is free.
    """
    named: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    named |= {band: Patch(color=GREY, alpha=0.35, lw=0) for band in explanations(panels)}
    if free:
        free.legend(list(named.values()), list(named), loc="center", labelspacing=0.8)
    else:
        figure.legend(
            list(named.values()), list(named), loc="outside lower center", ncols=n_columns
        )


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
