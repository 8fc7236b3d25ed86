"""The statements that read: those that SQLite and PostgreSQL both know."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from kenyon.store.features import from_blobs
from kenyon.store.schema import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kenyon.store.database import Connection
    from kenyon.store.features import Features

_CHUNK = 500
"""Values in one statement."""
_SPARSE = 100
"""Rows per wanted row from which on it is cheaper to look each one up."""


class EventRow(NamedTuple):
    """A row of the table of events."""

    event: int
    time: float
    who: str
    what: str
    first: int
    """The number of rows that the model had before."""
    n_rows: int
    """Rows that the event added."""
    detail: dict[str, Any]


class Reader:
    """The statements that read."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def models(self) -> list[tuple[int, str, dict[str, Any], int]]:
        """Return the number, the name, the description and the last erasure of each model."""
        rows = self.connection.execute("SELECT model, name, spec, erased FROM models ORDER BY name")
        return [(model, name, json.loads(spec), erased) for model, name, spec, erased in rows]

    def last_event(self, model: int) -> tuple[int, int]:
        """Return the number of the last event, and the number of rows after it."""
        return self.rows_at(model, 1 << 62)

    def rows_at(self, model: int, event: int) -> tuple[int, int]:
        """Return the last event up to this one, and the number of rows after it."""
        found = self.connection.execute(
            "SELECT event, first + n_rows FROM events WHERE model = ? AND event <= ? "
            "ORDER BY event DESC LIMIT 1",
            (model, event),
        ).fetchone()
        return found or (0, 0)

    def events(self, model: int, after: int, limit: int) -> list[EventRow]:
        """Return the events after this one, in their order."""
        return self._events("AND event > ? ORDER BY event LIMIT ?", model, after, limit)

    def special_events(self, model: int) -> list[EventRow]:
        """Return the events that are not plain."""
        return self._events("AND is_plain = 0 ORDER BY event", model)

    def event(self, model: int, event: int) -> EventRow | None:
        """Return one event."""
        found = self._events("AND event = ?", model, event)
        return found[0] if found else None

    def _events(self, condition: str, *values: int) -> list[EventRow]:
        rows = self.connection.execute(
            "SELECT event, time, who, what, first, n_rows, detail FROM events WHERE model = ? "
            + condition,
            values,
        )
        return [
            EventRow(event, time, who, what, first, n_rows, json.loads(detail))
            for event, time, who, what, first, n_rows, detail in rows
        ]

    def events_of_rows(self, model: int, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return for each row the event that added it, and the first row of that event."""
        if not rows:
            return []
        first, last = min(rows), max(rows)
        if last - first > _SPARSE * len(rows):
            return [self._event_of_row(model, row) for row in rows]
        found = self.connection.execute(
            "SELECT event, first FROM events WHERE model = ? AND n_rows > 0 AND first >= ? AND "
            "first <= ? ORDER BY first",
            (model, self._event_of_row(model, first)[1], last),
        ).fetchall()
        starts = [start for _, start in found]
        return [found[bisect_right(starts, row) - 1] for row in rows]

    def _event_of_row(self, model: int, row: int) -> tuple[int, int]:
        found: tuple[int, int] = self.connection.execute(
            "SELECT event, first FROM events WHERE model = ? AND n_rows > 0 AND first <= ? "
            "ORDER BY first DESC LIMIT 1",
            (model, row),
        ).fetchone()
        return found

    def learned_before(self, model: int, time: float) -> list[tuple[int, int]]:
        """Return the first row and the number of rows of the events that learned before a time."""
        return self.connection.execute(
            "SELECT first, n_rows FROM events WHERE model = ? AND n_rows > 0 AND time < ? "
            "ORDER BY first",
            (model, time),
        ).fetchall()

    def labels(self, model: int, first: int = 0) -> list[Any]:
        """Return the labels of a model by their numbers, from the first of them on."""
        rows = self.connection.execute(
            "SELECT value FROM labels WHERE model = ? AND number >= ? ORDER BY number",
            (model, first),
        )
        return [json.loads(value) for (value,) in rows]

    def sample_labels(self, model: int, first: int = 0, n: int | None = None) -> list[int | None]:
        """Return the numbers of the labels of n rows, or of all; None where one was erased."""
        end = number_of(model + 1, 0) if n is None else number_of(model, first + n)
        rows = self.connection.execute(
            "SELECT label FROM samples WHERE sample >= ? AND sample < ? ORDER BY sample",
            (number_of(model, first), end),
        )
        return [label for (label,) in rows]

    def ids(self, model: int, rows: Sequence[int]) -> list[str | None]:
        """Return the ids that were given to rows."""
        return self._values("id", "samples", model, rows)

    def rows_of_ids(self, model: int, ids: Sequence[str]) -> list[tuple[str, int]]:
        """Return the ids that rows have, each with its row."""
        found: list[tuple[str, int]] = []
        for chunk in chunks(ids):
            found += self.connection.execute(
                "SELECT id, sample & ? FROM samples WHERE model = ? AND id IN "
                f"({marks(len(chunk))})",
                (number_of(1, 0) - 1, model, *chunk),
            )
        return found

    def features(self, model: int, rows: Sequence[int], n_features: int) -> Features | None:
        """Return the features of rows, in their order, or None if some were erased."""
        found = self._values("features", "contents", model, rows)
        return None if None in found else from_blobs(found, n_features)

    def texts(self, model: int, rows: Sequence[int]) -> list[str | None]:
        """Return the texts of rows; None where there is none."""
        found = self._values("text", "contents", model, rows)
        return [None if text is None else bytes(text).decode() for text in found]

    def _values(self, column: str, table: str, model: int, rows: Sequence[int]) -> list[Any]:
        """Return a column for rows, in their order; None where there is no such row."""
        if not rows:
            return []
        first, last = number_of(model, min(rows)), number_of(model, max(rows))
        statement = f"SELECT sample, {column} FROM {table} WHERE sample "
        found: dict[int, Any] = {}
        if last - first < 2 * len(rows):
            found.update(
                self.connection.execute(statement + "BETWEEN ? AND ?", (first, last)).fetchall()
            )
        else:
            for chunk in chunks([number_of(model, row) for row in rows]):
                found.update(
                    self.connection.execute(
                        f"{statement} IN ({marks(len(chunk))})", chunk
                    ).fetchall()
                )
        return [found.get(number_of(model, row)) for row in rows]

    def file(self, model: int, event: int) -> bytes:
        """Return the file of a merge."""
        ((content,),) = self.connection.execute(
            "SELECT content FROM files WHERE model = ? AND event = ?", (model, event)
        ).fetchall()
        return bytes(content)

    def request(self, model: int, key: str) -> tuple[int, bytes | None] | None:
        """Return the event and the digest of the request with an idempotency key."""
        found: tuple[int, bytes | None] | None = self.connection.execute(
            "SELECT event, digest FROM requests WHERE model = ? AND key = ?", (model, key)
        ).fetchone()
        return found

    def snapshots(self, model: int) -> list[tuple[int, str]]:
        """Return the events and digests of a model's snapshots, the latest first."""
        return self.connection.execute(
            "SELECT event, digest FROM snapshots WHERE model = ? ORDER BY event DESC", (model,)
        ).fetchall()

    def snapshot_file(self, model: int, event: int) -> bytes | None:
        """Return the file of a snapshot, or None if there is none."""
        found = self.connection.execute(
            "SELECT content FROM snapshot_files WHERE model = ? AND event = ?", (model, event)
        ).fetchone()
        return None if found is None else bytes(found[0])

    def last_events(self) -> dict[int, int]:
        """Return the number of the last event of each model that has one."""
        rows = self.connection.execute(
            "SELECT model, (SELECT max(event) FROM events WHERE events.model = models.model) "
            "FROM models"
        )
        return {model: event for model, event in rows if event is not None}

    def all_keys(self) -> list[tuple[Any, ...]]:
        """Return all keys."""
        return self.connection.execute(
            "SELECT key, name, hash, scopes, models, created, revoked FROM keys ORDER BY key"
        ).fetchall()


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield pieces that fit into one statement each."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def marks(n: int) -> str:
    """Return question marks for the values of a statement."""
    return ", ".join("?" * n)
