"""Writes the numbers of the stored results into the prose of all pages, after new results.

    python -m lab.tests.pages.refresh

A number keeps its digits: 0.75 becomes 0.74, and 19 becomes 20.
"""

import re

from kenyon_lab.reproduction.numbers import Numbers
from lab.tests import stored
from lab.tests.pages.pages import PAGES, ROOT
from lab.tests.pages.placeholders import NUMBER, agrees, find


def rewrite(shown, number):
    """Return a number with as many digits as another one; that one if it agrees."""
    if agrees(shown, number):
        return shown
    digits = len(shown.partition(".")[2])
    return f"{number:,.{digits}f}"


def refresh(text, numbers):
    """Return a text with the numbers of the results."""

    def replace(match):
        shown, unit, name = match[1], match[2] or "", re.sub(r"\s+", " ", match[3])
        number = find(numbers, name) * (100 if unit else 1)
        return f"{rewrite(shown, number)}{unit}<!-- {match[3]} -->"

    return re.sub(rf"({NUMBER})( ?%)?<!-- (.+?) -->", replace, text, flags=re.DOTALL)


def main():
    """Rewrite the pages."""
    numbers = Numbers(stored.evidence(), stored.judged())
    for page, text in PAGES.items():
        (ROOT / page).write_text(refresh(text, numbers), encoding="utf-8")


if __name__ == "__main__":
    main()
