"""The columns of a table that a command uses."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.cli.tables.samples import Columns

_MAX_LISTED = 10
_WILDCARDS = "*?["


class Selection(NamedTuple):
    """The text column or the feature columns, and the label column, of one table."""

    text: str | None
    features: list[str]
    label: str | None


def select_columns(name: str, found: Sequence[str], columns: Columns) -> Selection:
    """Return the columns that a command uses, from those of the table `name`.

    Raises
    ------
    ValueError
        If a column is missing, is there twice, or would be both feature and label.
    """
    if (columns.text is None) == (columns.features is None):
        raise ValueError(
            f"{name}: a table needs a text column or feature columns (--features), and not both; "
            f"got {columns.text!r} and {columns.features!r}"
        )
    twice = [column for column, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(f"{name} has more than one column {twice[0]!r}")
    for column in (columns.text, columns.label):
        if column is not None and column not in found:
            raise ValueError(f"{name} has no column {column!r}: {list_columns(found)}")
    if columns.label is not None and columns.label == columns.text:
        raise ValueError(f"{name}: the column {columns.label!r} cannot hold text and label")
    features = []
    if columns.features is not None:
        features = match_features(name, found, columns.features, columns.label)
    return Selection(columns.text, features, columns.label)


def match_features(
    name: str, found: Sequence[str], patterns: str, label: str | None = None
) -> list[str]:
    """Return the columns that match a list of names and patterns, in the order of the table.

    Patterns never match the label column.

    Examples
    --------
    >>> match_features("a.csv", ["y", "x1", "x2", "z"], "z, x*", "y")
    ['x1', 'x2', 'z']
    """
    matched: set[str] = set()
    for pattern in map(str.strip, patterns.split(",")):
        if pattern in found:
            if pattern == label:
                raise ValueError(f"{name}: the column {label!r} cannot be feature and label")
            matched.add(pattern)
            continue
        matches = {column for column in found if fnmatchcase(column, pattern)} - {label}
        if not matches:
            what = "that matches" if any(sign in pattern for sign in _WILDCARDS) else "named"
            raise ValueError(f"{name} has no column {what} {pattern!r}: {list_columns(found)}")
        matched.update(column for column in matches if column is not None)
    return [column for column in found if column in matched]


def list_columns(found: Sequence[str]) -> str:
    """Return a part of a sentence that lists the first columns of a table.

    Examples
    --------
    >>> print(list_columns(["a", "b"]))
    its columns are 'a', 'b'
    >>> print(list_columns(["a;b"]))
    its columns are 'a;b'; fields end with commas or tabs, not semicolons
    """
    shown = ", ".join(f"{_shorten(column)!r}" for column in found[:_MAX_LISTED])
    more = ", ..." if len(found) > _MAX_LISTED else ""
    # As spreadsheets write it where the comma is the decimal sign.
    hint = "; fields end with commas or tabs, not semicolons" if _has_semicolons(found) else ""
    return f"its columns are {shown or 'none'}{more}{hint}"


def _has_semicolons(found: Sequence[str]) -> bool:
    return len(found) == 1 and ";" in found[0]


def _shorten(text: str, length: int = 60) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
