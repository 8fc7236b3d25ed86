"""The confusion matrix of the classes, or of the most confused of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kenyon.cli.evaluation.class_counts import Confusion
from kenyon.cli.evaluation.figures.drawing import Drawing, compact, shortened, text_width
from kenyon.cli.visible import visible_label

if TYPE_CHECKING:
    from markupsafe import Markup

    from kenyon.circuit.plain_labels import Label
    from kenyon.cli.evaluation.evaluation import Result

MAX_WHOLE = 30
"""Up to so many classes the matrix is whole."""
MAX_PART = 24
"""The classes of a part."""
MAX_LARGE = 15
"""Up to so many classes the cells are large."""
MAX_NAME = 110
"""The most room for a name."""


def count_present(result: Result) -> int:
    """Return the number of classes that the file holds or the model answered."""
    return len(_present(result))


def shown_classes(result: Result) -> list[Label]:
    """Return the classes of the matrix: all present ones, or those of the largest confusions."""
    present = _present(result)
    if len(present) <= MAX_WHOLE:
        return present
    # Classes that are confused with each other follow each other.
    chosen: dict[Label, None] = {}
    for confusion in result.confusions:
        pair = {confusion.label: None, confusion.predicted: None}
        if len(chosen | pair) > MAX_PART:
            break
        chosen |= pair
    return list(chosen)


def draw(result: Result, shown: list[Label]) -> Markup:
    """Draw the matrix of some classes: rows are labels, columns are answers."""
    size = 24 if len(shown) <= MAX_LARGE else 18
    names = min(MAX_NAME, 10 + max(text_width(visible_label(label)) for label in shown))
    left, top = 20 + names, 20 + names
    side = size * len(shown)
    drawing = Drawing(
        "confusions",
        left + side + 8,
        top + side + 8,
        "Confusion matrix",
        f"Labels are rows and answers columns, of {len(shown)} classes. The table of confusions "
        "beside it holds the largest numbers.",
    )
    drawing.text(left + side / 2, 12, "answer", "middle")
    drawing.text(12, top + side / 2, "label", "middle", turn=-90)
    for place, label in enumerate(shown):
        centre, whole = (place + 0.5) * size, visible_label(label)
        name = shortened(whole, names - 6)
        drawing.text(left - 5, top + centre + 4, name, "end", hint=whole)
        drawing.text(left + centre + 4, top - 5, name, "start", turn=-90, hint=whole)
    _draw_cells(drawing, result, shown, (left, top, size))
    drawing.box(left, top, side, side, "frame")
    return drawing.markup()


def _present(result: Result) -> list[Label]:
    return [each.label for each in result.classes if each.rows or each.predicted]


def _draw_cells(
    drawing: Drawing, result: Result, shown: list[Label], place: tuple[float, float, float]
) -> None:
    left, top, size = place
    ranks = {label: rank for rank, label in enumerate(shown)}
    rows = {each.label: each.rows for each in result.classes}
    correct = (Confusion(each.label, each.label, each.correct) for each in result.classes)
    for label, predicted, count in (*correct, *result.confusions):
        if not count or label not in ranks or predicted not in ranks:
            continue
        x, y = left + ranks[predicted] * size, top + ranks[label] * size
        share, right = count / rows[label], label == predicted
        # The root makes small shares of errors visible.
        opacity = 0.1 + 0.75 * (share if right else math.sqrt(share))
        pair = f"{visible_label(label)} → {visible_label(predicted)}"
        kind = "right" if right else "wrong"
        drawing.box(
            x + 0.5,
            y + 0.5,
            size - 1,
            size - 1,
            kind,
            f"{pair}: {count:,} of {rows[label]:,} rows",
            opacity,
        )
        kind = "middle small inverse" if opacity > 0.6 else "middle small"
        drawing.text(x + size / 2, y + size / 2 + 3.5, compact(count), kind)
