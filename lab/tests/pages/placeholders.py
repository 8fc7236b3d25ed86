"""Numbers in prose that name their source: `0.756<!-- mnist20.fly.accuracy -->`.

A name is one of `kenyon_lab.reproduction.numbers.Numbers`, or that of a cell of a benchmark's
table: "FILE.md | row | column" or, if several tables have that row and column,
"FILE.md | title | row | column". The title is the heading over a table, or its first cell.
"""

import re
from decimal import Decimal

from lab.tests.pages.pages import RESULTS, tables

NUMBER = r"-?\d[\d,]*(?:\.\d+)?"


def placeholders(text):
    """Return each number of a text with its unit, if that is %, and its name."""
    found = re.findall(rf"({NUMBER})( ?%)?<!-- (.+?) -->", text, flags=re.DOTALL)
    return [(number, unit.strip(), re.sub(r"\s+", " ", name)) for number, unit, name in found]


def agrees(shown, number):
    """Return whether a number is the one shown, to as many digits as are shown.

    Zeros at the end of a whole number count as rounded: 200 stands for 150 to 250.
    """
    exact = Decimal(shown.replace(",", ""))
    whole = exact.as_tuple().exponent >= 0
    unit = Decimal(1).scaleb((exact.normalize() if whole and exact else exact).as_tuple().exponent)
    return abs(Decimal(repr(float(number))) - exact) <= unit / 2


def cell(name):
    """Return the number at the start of a cell of a benchmark's table."""
    file, *title, row, column = name.split(" | ")
    found = {
        line[table.rows[0].index(column)]
        for table in tables((RESULTS / file).read_text(encoding="utf-8"))
        if column in table.rows[0] and title in ([], [table.heading], [table.rows[0][0]])
        for line in table.rows[1:]
        if line[0] == row
    }
    if len(found) != 1:
        raise KeyError(f"{name!r} names {len(found)} cells, not one")
    return float(re.match(NUMBER, found.pop())[0].replace(",", ""))


def find(numbers, name):
    """Return the number of a name."""
    return cell(name) if ".md | " in name else numbers.find(name)
