"""Figure 4: four rules of learning on the same codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.figures.catalogue import PERCEPTRONS
from kenyon_lab.figures.curves import draw_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon_lab.reproduction.evidence import Evidence


def draw(evidence: Evidence) -> Figure:
    """Return a panel for each dataset."""
    return draw_accuracy(evidence, PERCEPTRONS)
