"""Several servers on one database: each follows the events of the others."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kenyon.store.errors import StoreFailed
from kenyon.store.postgres import CHANNEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from kenyon.store.postgres import PostgresDatabase

POLL_SECONDS = 0.5
"""How long a notification may be lost before it is noticed."""
PAUSE_SECONDS = 0.02
"""The least time between two looks: notifications may come with every commit of another server."""
REPORT_SECONDS = 1.0
SILENT_SECONDS = 60.0
"""Servers that have not reported for this long do not delay erasure."""
RETRY_SECONDS = 0.5

log = logging.getLogger("kenyon.store")


class Follower:
    """The thread that notices the changes of other servers, and reports what this one has done.

    Parameters
    ----------
    database : PostgresDatabase
    refresh : callable
        Reads the models and keys, and lets models catch up with their events.
    progress : callable
        Returns, for each model that is loaded, its number and the event that it has published.
    reload : callable
        Loads models anew, given their numbers: content that they need may have been erased.
    """

    def __init__(
        self,
        database: PostgresDatabase,
        refresh: Callable[[], object],
        progress: Callable[[], dict[int, int]],
        reload: Callable[[set[int]], object],
    ) -> None:
        self.server = secrets.token_hex(8)
        self._database = database
        self._refresh, self._progress, self._reload = refresh, progress, reload
        self._reported: dict[int, int] = {}
        self._is_closed, self._is_failing = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="kenyon-follow", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, so that erasure no longer waits for this server."""
        self._is_closed.set()
        with suppress(StoreFailed), self._database.writing():
            # The notification that each transaction sends wakes the thread.
            pass
        self._thread.join()
        try:
            with self._database.writing() as writer:
                writer.drop_server(self.server)
                writer.finish_erasures()
        except StoreFailed as error:
            log.warning("this server could not sign off: %s", error)

    def _run(self) -> None:
        while not self._is_closed.is_set():
            self._follow_or_fail()

    def _follow_or_fail(self) -> None:
        try:
            self._follow()
        except StoreFailed as error:
            if not self._is_failing and not self._is_closed.is_set():
                log.warning("the events of other servers cannot be read: %s", error)
            self._is_failing = True
        except Exception:
            log.exception("the events of other servers could not be read")
        self._is_closed.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        """Wait for notifications on a connection until it fails."""
        connection = self._database.connect()
        try:
            connection.execute(f"LISTEN {CHANNEL}")
            due = 0.0
            while not self._is_closed.is_set():
                next_look = time.monotonic() + PAUSE_SECONDS
                self._refresh()
                if self._is_failing:
                    log.warning("the events of other servers are read again")
                    self._is_failing = False
                if time.monotonic() >= due:
                    self._report()
                    due = time.monotonic() + REPORT_SECONDS
                with self._database.failures("followed"):
                    self._wait(connection)
                self._is_closed.wait(max(0.0, next_look - time.monotonic()))
        finally:
            connection.close()

    def _wait(self, connection: Connection[Any]) -> None:
        """Wait until another server has changed something, or until it is time to look."""
        notifications = connection.notifies(timeout=POLL_SECONDS)
        for each in notifications:
            # What this server has written itself is known here.
            if each.pid != self._database.writer_pid or self._is_closed.is_set():
                break
        notifications.close()

    def _report(self) -> None:
        progress = self._progress()
        with self._database.writing() as writer:
            new = writer.report(self.server, progress)
            writer.drop_silent_servers(SILENT_SECONDS)
            writer.finish_erasures()
        # Those that were reported before, and are forgotten: this server was silent too long.
        lost = new & self._reported.keys()
        self._reported = progress
        if lost:
            self._reload(lost)
