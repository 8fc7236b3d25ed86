"""Figure 3: what sparse codes and partial freezing each contribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.figures.catalogue import ABLATION
from kenyon.figures.curves import draw_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kenyon.figures.evidence import Evidence


def draw(evidence: Evidence) -> Figure:
    """Return a panel for each dataset."""
    return draw_accuracy(evidence, ABLATION)
