"""How figures look: one colour and one marker a method, in every figure."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

WIDTH = 7.0
"""Of a figure, in inches: what fits on a page."""

# After Okabe and Ito: told apart by the colour-blind, and by lightness in grey print.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#888888"

LOOKS: dict[str, tuple[str, str, str]] = {
    "fly": (VERMILION, "o", "-"),
    "offline": (BLACK, "s", "--"),
    "offline-sgd": (GREY, "s", ":"),
    "bir": (SKY, "^", "-"),
    "gem": (GREEN, "D", "-"),
    "ewc": (ORANGE, "v", "-"),
    "vanilla": (PURPLE, "X", "-"),
    "ewc-own": (ORANGE, "<", ":"),
    "vanilla-own": (PURPLE, "p", ":"),
    "sparse-logistic": (BLUE, "D", "-"),
    "dense-fly": (ORANGE, "o", "--"),
    "dense-logistic": (BLACK, "D", "--"),
    "perceptron-v1": (BLACK, "^", "--"),
    "perceptron-v2": (SKY, "v", "--"),
    "perceptron-v3": (BLUE, "s", "-"),
    "perceptron-v4": (ORANGE, "P", ":"),
    "weakening": (SKY, ">", ":"),
    "ncm": (BLUE, "P", ":"),
    "slda": (BLUE, "h", "--"),
    "ranpac": (GREEN, "*", ":"),
    "fly-cl": (VERMILION, "*", ":"),
    "bayes": (PURPLE, "d", "-"),
    "ridge": (VERMILION, "H", "-"),
}
"""Of each method: its colour, its marker and its line."""

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
    """Make figures look alike for a while."""
    with mpl.rc_context(_SETTINGS):
        yield


def new_figure(
    n_rows: int = 1, n_columns: int = 1, height: float = 2.6
) -> tuple[Figure, list[Axes]]:
    """Return a figure as wide as a page and its panels, row by row; the height is a row's."""
    figure = Figure(figsize=(WIDTH, height * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    return figure, list(panels.flat)


def letter_panels(panels: list[Axes]) -> None:
    """Put A, B, C before the titles of panels, if there are several."""
    if len(panels) == 1:
        return
    for letter, axes in zip("ABCDEFGHIJ", panels, strict=False):
        axes.set_title(f"{letter}  {axes.get_title(loc='left')}", loc="left")


def add_legend(figure: Figure, panels: list[Axes], n_columns: int) -> None:
    """Name below a figure what is in any of its panels."""
    named: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=n_columns)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, with nothing in them that changes from day to day."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    for path in paths:
        kind = path.suffix[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with replacing(path) as beside:
            figure.savefig(beside, format=kind, metadata=metadata)
    return paths
