"""Accuracy against coverage: what remains if unsure answers are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.cli.evaluation.figures.drawing import Drawing, Scale, percent, ticks

if TYPE_CHECKING:
    from markupsafe import Markup

    from kenyon.cli.evaluation.evaluation import Result

WIDTH, HEIGHT = 360, 352
LEFT, RIGHT, TOP, BOTTOM = 54, 340, 12, 306
GAP = 42
"""The smallest distance of two labelled points."""


def draw(result: Result) -> Markup:
    """Draw the accuracy of the most confident rows against their share of all rows."""
    drawing = Drawing(
        "coverage",
        WIDTH,
        HEIGHT,
        "Accuracy against coverage",
        "The accuracy of the answers that are at least so confident, against their share of all "
        "rows. Marked points name the least confidence.",
    )
    # The first few rows say little: a single error among ten would set the scale.
    shown = [each for each in result.levels if each.coverage.count >= 20] or result.levels
    points = [(each.coverage.value or 0.0, each.accuracy.value or 0.0) for each in shown]
    lowest = min((accuracy for _, accuracy in points), default=0.0)
    # A multiple of 5 %, with some room below.
    bottom = max(0.0, min(0.9, int(20 * (lowest - 0.02)) / 20))
    x, y = Scale(0, 1, LEFT, RIGHT), Scale(bottom, 1, BOTTOM, TOP)
    for tick in ticks(bottom, 1):
        drawing.line(LEFT, y(tick), RIGHT, y(tick), "grid")
        drawing.text(LEFT - 6, y(tick) + 4, percent(tick), "end")
    for tick in ticks(0, 1):
        drawing.line(x(tick), BOTTOM, x(tick), BOTTOM + 4, "axis")
        drawing.text(x(tick), BOTTOM + 16, percent(tick), "middle")
    drawing.line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    if points:
        drawing.path([(x(coverage), y(accuracy)) for coverage, accuracy in points], "curve")
    _mark(drawing, result, x, y, {coverage for coverage, _ in points})
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "coverage: share of rows answered", "middle")
    drawing.text(12, (TOP + BOTTOM) / 2, "accuracy of these rows", "middle", turn=-90)
    return drawing.markup()


def _mark(drawing: Drawing, result: Result, x: Scale, y: Scale, shown: set[float]) -> None:
    """Mark thresholds that are far enough from each other, and all rows."""
    taken: list[float] = []
    for level in [*result.levels[:1], *result.thresholds]:
        coverage, accuracy = level.coverage.value, level.accuracy.value
        if not coverage or accuracy is None or coverage < min(shown, default=1.0):
            continue
        place, height = x(coverage), y(accuracy)
        words = f"at least {level.confidence:.0%} confident" if taken else "all rows"
        hint = f"{words}: {coverage:.1%} of the rows, accuracy {accuracy:.1%}"
        if all(abs(place - other) >= GAP for other in taken):
            label = f"≥ {level.confidence:.0%}" if taken else "all"
            drawing.circle(place, height, 4, "point", hint)
            # Below the curve, which falls to the right, where the axes leave room.
            below = height + 16 if height + 16 < BOTTOM else height - 8
            side = ("end small", -6) if place - GAP > LEFT else ("start small", 8)
            drawing.text(place + side[1], below, label, side[0])
            taken.append(place)
