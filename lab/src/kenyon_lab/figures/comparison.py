"""Figure 2: the fly and its rivals, by accuracy and by memory loss, on each dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.catalogue import COMPARED, MEMORY_LOSS
from kenyon_lab.figures.curves import plot_accuracy, plot_memory_loss
from kenyon_lab.figures.style import add_legend, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence


def draw(evidence: Evidence) -> Figure:
    """Return a row for each dataset: accuracy so far, and memory loss."""
    datasets = evidence.datasets(COMPARED)
    figure, panels = new_figure(len(datasets), 2)
    for row, dataset in enumerate(datasets):
        left, right = panels[2 * row : 2 * row + 2]
        plot_accuracy(left, dataset, evidence.of(dataset, COMPARED))
        if losses := evidence.of(dataset, MEMORY_LOSS):
            plot_memory_loss(right, dataset, losses)
    letter_panels(panels)
    add_legend(figure, panels, n_columns=6)
    return figure
