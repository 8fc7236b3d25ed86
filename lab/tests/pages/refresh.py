"""Writes the stored results into all pages: the numbers in the prose, and the rows of the tables.

    python -m lab.tests.pages.refresh

A number keeps its digits: 0.75 becomes 0.74, and 19 becomes 20. A table keeps its choice of rows.
If the source of a table now has another header or other rows, the command says so: edit it by hand.
"""

import re
import sys

from kenyon_lab.reproduction.numbers import Numbers
from lab.tests import stored
from lab.tests.pages.pages import PAGES, RESULTS, ROOT
from lab.tests.pages.placeholders import NUMBER, agrees, find

TABLE = r"(?:^\|.*\n)+"
SOURCED = re.compile(rf"(?<=<!-- )(\S+\.md)( -->\n)({TABLE})", re.MULTILINE)


def rewrite(shown, number):
    """Return a number with as many digits as another one; that one if it agrees."""
    if agrees(shown, number):
        return shown
    digits = len(shown.partition(".")[2])
    return f"{number:,.{digits}f}"


def refresh_numbers(text, numbers):
    """Return a text with the numbers of the results in its prose."""

    def replace(match):
        shown, unit, name = match[1], match[2] or "", re.sub(r"\s+", " ", match[3])
        number = find(numbers, name) * (100 if unit else 1)
        return f"{rewrite(shown, number)}{unit}<!-- {match[3]} -->"

    return re.sub(rf"({NUMBER})( ?%)?<!-- (.+?) -->", replace, text, flags=re.DOTALL)


def refresh_tables(text, read):
    """Return a text with the rows of the results, and the sources that lack a table or its rows."""
    stale = []

    def replace(match):
        table = newest(match[3].splitlines(), read(match[1]))
        if table is None:
            stale.append(match[1])
            return match[0]
        return "\n".join([match[1] + match[2].rstrip(), *table, ""])

    return SOURCED.sub(replace, text), stale


def newest(table, source):
    """Return the lines of a table as its source has them now, or None.

    Several tables of a source may have the same header and rows; the most similar one is taken.
    """
    alike = [
        block
        for lines in re.findall(TABLE, f"{source}\n", re.MULTILINE)
        if cells(block := lines.splitlines())[0] == cells(table)[0]
    ]
    found = [block for block in alike if set(names(table)) <= set(names(block))]
    if not found:
        # All rows may have new names, such as files with a version.
        return alike[0] if [*map(len, alike)] == [len(table)] else None
    best = max(found, key=lambda block: n_equal(table, block))
    if names(best) == names(table):
        return best
    rows = dict(zip(names(best)[1:], best[2:], strict=True))
    return [*best[:2], *(rows[name] for name in names(table)[1:])]


def n_equal(table, block):
    """Return how many cells of a table are the same in another one."""
    rows = dict(zip(names(block), cells(block), strict=True))
    pairs = zip(names(table), cells(table), strict=True)
    return sum(a == b for name, row in pairs for a, b in zip(row, rows[name], strict=False))


def cells(lines):
    """Return the cells of a table without the line under its header."""
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [rows[0], *rows[2:]]


def names(lines):
    """Return the first cell of each row of a table."""
    return [row[0] for row in cells(lines)]


def main():
    """Rewrite the pages; fail if some tables must be edited by hand."""
    numbers, n_stale = Numbers(stored.evidence(), stored.judged()), 0
    for page, text in PAGES.items():
        new, stale = refresh_tables(
            refresh_numbers(text, numbers),
            lambda name: (RESULTS / name).read_text(encoding="utf-8"),
        )
        (ROOT / page).write_text(new, encoding="utf-8")
        for name in stale:
            print(f"{page}: a table is no longer in {name}; edit it by hand", file=sys.stderr)
        n_stale += len(stale)
    sys.exit(bool(n_stale))


if __name__ == "__main__":
    main()
