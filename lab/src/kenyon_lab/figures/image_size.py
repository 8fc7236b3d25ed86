"""Accuracy on CIFAR-100 against the size at which the encoder sees the images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.style import GREY, look_of, new_figure
from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure


def draw(sizes: Sequence[int], accuracy: Mapping[str, Sequence[float]], paper: float) -> Figure:
    """Return a figure with a line for each method.

    Parameters
    ----------
    sizes : sequence of int
        Heights and widths in pixels.
    accuracy : mapping
        The accuracies of each method, one for each size.
    paper : float
        Accuracy of the FlyModel in the paper.
    """
    figure, (axes,) = new_figure(height=3.2)
    for method, values in accuracy.items():
        colour, marker, line = look_of(method)
        # The FlyModel and ridge share a colour.
        line = "-." if method == "ridge" else line
        title = METHODS[method].title
        axes.plot(sizes, values, color=colour, marker=marker, linestyle=line, label=title)
    axes.axhline(paper, color=GREY, linestyle=":", label=f"FlyModel in the paper, {paper:.2f}")
    axes.set_xticks(list(sizes))
    axes.set(xlabel="height and width of the images, in pixels", ylabel="accuracy", ylim=(0, None))
    axes.set_title("CIFAR-100 through MobileNetV2, 100 training images a class (exploratory)")
    axes.legend(loc="lower right")
    return figure
