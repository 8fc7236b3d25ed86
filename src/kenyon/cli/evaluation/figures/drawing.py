"""SVG pictures inside an HTML page, whose style sheet gives them their colours."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from markupsafe import Markup

from kenyon.cli.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_SIZE = 11.0
"""The size of the letters in units of the picture, as in the style sheet."""
LETTER = 0.58
"""The mean width of a Latin letter, as a share of its size."""


class Drawing:
    """A picture that is built from elements, all of whose texts are escaped.

    Parameters
    ----------
    name : str
        Distinguishes the picture from the others of the page.
    width, height : float
        The size in units, which are pixels on a phone.
    title, description : str
        What a reader hears who cannot see the picture.
    """

    def __init__(
        self, name: str, width: float, height: float, title: str, description: str
    ) -> None:
        self.name, self.width, self.height = name, width, height
        self._elements = [
            _element("title", title, id=f"{name}-title"),
            _element("desc", description, id=f"{name}-description"),
        ]

    def add(self, tag: str, content: object = "", /, **attributes: object) -> None:
        """Add an element; `_` in the name of an attribute stands for `-`."""
        self._elements.append(_element(tag, content, **attributes))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Add a straight line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str,
        hint: str = "",
        opacity: float | None = None,
    ) -> None:
        """Add a rectangle, and the words that a pointer over it shows."""
        content = _element("title", visible(hint)) if hint else ""
        sizes = {"x": x, "y": y, "width": width, "height": height}
        self.add("rect", content, **sizes, class_=kind, fill_opacity=opacity)

    def circle(self, x: float, y: float, radius: float, kind: str, hint: str) -> None:
        """Add a point, and the words that a pointer over it shows."""
        self.add("circle", _element("title", visible(hint)), cx=x, cy=y, r=radius, class_=kind)

    def text(
        self, x: float, y: float, content: str, kind: str = "", *, turn: float = 0, hint: str = ""
    ) -> None:
        """Add a line of text, turned by some degrees around its anchor."""
        shown = Markup("").join(
            [_element("title", visible(hint)) if hint else Markup(""), visible(content)]
        )
        turned = f"rotate({turn:g} {_number(x)} {_number(y)})" if turn else None
        self.add("text", shown, x=x, y=y, class_=kind or None, transform=turned)

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Add a line through points."""
        steps = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self.add("path", d=f"M{steps}", class_=kind)

    def markup(self) -> Markup:
        """Return the element `svg`."""
        return _element(
            "svg",
            Markup("\n").join(["", *self._elements, ""]),
            viewBox=f"0 0 {_number(self.width)} {_number(self.height)}",
            style=f"--width: {_number(self.width)}",
            role="img",
            aria_labelledby=f"{self.name}-title {self.name}-description",
        )


class Scale:
    """A linear map of numbers from `low` to `high` to places from `start` to `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high
        self._start, self._slope = start, (end - start) / (high - low)

    def __call__(self, number: float) -> float:
        """Return the place of a number."""
        return self._start + (number - self.low) * self._slope


def ticks(low: float, high: float) -> list[float]:
    """Return four to seven round numbers from `low` to `high`, for shares.

    Examples
    --------
    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(0.9, 1)
    [0.9, 0.92, 0.94, 0.96, 0.98, 1.0]
    """
    for step in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
        first, last = round(low / step + 0.499), round(high / step - 0.499)
        if last - first <= 6:
            break
    return [round(number * step, 9) for number in range(first, last + 1)]


def compact(count: int) -> str:
    """Return a count in at most five characters.

    Examples
    --------
    >>> [compact(count) for count in (7, 1234, 23456, 999_999, 12_345_678)]
    ['7', '1.2k', '23k', '1M', '12M']
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= 0.9995 * unit:
            number = count / unit
            return (f"{number:.2g}" if number < 99.5 else f"{number:.0f}") + name
    return f"{count}"


def percent(share: float) -> str:
    """Return a tick as text: 0.925 as 92.5%."""
    return f"{100 * share:g}%"


def shortened(text: str, width: float, size: float = TEXT_SIZE) -> str:
    """Return a text, or its beginning with an ellipsis, that is at most so wide.

    Widths are estimates, on the safe side.

    Examples
    --------
    >>> shortened("international_visa", 60)
    'internat…'
    """
    text = visible(text)
    places = _places(text, size)
    if all(place <= width for place in places):
        return text
    room = width - LETTER * size
    return text[: next(i for i, place in enumerate(places) if place > room)].rstrip() + "…"


def text_width(text: str, size: float = TEXT_SIZE) -> float:
    """Return an estimate of the width of a text."""
    return max(_places(visible(text), size), default=0.0)


def _places(text: str, size: float) -> list[float]:
    """Return the place where each letter ends."""
    places, place = [], 0.0
    for letter in text:
        if not unicodedata.combining(letter):
            wide = unicodedata.east_asian_width(letter) in "WF" or letter in "mwMW@%"
            place += size * (1.0 if wide else LETTER)
        places.append(place)
    return places


def _element(tag: str, content: object = "", /, **attributes: object) -> Markup:
    written = "".join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _value(value))
        for name, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(tag, Markup(written), content)


def _value(value: object) -> str:
    return _number(value) if isinstance(value, int | float) else str(value)


def _number(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
