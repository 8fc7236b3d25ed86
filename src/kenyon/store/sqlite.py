"""A store's database in a file of SQLite."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from kenyon.store.errors import StoreFailed
from kenyon.store.reading import Reader
from kenyon.store.schema import MIGRATIONS
from kenyon.store.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

APPLICATION = 0x4B4E594E
"""Marks the file as a store, in SQLite's header."""

MIN_SQLITE = 3, 35

SMALL = 1 << 24
"""Bytes of a file that is rewritten before the receipt of an erasure: it takes a moment."""
COMPACTION_DELAY = 20.0
"""Seconds from an erasure until a larger file is rewritten, together with what follows."""
COMPACTION_SHARE = 20
"""The least time between two rewritings, as a multiple of the time that one takes."""

_CACHE_KB = 65536
_PATIENCE_MS = 10_000
_FAILURES = sqlite3.OperationalError, sqlite3.DatabaseError


class SqliteDatabase:
    """Connections to the file of a store: one that writes, and some that read.

    Parameters
    ----------
    path : Path
        The file; it is made if there is none.

    Raises
    ------
    StoreFailed
        If the file cannot be opened, is no store, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        if sqlite3.sqlite_version_info < MIN_SQLITE:
            needed = ".".join(map(str, MIN_SQLITE))
            raise StoreFailed(f"a store needs SQLite {needed}, but has {sqlite3.sqlite_version}")
        self.name = str(path.parent)
        self.path = path
        self._readers: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._writing = threading.Lock()
        self._is_closed, self._pid = False, os.getpid()
        self._due_since: float | None = None
        self._next_compaction = 0.0
        with self.failures("opened"):
            self._writer = self._connect()
            try:
                version = self._check_version()
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute("PRAGMA synchronous = FULL")
                self._writer.execute("PRAGMA secure_delete = ON")
                self._migrate(version)
                # SQLite opens a file that it may not write for reading; only a write tells.
                with self.writing():
                    self._writer.execute("UPDATE cleaning SET is_due = is_due")
            except BaseException:
                self._writer.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        # Every connection is used by one thread at a time.
        connection = sqlite3.connect(
            self.path,
            timeout=_PATIENCE_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        return connection

    def _check_version(self) -> int:
        """Return the version of the tables; nothing is written to a file of something else."""
        ((application,),) = self._writer.execute("PRAGMA application_id").fetchall()
        ((version,),) = self._writer.execute("PRAGMA user_version").fetchall()
        ((n_tables,),) = self._writer.execute("SELECT count(*) FROM sqlite_master").fetchall()
        if application != APPLICATION and (n_tables or version or application):
            raise StoreFailed(f"{self.path} is a database, but not a store of Kenyon")
        if version > len(MIGRATIONS):
            raise StoreFailed(
                f"{self.path} has the version {version}, but this Kenyon reads versions up to "
                f"{len(MIGRATIONS)}: a newer Kenyon may read it"
            )
        return int(version)

    def _migrate(self, version: int) -> None:
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            with self.writing():
                for statement in filter(str.strip, script.split(";")):
                    self._writer.execute(statement)
                self._writer.execute(f"PRAGMA user_version = {number}")
                self._writer.execute(f"PRAGMA application_id = {APPLICATION}")

    @contextmanager
    def failures(self, what: str) -> Iterator[None]:
        """Turn SQLite's errors into StoreFailed."""
        try:
            yield
        except _FAILURES as error:
            raise StoreFailed(
                f"the store {self.path.parent} could not be {what}: {error}"
            ) from error

    @contextmanager
    def writing(self, models: Sequence[int] = ()) -> Iterator[Writer]:
        """Give the tables to change; all changes of the block are made, durably, or none.

        One process at a time has the file open, so there is nothing to lock for `models`.
        """
        connection = self._writer
        # Before the lock, which may stay locked for ever in a process that was forked.
        self.check_open()
        with self._writing, self.failures("written"):
            self.check_open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Writer(connection)
                connection.execute("COMMIT")
            except BaseException:
                # After some errors SQLite has rolled back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give the tables as they are at the first statement of the block."""
        with self.failures("read"):
            self.check_open()
            try:
                connection = self._readers.get_nowait()
            except Empty:
                connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
            try:
                connection.execute("BEGIN")
                yield Reader(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if self._is_closed:
                    connection.close()
                else:
                    self._readers.put(connection)

    def check_open(self) -> None:
        """Raise StoreFailed if the store is closed, or was opened before this process was forked.

        Only the thread that forks exists in a new process, and SQLite must not be used there.
        """
        if self._is_closed:
            raise StoreFailed("the store is closed")
        if self._pid != os.getpid():
            raise StoreFailed("the store was opened before this process was forked: open it here")

    def clean(self) -> bool:
        """Remove what was erased from the files; return False if readers prevent that.

        SQLite overwrites what it deletes. But stray copies remain in the log, and in pages from
        which SQLite moved rows earlier. So the log is emptied and the file rewritten, which takes
        seconds where it is large: then it waits a little and happens rarely.
        """
        if self.until_compaction() == 0:
            self._rewrite()
        with self._writing, self.failures("written"):
            # Changes of others wait meanwhile, so this must not wait for readers.
            self._writer.execute("PRAGMA busy_timeout = 0")
            try:
                found = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        ((is_busy, _, _),) = found
        return not is_busy

    def until_compaction(self) -> float | None:
        """Return the seconds until the file is rewritten by `clean`; None: nothing was erased."""
        with self._writing, self.failures("read"):
            ((is_due,),) = self._writer.execute("SELECT is_due FROM cleaning").fetchall()
            ((pages,),) = self._writer.execute("PRAGMA page_count").fetchall()
            ((size,),) = self._writer.execute("PRAGMA page_size").fetchall()
        now = time.monotonic()
        if not is_due:
            self._due_since = None
            return None
        self._due_since = now if self._due_since is None else self._due_since
        if pages * size <= SMALL:
            return 0.0
        return max(0.0, self._due_since + COMPACTION_DELAY - now, self._next_compaction - now)

    def compact(self) -> None:
        """Rewrite the file without the space that is free, and without stray copies."""
        self.check_open()
        self._rewrite()
        self.clean()

    def _rewrite(self) -> None:
        start = time.monotonic()
        with self._writing, self.failures("written"):
            self._writer.execute("VACUUM")
            # Before anyone can write: an erasure after this needs a rewriting of its own.
            Writer(self._writer).set_cleaning(is_due=False)
        end = time.monotonic()
        self._next_compaction = end + COMPACTION_SHARE * (end - start)

    def size(self) -> int:
        """Return the bytes of all files in the folder of the store."""
        files = [path for path in self.path.parent.rglob("*") if path.is_file()]
        # That file is memory that connections share; it is gone when the store is closed.
        return sum(path.stat().st_size for path in files if not path.name.endswith("-shm"))

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        with self.reading() as reader:
            found = reader.connection.execute("PRAGMA integrity_check").fetchall()
        return [text for (text,) in found if text != "ok"]

    def close(self) -> None:
        """Close all connections; those that read are closed when they have done so."""
        self._is_closed = True
        with suppress(Empty):
            while True:
                self._readers.get_nowait().close()
        with self._writing:
            self._writer.close()
