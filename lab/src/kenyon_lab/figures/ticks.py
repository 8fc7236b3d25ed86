"""Ticks at tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.style import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

LABELS = 22
"""Labels that fit below all panels of a row together."""

STEPS = (1, 2, 5, 10, 20, 50, 100)


def tick_tasks(axes: Axes, places: Sequence[int]) -> None:
    """Put a tick at the place of each task, with a label at every n-th and at the last."""
    n_columns = place_of(axes).get_gridspec().ncols
    step = next(step for step in STEPS if len(places) * n_columns <= LABELS * step)
    axes.set_xticks(places[::-1][::step][::-1])
    axes.set_xticks(places, minor=True)
