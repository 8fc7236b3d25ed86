"""Figure 2: accuracy and memory loss of the fly and other continual methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.curves import add_titles, plot_accuracy, plot_memory_loss
from kenyon_lab.figures.selection import compared_datasets
from kenyon_lab.figures.style import add_legend, new_figure
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset: accuracy on the classes so far, and memory loss."""
    datasets = compared_datasets(evidence, methods)
    return draw_rows([(dataset_title(name), evidence.of(name, methods)) for name in datasets])


def draw_rows(rows: list[tuple[str, dict[str, Summary]]]) -> Figure:
    """Return a row for each title with its runs by method."""
    figure, panels = new_figure(len(rows), 2)
    shown = []
    for left, right, (title, runs) in zip(panels[::2], panels[1::2], rows, strict=True):
        # Offline is an upper bound and not a continual method.
        continual = {method: one for method, one in runs.items() if method != "offline"}
        plot_accuracy(left, runs)
        if continual:
            plot_memory_loss(right, continual)
        shown += [(title, runs), (title, continual or runs)]
    add_titles(panels, shown)
    add_legend(figure, panels, n_columns=4)
    return figure
