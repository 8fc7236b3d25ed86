"""A store's database in PostgreSQL, which several servers may use at once."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kenyon.store.errors import Conflict, StoreFailed
from kenyon.store.reading import Reader
from kenyon.store.schema import MIGRATIONS, TABLES
from kenyon.store.writing import Writer

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.sql import Literal
except ImportError as error:
    raise ImportError(
        "a store in PostgreSQL needs the package psycopg: pip install 'kenyon[postgres]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHANNEL = "kenyon"
"""Every transaction that changes something notifies this channel."""
CONNECT_SECONDS = 10
SILENT_NETWORK_SECONDS = 30
"""A connection on which nothing arrives for this long has failed."""
STALLED_SECONDS = 15
"""A server that stops within a transaction blocks the others for this long at most."""
MAX_MESSAGE = 1 << 24
"""Characters of statements that are sent in one message."""
MAX_LITERAL = 1 << 20
"""Bytes of a value that is part of a statement; a longer one is sent beside it."""
_LOCK = 0x4B4E594E
"""The advisory lock of migrations."""
_ERASING_LOCK = _LOCK + 1
_TYPES = {
    "INTEGER PRIMARY KEY AUTOINCREMENT": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "INTEGER": "BIGINT",
    "BLOB": "BYTEA",
    "REAL": "DOUBLE PRECISION",
    " WITHOUT ROWID": "",
}
_LOCKED = """\
SELECT model FROM models WHERE model IN ({0}) ORDER BY model FOR UPDATE;
SELECT model, event, n FROM models LEFT JOIN LATERAL (
    SELECT event, first + n_rows AS n FROM events WHERE events.model = models.model
    ORDER BY event DESC LIMIT 1) AS last ON TRUE
WHERE model IN ({0})"""
"""Lock models; then return the last event of each, and the number of rows after it."""
_TEXT_COLUMNS = """\
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = ANY(?) AND data_type IN ('text', 'bytea')"""
_NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The clocks of servers may differ."""


