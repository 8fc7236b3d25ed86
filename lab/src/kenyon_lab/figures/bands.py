"""A line and how far seeds stray from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def plot_mean(axes: Axes, x: ArrayLike, values: ArrayLike, **look: Any) -> None:
    """Plot the mean of some runs (rows), and their standard deviation as a band."""
    x, values = np.asarray(x), np.asarray(values)
    mean = values.mean(axis=0)
    axes.plot(x, mean, **look)
    if len(values) > 1:
        deviation = values.std(axis=0, ddof=1)
        low, high = mean - deviation, mean + deviation
        axes.fill_between(x, low, high, color=look["color"], alpha=0.2, lw=0)
