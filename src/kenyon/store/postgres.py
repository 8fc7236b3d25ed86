"""A store's database in PostgreSQL, which several servers may use at once."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kenyon.store.errors import Conflict, StoreFailed
from kenyon.store.tables import MIGRATIONS, TABLES, Reader, Writer

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
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
            if version > len(MIGRATIONS):
                raise StoreFailed(
                    f"{self.name} has the version {version}, but this Kenyon reads versions up to "
                    f"{len(MIGRATIONS)}: a newer Kenyon may read it"
                )
            for script in MIGRATIONS[version:]:
                for statement in filter(str.strip, script.split(";")):
                    execute(_translate(statement))
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
        with self._writing, self.failures("written"):
            self.check_open()
            connection = self._writer = self._begin(self._writer, "BEGIN")
            try:
                writer = SharedWriter(connection)
                if models:
                    found = connection.execute(
                        "SELECT model FROM models WHERE model = ANY(?) ORDER BY model FOR UPDATE",
                        ([*models],),
                    )
                    writer.missing = {*models} - {model for (model,) in found}
                yield writer
                connection.execute(f"NOTIFY {CHANNEL}; COMMIT")
            except BaseException:
                if not connection.roll_back():
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
            connection = self._begin(idle, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield Reader(connection)
            finally:
                if self._is_closed:
                    connection.close()
                elif connection.roll_back():
                    self._readers.put(connection)

    def _begin(self, connection: _Connection | None, statement: str) -> _Connection:
        """Begin a transaction, on a new connection if the old one is broken."""
        if connection is not None:
            try:
                connection.execute(statement)
            except psycopg.OperationalError:
                connection.close()
            else:
                return connection
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
        connection.execute(statement)
        return connection

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
        """Rewrite the tables of contents and samples without what was deleted."""
        with self.failures("written"), self.connect() as connection:
            connection.execute("VACUUM FULL contents, samples, requests")

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

    def _erase_contents(self, model: int, event: int, numbers: Sequence[int]) -> None:
        rows = [(model, event, number) for number in numbers]
        self._insert("erasures (model, event, sample)", rows)

    def set_cleaning(self, *, is_due: bool) -> None:
        # PostgreSQL needs none, and erasures of different models would wait for each other.
        pass

    def report(self, server: str, events: Mapping[int, int]) -> set[int]:
        """Record the events of models that a server has published; return those that are new."""
        now = self._now()
        known = self.connection.execute("SELECT model FROM servers WHERE server = ?", (server,))
        new = {*events} - {model for (model,) in known}
        for model, event in events.items():
            self.connection.execute(
                "INSERT INTO servers (server, model, event, seen) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (server, model) "
                "DO UPDATE SET event = excluded.event, seen = excluded.seen",
                (server, model, event, now),
            )
        return new

    def drop_silent_servers(self, seconds: float) -> None:
        """Forget servers that have not reported for this long."""
        self.connection.execute("DELETE FROM servers WHERE seen < ?", (self._now() - seconds,))

    def drop_server(self, server: str) -> None:
        """Forget a server that ends."""
        self.connection.execute("DELETE FROM servers WHERE server = ?", (server,))

    def finish_erasures(self) -> None:
        """Delete the content of erased samples that all servers have unlearned."""
        # One server at a time, or two might wait for each other's rows.
        lock = self.connection.execute("SELECT pg_try_advisory_xact_lock(?)", (_ERASING_LOCK,))
        if not lock.fetchone()[0]:
            return
        passed = (
            "NOT EXISTS (SELECT 1 FROM servers WHERE servers.model = erasures.model "
            "AND servers.event < erasures.event)"
        )
        self.connection.execute(
            f"DELETE FROM contents WHERE sample IN (SELECT sample FROM erasures WHERE {passed})"
        )
        self.connection.execute(f"DELETE FROM erasures WHERE {passed}")

    def _now(self) -> float:
        # The clocks of servers may differ.
        statement = "SELECT extract(epoch FROM clock_timestamp())::float8"
        ((now,),) = self.connection.execute(statement).fetchall()
        return float(now)


class _Connection:
    """A connection that takes question marks for values."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.pid = connection.info.backend_pid

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        return self._connection.execute(statement.replace("?", "%s").encode(), values or None)

    def roll_back(self) -> bool:
        """End the transaction, if there is one; return False if the connection is broken."""
        try:
            if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._connection.close()
            return False
        return not self._connection.closed

    def close(self) -> None:
        self._connection.close()


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
    return " ".join(str(error).split())[:300]