class PostgresDatabase:
    """Connections to a database of PostgreSQL: one that writes, and some that read.

    A connection that fails is replaced at the next use.

    Parameters
    ----------
    url : str
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"

    Raises
    ------
    StoreFailed
        If there is no connection, or the tables were written by a newer version.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = _without_password(url)
        self._readers: SimpleQueue[_Connection] = SimpleQueue()
        self._writer: _Connection | None = None
        self._writing = threading.Lock()
        self._is_closed, self._pid = False, os.getpid()
        self._migrate()

    @property
    def writer_pid(self) -> int | None:
        """The process of PostgreSQL that serves the connection that writes."""
        writer = self._writer
        return None if writer is None else writer.pid

    def connect(self) -> psycopg.Connection[Any]:
        """Return a new connection, which commits each statement."""
        with self.failures("reached"):
            return psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                application_name="kenyon",
                client_encoding="utf-8",
                keepalives_idle=SILENT_NETWORK_SECONDS // 2,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=1000 * SILENT_NETWORK_SECONDS,
            )

    def _migrate(self) -> None:
        with self.writing() as writer:
            execute = writer.connection.execute
            execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            execute("CREATE TABLE IF NOT EXISTS kenyon (version BIGINT NOT NULL)")
            found = execute("SELECT version FROM kenyon").fetchone()
            version = 0 if found is None else found[0]
            if version == len(MIGRATIONS):
                return
            if version > len(MIGRATIONS):
                raise StoreFailed(
                    f"{self.name} has the version {version}, but this Kenyon reads versions up to "
                    f"{len(MIGRATIONS)}: a newer Kenyon may read it"
                )
            for script in MIGRATIONS[version:]:
                for statement in filter(str.strip, script.split(";")):
                    execute(_translate(statement))
            # The planner's statistics must not hold what users have sent: nothing erases it there.
            columns = execute(_TEXT_COLUMNS, ([*TABLES],)).fetchall()
            for table, column in columns:
                execute(f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0")
            execute("DELETE FROM kenyon")
            execute("INSERT INTO kenyon VALUES (?)", (len(MIGRATIONS),))

    @contextmanager
    def failures(self, what: str) -> Iterator[None]:
        """Turn the errors of psycopg into StoreFailed."""
        try:
            yield
        except psycopg.errors.UniqueViolation as error:
            raise Conflict(f"it is there already: {_one_line(error)}") from error
        except psycopg.Error as error:
            raise StoreFailed(
                f"the store {self.name} could not be {what}: {_one_line(error)}"
            ) from error

    @contextmanager
    def writing(self, models: Sequence[int] = ()) -> Iterator[SharedWriter]:
        """Give the tables to change; all changes of the block are made, durably, or none.

        The rows of `models` are locked, so that other servers wait with their changes of them.
        """
        # Before the lock, which may stay locked for ever in a process that was forked.
        self.check_open()
        with self._writing, self.failures("written"):
            self.check_open()
            statement = "BEGIN"
            if models:
                statement = f"BEGIN; {_LOCKED.format(', '.join(map(str, models)))}"
            connection, found = self._begin(self._writer, statement)
            self._writer = connection
            try:
                batch = _Batch(connection)
                yield SharedWriter(batch, models, found.fetchall() if models else [])
                batch.execute("COMMIT")
                # PostgreSQL commits transactions with a NOTIFY one by one, so it comes after.
                batch.execute(f"NOTIFY {CHANNEL}")
                batch.send()
            except BaseException:
                if not connection.end("ROLLBACK"):
                    self._writer = None
                raise

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give the tables as they are at the first statement of the block."""
        with self.failures("read"):
            self.check_open()
            idle = None
            with suppress(Empty):
                idle = self._readers.get_nowait()
            connection, _ = self._begin(idle, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield Reader(connection)
            finally:
                if self._is_closed:
                    connection.close()
                # After ROLLBACK the driver would prepare its statements anew.
                elif connection.end("COMMIT"):
                    self._readers.put(connection)

    def _begin(
        self, connection: _Connection | None, statement: str
    ) -> tuple[_Connection, psycopg.Cursor[Any]]:
        """Begin a transaction, on a new connection if the old one is broken."""
        if connection is not None:
            with suppress(psycopg.OperationalError):
                return connection, connection.begin(statement)
        connection = _Connection(self.connect())
        connection.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', ?, false)",
            (f"{STALLED_SECONDS}s",),
        )
        # An acknowledged event is on the disk, whatever the default of the database is.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )
        return connection, connection.begin(statement)

    def check_open(self) -> None:
        """Raise StoreFailed if the store is closed, or was opened before this process was forked.

        A connection must not be used by two processes.
        """
        if self._is_closed:
            raise StoreFailed("the store is closed")
        if self._pid != os.getpid():
            raise StoreFailed("the store was opened before this process was forked: open it here")

    def clean(self) -> bool:
        """Do nothing: PostgreSQL frees the space of deleted rows itself."""
        return True

    def until_compaction(self) -> float | None:
        """Return None: nothing waits to be rewritten."""
        return None

    def compact(self) -> None:
        """Rewrite the tables without what was deleted."""
        self.check_open()
        with self.failures("written"), self.connect() as connection:
            connection.execute(f"VACUUM FULL {', '.join(TABLES)}")

    def size(self) -> int:
        """Return the bytes of all tables."""
        tables = ", ".join(f"'{table}'" for table in TABLES)
        with self.reading() as reader:
            statement = (
                f"SELECT sum(pg_total_relation_size(t))::bigint FROM unnest(ARRAY[{tables}]) t"
            )
            ((size,),) = reader.connection.execute(statement).fetchall()
        return int(size)

    def check(self) -> list[str]:
        """Return nothing: PostgreSQL has tools of its own for that."""
        return []

    def close(self) -> None:
        """Close all connections; those that read are closed when they have done so."""
        self._is_closed = True
        with suppress(Empty):
            while True:
                self._readers.get_nowait().close()
        with self._writing:
            if self._writer is not None:
                self._writer.close()


class SharedWriter(Writer):
    """The statements that several servers need.

    The features of erased samples stay until every server has unlearned them. A server that has
    not reported for some time no longer counts; it loads its models anew when it is back.
    """

    def __init__(
        self,
        connection: _Batch,
        models: Sequence[int],
        last: Sequence[tuple[int, int | None, int | None]],
    ) -> None:
        super().__init__(connection)
        self._last = {model: (event or 0, n_rows or 0) for model, event, n_rows in last}
        self.missing = {*models} - {*self._last}

    def last_event(self, model: int) -> tuple[int, int]:
        """Return the last event before this transaction, and the number of rows after it."""
        return self._last.get(model) or super().last_event(model)

    def _erase_contents(self, model: int, event: int, numbers: Sequence[int]) -> None:
        models, events = [model] * len(numbers), [event] * len(numbers)
        self._insert("erasures", {"model": models, "event": events, "sample": numbers})

    def set_cleaning(self, *, is_due: bool) -> None:
        # PostgreSQL needs none, and erasures of different models would wait for each other.
        pass

    def drop_requests(self, before: float, n_kept: int) -> None:
        # Those that another server has locked are dropped next time: here their models are not
        # locked, so two servers might wait for each other's rows.
        self.connection.execute(
            "DELETE FROM requests WHERE (model, key) IN (SELECT model, key FROM requests "
            "WHERE time < ? AND event + ? <= (SELECT max(event) FROM events "
            "WHERE events.model = requests.model) FOR UPDATE OF requests SKIP LOCKED)",
            (before, n_kept),
        )

    def report(self, server: str, events: Mapping[int, int]) -> set[int]:
        """Record the events of models that a server has published; return those that are new."""
        known = self.connection.execute("SELECT model FROM servers WHERE server = ?", (server,))
        new = {*events} - {model for (model,) in known}
        self.connection.execute(
            "INSERT INTO servers (server, model, event, seen) "
            f"SELECT ?, model, event, {_NOW} "
            "FROM unnest(?::BIGINT[], ?::BIGINT[]) AS now (model, event) "
            "ON CONFLICT (server, model) "
            "DO UPDATE SET event = excluded.event, seen = excluded.seen",
            (server, [*events], [*events.values()]),
        )
        return new

    def drop_silent_servers(self, seconds: float) -> None:
        """Forget servers that have not reported for this long."""
        self.connection.execute(f"DELETE FROM servers WHERE seen < {_NOW} - ?", (seconds,))

    def drop_server(self, server: str) -> None:
        """Forget a server that ends."""
        self.connection.execute("DELETE FROM servers WHERE server = ?", (server,))

    def finish_erasures(self) -> None:
        """Delete the content of erased samples that all servers have unlearned."""
        # One server at a time, or two might wait for each other's rows.
        lock = self.connection.execute("SELECT pg_try_advisory_xact_lock(?)", (_ERASING_LOCK,))
        if not lock.fetchone()[0]:
            return
        # One statement, since another server may report between two.
        self.connection.execute(
            "WITH passed AS (DELETE FROM erasures WHERE NOT EXISTS (SELECT 1 FROM servers WHERE "
            "servers.model = erasures.model AND servers.event < erasures.event) RETURNING sample) "
            "DELETE FROM contents WHERE sample IN (SELECT sample FROM passed)"
        )


