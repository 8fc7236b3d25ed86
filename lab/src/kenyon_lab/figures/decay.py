"""When decay is needed: accuracy and saturated weights for several decay rates."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.figures.bands import Line, plot_mean
from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
)
from kenyon_lab.figures.ticks import tick_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NO_DECAY, _AUTO = (BLACK, "o", "-"), (VERMILION, "*", "-")
_DECAYS = ((SKY, "v", ":"), (BLUE, "s", "--"), (GREEN, "D", "-"), (ORANGE, "P", "--"))


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return a long stream of mixed classes in A and B, and classes one after another in C."""
    figure, panels = new_figure(1, 3, height=3.3)
    stream, cap, in_turn = panels
    classes = range(1, len(findings[0]["compared"][0]["in_turn"]) + 1)
    for i, line in enumerate(_lines(findings[0]["compared"])):
        runs = [found["compared"][i] for found in findings]
        mixed = [run["mixed"] for run in runs]
        n_learned = mixed[0]["n_learned"]
        plot_mean(stream, n_learned, [run["accuracy"] for run in mixed], line)
        plot_mean(cap, n_learned, [run["at_cap_of_used"] for run in mixed], line)
        # Some lines coincide, so their markers are in different places.
        plot_mean(in_turn, classes, [run["in_turn"] for run in runs], line, markevery=(i, 6))
    for axes in (stream, cap):
        axes.set(xscale="log", xlabel="samples learned")
        axes.axvline(findings[0]["n_samples"], color=GREY, linewidth=0.8, zorder=1)
    stream.set(title="Accuracy, classes mixed", ylabel="accuracy on all classes")
    cap.set(title="Saturated weights", ylabel="share of non-zero weights", ylim=(-0.03, 1))
    in_turn.set(title="Accuracy, class by class", ylabel="accuracy on the classes so far")
    in_turn.set(xlabel="classes learned", ylim=(0, 1.03))
    tick_tasks(in_turn, list(classes))
    low = stream.get_xaxis_transform()
    stream.text(findings[0]["n_samples"], 0.03, "one pass ", transform=low, ha="right")
    _annotate_ties(stream, [found["compared"][0]["mixed"] for found in findings])
    letter_panels(panels)
    add_legend(figure, panels, n_columns=3)
    return figure


def _lines(compared: list[dict[str, Any]]) -> Iterator[Line]:
    decays = iter(_DECAYS)
    for one in compared:
        if one["decay"]:
            label, look = rf"decay $10^{{{log10(one['decay']):.0f}}}$", next(decays)
        elif one["learning_rate"] == "auto":
            label, look = 'no decay, learning rate "auto"', _AUTO
        else:
            label, look = "no decay", _NO_DECAY
        yield Line(label, *look)


def _annotate_ties(axes: Axes, runs: list[dict[str, Any]]) -> None:
    """Write the share of ties at the end of the line without decay."""
    end = runs[0]["n_learned"][-1], float(np.mean([run["accuracy"][-1] for run in runs]))
    text = f"{np.mean([run['tied'][-1] for run in runs]):.0%}\nties"
    axes.annotate(text, end, (-13, -3), textcoords="offset points", ha="right")
