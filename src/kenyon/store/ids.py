"""The ids of samples: given by the user, or assigned from the event's number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.store.reading import Reader

MARK = "#"
"""Begins the ids that a store assigns."""
MAX_ID = 200
_ASSIGNED = re.compile(r"#(\d{1,15})\.(\d{1,9})", re.ASCII)


def assigned_id(event: int, position: int) -> str:
    """Return the id of a sample that has none of its own."""
    return f"{MARK}{event}.{position}"


def row_of_id(id_: str, reader: Reader, model: int) -> int | None:
    """Return the row of a sample with an assigned id, or None if there is none."""
    found = _ASSIGNED.fullmatch(id_)
    if found is None:
        return None
    event = reader.event(model, int(found[1]))
    if (
        event is None
        or int(found[2]) >= event.n_rows
        or assigned_id(event.event, int(found[2])) != id_
    ):
        return None
    row = event.first + int(found[2])
    return row if reader.ids(model, [row]) == [None] else None


def ids_of_rows(rows: Sequence[int], reader: Reader, model: int) -> list[str]:
    """Return the ids of rows, given or assigned."""
    given = reader.ids(model, rows)
    events = reader.events_of_rows(model, rows)
    return [
        id_ or assigned_id(event, row - first)
        for row, id_, (event, first) in zip(rows, given, events, strict=True)
    ]


def check_id(id_: object) -> None:
    """Raise ValueError unless an object has the form of an id."""
    if not isinstance(id_, str) or not 0 < len(id_) <= MAX_ID or not id_.isprintable():
        raise ValueError(
            f"an id must be a string of 1 to {MAX_ID} printable characters, but is {id_!r:.80}"
        )


def check_origin(id_: str, *, is_known: bool) -> None:
    """Raise ValueError if a user gives an id that the store may assign later."""
    if id_.startswith(MARK) and not is_known:
        raise ValueError(
            f"an id must not begin with {MARK!r}, as the ids of the store do, but is {id_!r:.80}"
        )
