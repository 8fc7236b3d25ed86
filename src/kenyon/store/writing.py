"""The statements that write: those that SQLite and PostgreSQL both know."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kenyon.store.reading import Reader, chunks, marks
from kenyon.store.schema import MODEL_TABLES, number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kenyon.store.reading import EventRow


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
        # `finish_erasures` of another server locks erasures before contents, too. In another order
        # the two servers could wait for each other.
        for table in MODEL_TABLES:
            self.connection.execute(f"DELETE FROM {table} WHERE model = ?", (model,))
        for table in ("contents", "samples"):
            self.connection.execute(
                f"DELETE FROM {table} WHERE sample >= ? AND sample < ?", numbers
            )
        self.connection.execute("DELETE FROM models WHERE model = ?", (model,))
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
        for chunk in chunks([*zip(*columns.values(), strict=True)]):
            groups = ", ".join([f"({marks(len(columns))})"] * len(chunk))
            values = [value for row in chunk for value in row]
            names = ", ".join(columns)
            self.connection.execute(f"INSERT INTO {table} ({names}) VALUES {groups}", values)

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
