"""Novelty scores of the rows of known classes, and of out-of-distribution rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.cli.evaluation.figures.drawing import Drawing, Scale

if TYPE_CHECKING:
    import numpy as np
    from markupsafe import Markup
    from numpy.typing import NDArray

    from kenyon.cli.evaluation.detection import DetectionResult

WIDTH, HEIGHT = 360, 300
LEFT, RIGHT, TOP, BOTTOM = 16, 340, 50, 254
N_BARS = 40


def draw(detection: DetectionResult) -> Markup:
    """Draw the shares of rows by novelty score, and the threshold."""
    drawing = Drawing(
        "novelty",
        WIDTH,
        HEIGHT,
        "Novelty scores",
        "Filled, the rows of known classes; as an outline, the out-of-distribution rows, each as "
        f"shares of their kind, by novelty score. The threshold is {detection.threshold:.3f}.",
    )
    familiar, novel = (_shares(counts) for counts in detection.histogram)
    x = Scale(0, N_BARS, LEFT, RIGHT)
    y = Scale(0, max(float(familiar.max()), float(novel.max())) or 1.0, BOTTOM, TOP)
    drawing.path(_steps(familiar, x, y), "area")
    drawing.path(_steps(novel, x, y), "curve other")
    drawing.line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    for fifth in range(6):
        place = x(N_BARS * fifth / 5)
        drawing.line(place, BOTTOM, place, BOTTOM + 4, "axis")
        drawing.text(place, BOTTOM + 16, f"{fifth / 5:g}", "middle")
    place = x(N_BARS * detection.threshold)
    drawing.line(place, TOP - 20, place, BOTTOM, "ideal")
    side = ("end", -5) if detection.threshold > 0.5 else ("start", 5)
    drawing.text(place + side[1], TOP - 12, f"threshold {detection.threshold:.3f}", side[0])
    drawing.box(LEFT, 6, 10, 10, "bar")
    drawing.text(LEFT + 15, 15, "known classes")
    drawing.line(LEFT + 110, 11, LEFT + 122, 11, "curve other")
    drawing.text(LEFT + 127, 15, "out-of-distribution")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "novelty score", "middle")
    return drawing.markup()


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    bars = counts.reshape(N_BARS, -1).sum(axis=1)
    shares: NDArray[np.float64] = bars / max(1, int(bars.sum()))
    return shares


def _steps(shares: NDArray[np.float64], x: Scale, y: Scale) -> list[tuple[float, float]]:
    corners = [(x(0), y(0))]
    for bar, share in enumerate(shares.tolist()):
        corners += [(x(bar), y(share)), (x(bar + 1), y(share))]
    return [*corners, (x(len(shares)), y(0))]
