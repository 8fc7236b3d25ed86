"""The pages, their tables and their prose."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", ROOT / "lab" / "README.md", *(ROOT / "docs").rglob("*.md"))
}


class Table(NamedTuple):
    """A table of a page: the line above it, the heading over it, and its rows of cells."""

    above: str
    heading: str
    rows: list[list[str]]

    @property
    def header(self):
        return " | ".join(self.rows[0])


def without_code(text):
    """Return a text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def tables(text):
    """Return the tables of a Markdown text; rows that only draw a line are left out."""
    found, above, heading, rows = [], "", "", []
    for line in [*without_code(text).splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        if rows:
            kept = [row for row in rows if set("".join(row)) - set("-: ")]
            found.append(Table(above, heading, kept))
            rows = []
        above = line.strip()
        heading = above.lstrip("# ") if above.startswith("#") else heading
    return found


def prose(text):
    """Return a text without code, tables, comments and the targets of links."""
    text = re.sub(r"^\|.*$", "", without_code(text), flags=re.MULTILINE)
    return re.sub(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.DOTALL)
