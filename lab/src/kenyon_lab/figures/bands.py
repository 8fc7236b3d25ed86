"""Lines with a band of one standard deviation over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


class Line(NamedTuple):
    """The label and the look of a line."""

    label: str
    color: str
    marker: str
    linestyle: str


def plot_mean(axes: Axes, x: ArrayLike, values: ArrayLike, line: Line, **look: Any) -> None:
    """Plot the mean of several runs (rows), and their standard deviation as a band."""
    x, values = np.asarray(x), np.asarray(values)
    mean = values.mean(axis=0)
    axes.plot(x, mean, **line._asdict(), **look)
    if len(values) > 1:
        deviation = values.std(axis=0, ddof=1)
        low, high = mean - deviation, mean + deviation
        axes.fill_between(x, low, high, color=line.color, alpha=0.2, lw=0)
