"""Accuracy on changing and on other classes, with one memory or two compartments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLACK,
    ORANGE,
    VERMILION,
    add_legend,
    add_subtitle,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEMORIES = {
    "stays": Line("one memory without decay", BLACK, "o", "--"),
    "fades": Line("one memory with decay", ORANGE, "v", ":"),
    "both": Line("a compartment of each", VERMILION, "s", "-"),
}
_STREAMS = {"reversal": "labels swap", "drift": "samples drift"}


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a column for each dataset and stream: changing classes, and other classes."""
    cases = [(name, kind) for name, streams in findings[0].items() for kind in streams]
    figure, panels = new_figure(2, len(cases), height=2.3)
    for i, (name, kind) in enumerate(cases):
        runs = [found[name][kind] for found in findings]
        above, below = panels[i], panels[i + len(cases)]
        _plot(above, runs, "changed")
        _plot(below, runs, "still")
        above.set_title(dataset_title(name))
        above.tick_params(labelbottom=False)
        below.set_xlabel("samples since change")
        for axes in (above, below):
            axes.set_ylim(-0.03, 1.02)
            if kind == "reversal":
                axes.set_xscale("log")
    panels[0].set_ylabel("accuracy,\nchanging classes")
    panels[len(cases)].set_ylabel("accuracy,\nother classes")
    # A letter for each column.
    letter_panels(panels[: len(cases)])
    for axes, (_, kind) in zip(panels, cases, strict=False):
        add_subtitle(axes, _STREAMS[kind])
    add_legend(figure, panels, n_columns=2)
    return figure


def _plot(axes: Axes, runs: list[dict[str, Any]], classes: str) -> None:
    n_learned = np.array(runs[0]["n_learned"])
    for memory, line in _MEMORIES.items():
        plot_mean(axes, n_learned, [run[memory][classes] for run in runs], line)
