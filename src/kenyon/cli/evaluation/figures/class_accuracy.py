"""The accuracy of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.cli.evaluation.figures.drawing import Drawing, Scale, percent, shortened, ticks
from kenyon.cli.visible import visible_label

if TYPE_CHECKING:
    from markupsafe import Markup

    from kenyon.cli.evaluation.class_counts import ClassResult
    from kenyon.cli.evaluation.evaluation import Result

WIDTH = 360
MAX_BARS = 40
"""More classes are drawn as one outline."""
ROW = 17
"""The height of a bar and its gap."""
NAMES = 112
"""The room for names."""


def draw(result: Result) -> Markup:
    """Draw one bar for each class in the file, the lowest accuracy first, or their outline."""
    classes = [each for each in result.classes if each.rows]
    classes.sort(key=lambda each: (each.recall or 0.0, -each.rows, each.label))
    return _bars(classes) if len(classes) <= MAX_BARS else _outline(classes)


def _bars(classes: list[ClassResult]) -> Markup:
    bottom = 8 + ROW * len(classes)
    drawing = Drawing(
        "classes",
        WIDTH,
        bottom + 40,
        "Accuracy by class",
        f"One bar for each of {len(classes)} classes, the lowest accuracy first.",
    )
    x = Scale(0, 1, NAMES, WIDTH - 50)
    for tick in ticks(0, 1):
        drawing.line(x(tick), 4, x(tick), bottom, "grid")
        drawing.text(x(tick), bottom + 15, percent(tick), "middle")
    drawing.text((x(0) + x(1)) / 2, bottom + 33, "accuracy", "middle")
    for place, each in enumerate(classes):
        top, recall = 8 + ROW * place, each.recall or 0.0
        name = visible_label(each.label)
        hint = f"{name}: {each.correct:,} of {each.rows:,} rows"
        drawing.text(NAMES - 6, top + 11, shortened(name, NAMES - 10), "end", hint=hint)
        drawing.box(NAMES, top + 1, max(1.0, x(recall) - NAMES), ROW - 4, "bar", hint)
        drawing.text(x(1) + 6, top + 11, f"{recall:.1%}", "")
    return drawing.markup()


def _outline(classes: list[ClassResult]) -> Markup:
    height, left, right, top, bottom = 260, 54, WIDTH - 20, 12, 214
    recalls = [each.recall or 0.0 for each in classes]
    middle = recalls[len(recalls) // 2]
    drawing = Drawing(
        "classes",
        WIDTH,
        height,
        "Accuracy by class",
        f"The accuracies of {len(classes):,} classes in ascending order, from {recalls[0]:.1%} "
        f"to {recalls[-1]:.1%}; the median is {middle:.1%}.",
    )
    x, y = Scale(0, len(classes), left, right), Scale(0, 1, bottom, top)
    outline = [(x(0), y(0))]
    for place, recall in enumerate(recalls):
        outline += [(x(place), y(recall)), (x(place + 1), y(recall))]
    drawing.path([*outline, (x(len(classes)), y(0))], "area")
    for tick in ticks(0, 1):
        drawing.line(left, y(tick), right, y(tick), "grid")
        drawing.text(left - 6, y(tick) + 4, percent(tick), "end")
    drawing.line(left, bottom, right, bottom, "axis")
    for place in range(0, len(classes) + 1, _step(len(classes))):
        drawing.line(x(place), bottom, x(place), bottom + 4, "axis")
        drawing.text(x(place), bottom + 16, f"{place:,}", "middle")
    drawing.text((left + right) / 2, height - 8, "classes, the lowest accuracy first", "middle")
    drawing.text(12, (top + bottom) / 2, "accuracy", "middle", turn=-90)
    return drawing.markup()


def _step(count: int) -> int:
    """Return the distance of at most seven ticks from 0 to a count."""
    unit = int(10 ** (len(str(count)) - 1))
    return next(step for step in (unit // 5, unit // 2, unit, 2 * unit) if count <= 6 * step)
