"""Where labels swap or classes drift: what changes and what does not, in one memory or two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import plot_mean
from kenyon_lab.figures.style import BLACK, ORANGE, VERMILION, letter_panels, new_figure
from kenyon_lab.reproduction.evidence import DATASET_TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence

_MEMORIES = {
    "stays": ("one memory that stays", BLACK, "o", "--"),
    "fades": ("one memory that fades", ORANGE, "v", ":"),
    "both": ("both together", VERMILION, "s", "-"),
}
_STREAMS = {"reversal": "swap", "drift": "drift"}


def draw(evidence: Evidence) -> Figure:
    """Return for each dataset and stream what changes (above) and what does not (below)."""
    findings = [finding.found for finding in evidence.findings["compartments"]]
    cases = [(name, kind) for name, streams in findings[0].items() for kind in streams]
    figure, panels = new_figure(2, len(cases), height=2.3)
    for i, (name, kind) in enumerate(cases):
        runs = [found[name][kind] for found in findings]
        above, below = panels[i], panels[i + len(cases)]
        _plot(above, runs, "changed")
        _plot(below, runs, "still")
        above.set_title(f"{DATASET_TITLES.get(name, name)}, {_STREAMS[kind]}")
        below.set_xlabel("samples since")
        for axes in (above, below):
            axes.set_ylim(-0.03, 1.02)
            if kind == "reversal":
                axes.set_xscale("log")
    panels[0].set_ylabel("accuracy, what changes")
    panels[len(cases)].set_ylabel("accuracy, the rest")
    letter_panels(panels)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _plot(axes: Axes, runs: list[dict[str, Any]], what: str) -> None:
    n_learned = np.array(runs[0]["n_learned"])
    for memory, (label, colour, marker, line) in _MEMORIES.items():
        look = {"label": label, "color": colour, "marker": marker, "linestyle": line}
        plot_mean(axes, n_learned, [run[memory][what] for run in runs], **look)
