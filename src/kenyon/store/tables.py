"""The tables of a store, and all statements: those that SQLite and PostgreSQL both know."""

from __future__ import annotations

import json
from bisect import bisect_right
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kenyon.store.features import from_blobs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from kenyon.store.features import Features

ROW_BITS = 40
"""A sample has the number (model << 40) + row."""
MIGRATIONS = (
    """
    CREATE TABLE models (
        model INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, time REAL NOT NULL,
        who TEXT NOT NULL, spec TEXT NOT NULL, erased INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE events (
        model INTEGER NOT NULL, event INTEGER NOT NULL, time REAL NOT NULL, who TEXT NOT NULL,
        what TEXT NOT NULL, first INTEGER NOT NULL, n_rows INTEGER NOT NULL,
        is_plain INTEGER NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (model, event)) WITHOUT ROWID;
    CREATE INDEX special_events ON events (model, event) WHERE is_plain = 0;
    CREATE INDEX events_by_row ON events (model, first) WHERE n_rows > 0;
    CREATE TABLE labels (
        model INTEGER NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (model, number)) WITHOUT ROWID;
    CREATE TABLE samples (
        sample INTEGER PRIMARY KEY, model INTEGER NOT NULL, id TEXT, label INTEGER);
    CREATE INDEX sample_ids ON samples (model, id) WHERE id IS NOT NULL;
    CREATE TABLE contents (sample INTEGER PRIMARY KEY, features BLOB NOT NULL, text BLOB);
    CREATE TABLE files (
        model INTEGER NOT NULL, event INTEGER NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (model, event));
    CREATE TABLE requests (
        model INTEGER NOT NULL, key TEXT NOT NULL, event INTEGER NOT NULL, digest BLOB,
        time REAL NOT NULL, PRIMARY KEY (model, key)) WITHOUT ROWID;
    CREATE INDEX request_times ON requests (time);
    CREATE TABLE snapshots (
        model INTEGER NOT NULL, event INTEGER NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (model, event)) WITHOUT ROWID;
    CREATE TABLE snapshot_files (
        model INTEGER NOT NULL, event INTEGER NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (model, event));
    CREATE TABLE erasures (
        model INTEGER NOT NULL, event INTEGER NOT NULL, sample INTEGER NOT NULL,
        PRIMARY KEY (model, event, sample)) WITHOUT ROWID;
    CREATE TABLE servers (
        server TEXT NOT NULL, model INTEGER NOT NULL, event INTEGER NOT NULL, seen REAL NOT NULL,
        PRIMARY KEY (server, model)) WITHOUT ROWID;
    CREATE TABLE keys (
        key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,
        scopes TEXT NOT NULL, models TEXT, created REAL NOT NULL, revoked REAL);
    CREATE TABLE cleaning (is_due INTEGER NOT NULL);
    INSERT INTO cleaning (is_due) VALUES (0);
    """,
)
"""Statement by statement from an empty file to the present tables; never changed, only extended.

Plain events need no entry in the ledger: the rows tell what they did. The tables of snapshot files,
erasures and servers are used in PostgreSQL alone.
"""

_TABLES = (
    "events",
    "labels",
    "files",
    "requests",
    "snapshots",
    "snapshot_files",
    "erasures",
    "servers",
)
"""Those with rows for each model, without samples and contents."""
TABLES = (*_TABLES, "models", "samples", "contents", "keys")
_CHUNK = 500
"""Values in one statement."""
_SPARSE = 100
"""Rows per wanted row from which on it is cheaper to look each one up."""


class Cursor(Protocol):
    """The rows of a statement."""

    def __iter__(self) -> Iterator[Any]: ...
    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return all rows."""


class Connection(Protocol):
    """What executes statements, with a question mark for each value."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Execute a statement."""


