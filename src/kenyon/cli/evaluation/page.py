"""The evaluation as one HTML file without external resources."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from kenyon._files import replacing
from kenyon.cli.evaluation.figures import (
    class_accuracy,
    confusion,
    coverage,
    novelty,
    reliability,
)
from kenyon.cli.visible import visible, visible_label

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon.cli.evaluation.confident_errors import ConfidentError
    from kenyon.cli.evaluation.evaluation import Result

MAX_WORST = 20
"""The classes and confusions that are shown at once; more are in a closed part."""
MAX_LISTED = 2000
"""The rows of a closed table; more would make the page slow."""
MAX_LABEL = 80
"""The letters of a label that are shown; a pointer over it shows all of them."""
MAX_TEXT = 2000
"""The letters of a text that are shown."""


class Piece(NamedTuple):
    """A word of a text, or the signs between two."""

    text: str
    effect: float | None  # None between words.
    strength: float  # From 0 to 1, the largest effect in this text.


def write_page(path: Path, result: Result, facts: dict[str, str], notes: list[str]) -> None:
    """Write the page; an error leaves the old file.

    Parameters
    ----------
    path : Path
    result : Result
    facts : dict
        Names and values about the model and the file. It has "model" and "file".
    notes : list of str
        Sentences that the reader must know, such as that rows were skipped.
    """
    content = render(result, facts, notes)
    with replacing(path) as beside:
        beside.write_text(content, encoding="utf-8", errors="backslashreplace")


def render(result: Result, facts: dict[str, str], notes: list[str]) -> str:
    """Return the page as HTML."""
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "visible": visible,
        "breakable": _breakable,
        "percent": _percent,
        "probability": _probability,
        "decimals": _decimals,
        "count": _count,
    }
    in_matrix = confusion.shown_classes(result)
    return environment.from_string(_read("page.html")).render(
        result=result,
        facts=facts,
        notes=notes,
        css=_read("page.css"),
        js=_read("page.js"),
        reliability=reliability.draw(result),
        coverage=coverage.draw(result),
        class_accuracy=class_accuracy.draw(result),
        confusion=confusion.draw(result, in_matrix) if result.confusions else None,
        novelty=novelty.draw(result.detection) if result.detection else None,
        matrix_is_whole=len(in_matrix) == confusion.count_present(result),
        n_in_matrix=len(in_matrix),
        worst=result.worst_classes(),
        taken_for=_taken_for(result),
        max_worst=MAX_WORST,
        max_listed=MAX_LISTED,
        max_label=MAX_LABEL,
        max_text=MAX_TEXT,
        pieces=_pieces,
    )


def _read(name: str) -> str:
    return files("kenyon.cli.evaluation").joinpath(name).read_text(encoding="utf-8")


def _taken_for(result: Result) -> dict[Any, str]:
    """Return the most frequent wrong answer to each class, with its count."""
    found: dict[Any, str] = {}
    for each in result.confusions:
        found.setdefault(each.label, f"{each.predicted} ({each.rows:,})")
    return found


def _pieces(error: ConfidentError) -> list[Piece]:
    """Return the words of an explained text with the strength of their marks."""
    text, words, pieces, end = error.input or "", error.words or (), [], 0
    largest = max((abs(word.effect) for word in words), default=0.0) or 1.0
    for word in words:
        if word.end > MAX_TEXT:
            break
        pieces.append(Piece(text[end : word.start], None, 0.0))
        pieces.append(Piece(text[word.start : word.end], word.effect, abs(word.effect) / largest))
        end = word.end
    rest = text[end:] if len(text) <= MAX_TEXT else text[end:MAX_TEXT] + "…"
    return [*pieces, Piece(rest, None, 0.0)]


def _breakable(text: object) -> Markup:
    """Return a label that a browser may break after the signs between words of a label."""
    whole = visible_label(text)
    shown = whole if len(whole) <= MAX_LABEL else whole[: MAX_LABEL - 1] + "…"
    return Markup(re.sub(r"([_./:\\-]+)(?=[^\s<])", r"\1<wbr>", str(escape(shown))))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _probability(share: float) -> str:
    """Return a share of which only 0 and 1 are shown as 0% and 100%."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def _decimals(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"


def _count(number: int) -> str:
    return f"{number:,}"
