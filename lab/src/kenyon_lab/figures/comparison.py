"""Figure 2: accuracy and memory loss of the fly and other continual methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.curves import plot_accuracy, plot_memory_loss
from kenyon_lab.figures.style import add_legend, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset: accuracy on the classes so far, and memory loss."""
    datasets = evidence.datasets(methods)
    figure, panels = new_figure(len(datasets), 2)
    for left, right, dataset in zip(panels[::2], panels[1::2], datasets, strict=True):
        runs = evidence.of(dataset, methods)
        plot_accuracy(left, dataset, runs)
        # Offline is an upper bound and not a continual method.
        if losses := {method: one for method, one in runs.items() if method != "offline"}:
            plot_memory_loss(right, dataset, losses)
    letter_panels(panels)
    add_legend(figure, panels, n_columns=6)
    return figure