class Database(Protocol):
    """Where a store keeps its tables."""

    name: str
    """For messages."""

    def writing(self, models: Sequence[int] = ()) -> AbstractContextManager[Writer]:
        """Give the tables to change; all changes of the block are made, durably, or none.

        Nobody else changes these models meanwhile.
        """

    def reading(self) -> AbstractContextManager[Reader]:
        """Give the tables as they are at the first statement of the block."""

    def check_open(self) -> None:
        """Raise StoreFailed if the store is closed, or was opened before a fork."""

    def clean(self) -> bool:
        """Remove what was erased from the files; return False if that is not possible yet."""

    def until_compaction(self) -> float | None:
        """Return the seconds after which `clean` has more to do; None: nothing was erased."""

    def compact(self) -> None:
        """Rewrite the files without the space that is free."""

    def size(self) -> int:
        """Return the bytes of the database."""

    def check(self) -> list[str]:
        """Return what is wrong with the files."""

    def close(self) -> None:
        """Close all connections."""


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
        for chunk in _chunks(ids):
            found += self.connection.execute(
                "SELECT id, sample & ? FROM samples WHERE model = ? AND id IN "
                f"({_marks(len(chunk))})",
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
            for chunk in _chunks([number_of(model, row) for row in rows]):
                found.update(
                    self.connection.execute(
                        f"{statement} IN ({_marks(len(chunk))})", chunk
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


class Writer(Reader):
    """The statements that write, inside a transaction."""

    missing: Collection[int] = ()
    """Models that were to be locked, but were deleted by another server."""

    @contextmanager
    def part(self) -> Iterator[None]:
        """Undo what the block wrote if the request is refused, and nothing else.

        Any other exception ends the whole transaction.
        """
        self.connection.execute("SAVEPOINT part")
        try:
            yield
        except (KeyError, TypeError, ValueError):
            self.connection.execute("ROLLBACK TO SAVEPOINT part")
            self.connection.execute("RELEASE SAVEPOINT part")
            raise
        self.connection.execute("RELEASE SAVEPOINT part")

    def _execute_each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        for values in rows:
            self.connection.execute(statement, values)

    def add_model(self, name: str, time: float, who: str, spec: dict[str, Any]) -> int:
        """Add a model and return its number."""
        cursor = self.connection.execute(
            "INSERT INTO models (name, time, who, spec) VALUES (?, ?, ?, ?) RETURNING model",
            (name, time, who, json.dumps(spec)),
        )
        ((model,),) = cursor.fetchall()
        return int(model)

    def delete_model(self, model: int) -> None:
        """Delete a model and everything of it."""
        numbers = number_of(model, 0), number_of(model + 1, 0)
        for table in ("contents", "samples"):
            self.connection.execute(
                f"DELETE FROM {table} WHERE sample >= ? AND sample < ?", numbers
            )
        for table in (*_TABLES, "models"):
            self.connection.execute(f"DELETE FROM {table} WHERE model = ?", (model,))
        self.set_cleaning(is_due=True)

    def set_cleaning(self, *, is_due: bool) -> None:
        """Record whether the database must remove stray copies of what was erased."""
        self.connection.execute("UPDATE cleaning SET is_due = ?", (int(is_due),))

    def add_event(self, model: int, row: EventRow, *, is_plain: bool) -> None:
        """Add an event; a plain one only adds or erases rows."""
        *rest, detail = row
        self.connection.execute(
            "INSERT INTO events (model, event, time, who, what, first, n_rows, detail, is_plain) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (model, *rest, json.dumps(detail), int(is_plain)),
        )

    def add_labels(self, model: int, first: int, values: Sequence[Any]) -> None:
        """Add labels with the next numbers."""
        self._execute_each(
            "INSERT INTO labels (model, number, value) VALUES (?, ?, ?)",
            [(model, first + i, json.dumps(value)) for i, value in enumerate(values)],
        )

    def add_samples(
        self,
        model: int,
        first: int,
        ids: Sequence[str | None],
        labels: Sequence[int],
        blobs: Sequence[bytes],
        texts: Sequence[bytes | None],
    ) -> None:
        """Add rows."""
        numbers = [*range(number_of(model, first), number_of(model, first + len(labels)))]
        models = [model] * len(numbers)
        self._insert("samples", {"sample": numbers, "model": models, "id": ids, "label": labels})
        self._insert("contents", {"sample": numbers, "features": blobs, "text": texts})

    def _insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add rows, given the values of each column."""
        # One statement for many rows: between statements other threads take the interpreter.
        for chunk in _chunks([*zip(*columns.values(), strict=True)]):
            marks = ", ".join([f"({_marks(len(columns))})"] * len(chunk))
            values = [value for row in chunk for value in row]
            names = ", ".join(columns)
            self.connection.execute(f"INSERT INTO {table} ({names}) VALUES {marks}", values)

    def add_file(self, model: int, event: int, content: bytes) -> None:
        """Add the file of a merge."""
        self.connection.execute("INSERT INTO files VALUES (?, ?, ?)", (model, event, content))

    def add_request(self, model: int, key: str, event: int, digest: bytes, time: float) -> None:
        """Add an idempotency key."""
        self.connection.execute(
            "INSERT INTO requests (model, key, event, digest, time) VALUES (?, ?, ?, ?, ?)",
            (model, key, event, digest, time),
        )

    def drop_requests(self, before: float, n_kept: int) -> None:
        """Drop the idempotency keys that are older, but those of the last events of each model."""
        self.connection.execute(
            "DELETE FROM requests WHERE time < ? AND event + ? <= (SELECT max(event) FROM events "
            "WHERE events.model = requests.model)",
            (before, n_kept),
        )

    def erase(self, model: int, rows: Sequence[int], events: Iterable[int], event: int) -> None:
        """Erase the content of rows, and the digests of the requests that brought them."""
        numbers = [(number_of(model, row),) for row in rows]
        self._erase_contents(model, event, [number for (number,) in numbers])
        self._execute_each("UPDATE samples SET id = NULL, label = NULL WHERE sample = ?", numbers)
        self._execute_each(
            "UPDATE requests SET digest = NULL WHERE model = ? AND event = ?",
            [(model, each) for each in events],
        )
        for table in ("snapshots", "snapshot_files"):
            self.connection.execute(f"DELETE FROM {table} WHERE model = ?", (model,))
        self.connection.execute("UPDATE models SET erased = ? WHERE model = ?", (event, model))
        self.set_cleaning(is_due=True)

    def _erase_contents(self, model: int, event: int, numbers: Sequence[int]) -> None:
        self._execute_each("DELETE FROM contents WHERE sample = ?", [(each,) for each in numbers])

    def erase_labels(self, model: int, numbers: Sequence[int]) -> None:
        """Erase labels; their numbers stay taken."""
        self._execute_each(
            "UPDATE labels SET value = 'null' WHERE model = ? AND number = ?",
            [(model, number) for number in numbers],
        )

    def add_snapshot(self, model: int, event: int, digest: str) -> bool:
        """Record a snapshot; return False if content has been erased since, or the model."""
        cursor = self.connection.execute(
            "INSERT INTO snapshots (model, event, digest) "
            "SELECT model, ?, ? FROM models WHERE model = ? AND erased <= ? "
            "ON CONFLICT (model, event) DO UPDATE SET digest = excluded.digest RETURNING event",
            (event, digest, model, event),
        )
        return cursor.fetchone() is not None

    def drop_snapshots(self, model: int, before: int) -> None:
        """Drop the snapshots of earlier events."""
        for table in ("snapshots", "snapshot_files"):
            self.connection.execute(
                f"DELETE FROM {table} WHERE model = ? AND event < ?", (model, before)
            )

    def add_snapshot_file(self, model: int, event: int, content: bytes) -> None:
        """Add the file of a snapshot."""
        self.connection.execute(
            "INSERT INTO snapshot_files (model, event, content) VALUES (?, ?, ?) "
            "ON CONFLICT (model, event) DO UPDATE SET content = excluded.content",
            (model, event, content),
        )

    def add_key(self, *values: Any) -> int:
        """Add a key (name, hash, scopes, models, created) and return its number."""
        cursor = self.connection.execute(
            "INSERT INTO keys (name, hash, scopes, models, created) VALUES (?, ?, ?, ?, ?) "
            "RETURNING key",
            values,
        )
        ((key,),) = cursor.fetchall()
        return int(key)

    def revoke_key(self, key: int, time: float) -> bool:
        """Revoke a key; return False if there is none, or it was revoked before."""
        cursor = self.connection.execute(
            "UPDATE keys SET revoked = ? WHERE key = ? AND revoked IS NULL RETURNING key",
            (time, key),
        )
        return cursor.fetchone() is not None


def number_of(model: int, row: int) -> int:
    """Return the number of a sample."""
    return (model << ROW_BITS) + row


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def _marks(n: int) -> str:
    return ", ".join("?" * n)
