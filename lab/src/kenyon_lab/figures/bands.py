"""Lines with a band of one standard deviation over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

OVER_SEEDS = "band: one standard deviation over seeds"
"""Explanation of a band in the legend."""


class Line(NamedTuple):
    """The label and the look of a line."""

    label: str
    color: str
    marker: str
    linestyle: str


def plot_mean(
    axes: Axes,
    x: ArrayLike,
    values: ArrayLike,
    line: Line,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    **look: Any,
) -> None:
    """Plot the mean of several runs (rows), and their standard deviation as a band.

    The band ends at `bounds`, the range of possible values: by default that of a share.
    """
    values = np.asarray(values)
    mean = values.mean(axis=0)
    axes.plot(x, mean, **line._asdict(), **look)
    if len(values) > 1:
        fill_band(axes, x, mean, values.std(axis=0, ddof=1), line.color, bounds=bounds)


def fill_band(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    deviation: ArrayLike,
    colour: str,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    meaning: str = OVER_SEEDS,
) -> None:
    """Fill one standard deviation on both sides of a line; the legend tells what it means."""
    mean, deviation = np.asarray(mean), np.asarray(deviation)
    low, high = np.clip([mean - deviation, mean + deviation], *bounds)
    # A label with an underscore is no entry of its own; `explanations` collects these.
    axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0, label=f"_{meaning}")


def explanations(panels: list[Axes]) -> list[str]:
    """Return what the bands of some panels mean, each meaning once."""
    labels = (str(band.get_label()) for axes in panels for band in axes.collections)
    return list(dict.fromkeys(label[1:] for label in labels if label.startswith("_band")))
