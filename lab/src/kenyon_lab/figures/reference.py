"""Figure 2 with the settings of the reference code, with and without masked outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.comparison import draw_rows
from kenyon_lab.figures.titles import dataset_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.protocol.evidence import Evidence

_MASKED = "-masked"


def draw(evidence: Evidence, methods: tuple[str, ...]) -> Figure:
    """Return a row for each dataset and kind of output, in the colours of figure 2.

    Methods without outputs to mask are in both rows of a dataset.
    """
    masked = tuple(method for method in methods if method.endswith(_MASKED))
    unmasked = tuple(method.removesuffix(_MASKED) for method in masked)
    common = tuple(method for method in methods if method not in masked + unmasked)
    rows = []
    for dataset in evidence.datasets(unmasked + masked):
        for words, own in (("all outputs", unmasked), ("masked outputs", masked)):
            if evidence.of(dataset, own):
                chosen = [method for method in methods if method in common + own]
                runs = evidence.of(dataset, chosen)
                title = f"{dataset_title(dataset)}, {words}"
                rows.append((title, {_plain(method): one for method, one in runs.items()}))
    return draw_rows(rows)


def _plain(method: str) -> str:
    """Return the method of which one is a variant; it gives the line its colour and label."""
    return method.removesuffix(_MASKED).removesuffix("-reference")
