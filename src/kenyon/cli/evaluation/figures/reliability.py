"""The reliability diagram, over a histogram of the confidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.cli.evaluation.figures.drawing import Drawing, Scale, compact, percent, ticks

if TYPE_CHECKING:
    from markupsafe import Markup

    from kenyon.cli.evaluation.evaluation import Result

WIDTH, HEIGHT = 360, 352
LEFT, RIGHT, TOP, BOTTOM = 54, 340, 12, 216
FOOT = 306
"""The bottom of the histogram."""
BARS = 58
"""The height of its highest bar."""


def draw(result: Result) -> Markup:
    """Draw the accuracy of each bin of confidence, and the number of its rows."""
    total = result.accuracy.total
    drawing = Drawing(
        "reliability",
        WIDTH,
        HEIGHT,
        "Reliability diagram",
        "Above, the accuracy of the rows of each bin of confidence, with an interval of 95%: "
        "points on the dashed diagonal are calibrated. Below, the number of rows in each bin.",
    )
    x, y = Scale(0, 1, LEFT, RIGHT), Scale(0, 1, BOTTOM, TOP)
    for tick in ticks(0, 1):
        drawing.line(LEFT, y(tick), RIGHT, y(tick), "grid")
        drawing.text(LEFT - 6, y(tick) + 4, percent(tick), "end")
        drawing.line(x(tick), BOTTOM, x(tick), BOTTOM + 4, "axis")
        drawing.text(x(tick), FOOT + 16, percent(tick), "middle")
    drawing.line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    drawing.line(x(0), y(0), x(1), y(1), "ideal")
    drawing.line(LEFT, FOOT, RIGHT, FOOT, "axis")
    most = max((each.accuracy.total for each in result.reliability), default=0) or 1
    for each in result.reliability:
        rows = each.accuracy.total
        if not rows:
            continue
        hint = f"{percent(each.low)} to {percent(each.high)}: {rows:,} of {total:,} rows"
        height = max(1.0, BARS * rows / most)
        left, right = x(each.low) + 1, x(each.high) - 1
        drawing.box(left, FOOT - height, right - left, height, "bar", hint)
        drawing.text((left + right) / 2, FOOT - height - 3, compact(rows), "middle small")
        _draw_point(drawing, x, y, each.confidence or 0.0, each.accuracy.value or 0.0, hint)
        low, high = each.accuracy.interval or (0.0, 1.0)
        place = x(each.confidence or 0.0)
        drawing.line(place, y(low), place, y(high), "whisker")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "confidence: probability of the answer", "middle")
    drawing.text(12, (TOP + BOTTOM) / 2, "accuracy", "middle", turn=-90)
    drawing.text(12, FOOT - BARS / 2, "rows", "middle", turn=-90)
    return drawing.markup()


def _draw_point(
    drawing: Drawing, x: Scale, y: Scale, confidence: float, accuracy: float, hint: str
) -> None:
    words = f"{hint}, mean confidence {confidence:.1%}, accuracy {accuracy:.1%}"
    drawing.circle(x(confidence), y(accuracy), 4, "point", words)