class _Connection:
    """A connection that takes question marks for values."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.pid = connection.info.backend_pid

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        marked = statement.replace("?", "%s").encode()
        return self._connection.execute(marked, values or None, binary=True)

    def begin(self, statement: str) -> psycopg.Cursor[Any]:
        """Begin a transaction; a connection that fails or is interrupted is closed.

        It would stay within a transaction that no one ends.
        """
        try:
            return self.execute_all([statement])
        except BaseException:
            self.close()
            raise

    def nothing(self) -> psycopg.Cursor[Any]:
        """Return a cursor without rows."""
        return self._connection.cursor()

    def execute_all(self, statements: Sequence[str]) -> psycopg.Cursor[Any]:
        """Execute statements with their values, in one message; return the rows of the last."""
        cursor = self._connection.execute("; ".join(statements).encode())
        while cursor.nextset():
            pass
        return cursor

    def fill_in(self, statement: str, values: Sequence[Any]) -> str:
        """Return a statement with its values in place of the question marks."""
        first, *rest = statement.split("?")
        pairs = zip(map(self._literal, values), rest, strict=True)
        return first + "".join(text for pair in pairs for text in pair)

    def _literal(self, value: Any) -> str:
        # The driver needs longer for these, which are most of all.
        if type(value) is int:
            return str(value)
        if type(value) is bytes:
            return f"E'\\\\x{value.hex()}'"
        if value is None:
            return "NULL"
        return Literal(value).as_string(self._connection)

    def end(self, statement: str) -> bool:
        """End the transaction, if there is one; return False if the connection is broken."""
        try:
            if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._connection.execute(statement.encode())
        except psycopg.Error:
            self._connection.close()
            return False
        return not self._connection.closed

    def close(self) -> None:
        self._connection.close()


class _Batch:
    """Statements that are sent in one message, before rows are read or with the commit.

    So a transaction has few round trips, in which it would hold the locks of its models. And
    PostgreSQL begins a message when all of it is there: a server that stops in between is idle
    in its transaction, which times out.
    """

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._nothing = connection.nothing()
        self._waiting: list[str] = []
        self._size = 0

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        if any(type(value) is bytes and len(value) > MAX_LITERAL for value in values):
            self.send()
            return self._connection.execute(statement, values)
        self._waiting.append(self._connection.fill_in(statement, values))
        self._size += len(self._waiting[-1])
        has_rows = statement.startswith("SELECT") or " RETURNING " in statement
        return self.send() if has_rows or self._size > MAX_MESSAGE else self._nothing

    def send(self) -> psycopg.Cursor[Any]:
        """Execute what waits, and return the rows of the last statement."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        return self._connection.execute_all(waiting) if waiting else self._nothing


def _translate(statement: str) -> str:
    for ours, theirs in _TYPES.items():
        statement = statement.replace(ours, theirs)
    return statement


def _without_password(url: str) -> str:
    """Return an address for messages; a message about a wrong one must not repeat it."""
    try:
        found = conninfo_to_dict(url)
    except psycopg.Error:
        found = {"port": "invalid"}
    host, port = found.get("host", "localhost"), str(found.get("port", 5432))
    # A password takes the place of a port where the user or the host is missing.
    if not port.replace(",", "").isdigit():
        raise ValueError(
            "the address of a store must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE, but has "
            "another form"
        )
    return f"postgresql://{host}:{port}/{found.get('dbname', '')}"


def _one_line(error: Exception) -> str:
    # The rest may quote the statement, which holds what users have sent.
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((primary or str(error)).split())[:300]
