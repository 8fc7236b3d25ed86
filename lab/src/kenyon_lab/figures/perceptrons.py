"""Figure 4: perceptrons, without a cap on their weights and with the fly's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.curves import add_titles, plot_accuracy
from kenyon_lab.figures.selection import compared_datasets
from kenyon_lab.figures.style import add_legend, label_rows, new_grid
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary

_CAPPED = "-capped"
_TITLES = {"fly": "FlyModel: v4 with its cap"}


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return two panels for each dataset: without a cap, and with the fly's; both show the fly."""
    shown = []
    for dataset in compared_datasets(evidence, methods):
        title, runs = dataset_title(dataset), evidence.of(dataset, methods)
        capped, uncapped = _split(runs)
        shown.append((f"{title}, no cap", uncapped))
        if len(capped) > 1:
            shown.append((f"{title}, the fly's cap", capped))
    figure, panels, free = new_grid(len(shown), (2,))
    for axes, (_, runs) in zip(panels, shown, strict=True):
        plot_accuracy(axes, runs, _TITLES)
    label_rows(panels, "accuracy")
    add_titles(panels, shown)
    add_legend(figure, panels, n_columns=3, free=free)
    return figure


def _split(runs: dict[str, Summary]) -> tuple[dict[str, Summary], dict[str, Summary]]:
    """Return the runs with a cap and those without; both have the fly and the plain names."""
    capped, uncapped = {}, {}
    for method, summary in runs.items():
        if method == "fly" or method.endswith(_CAPPED):
            capped[method.removesuffix(_CAPPED)] = summary
        if not method.endswith(_CAPPED):
            uncapped[method] = summary
    return capped, uncapped
