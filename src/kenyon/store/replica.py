"""A model in this process: its ledger, its classes and the thread of its classifier."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kenyon.store.committer import Waiting
from kenyon.store.errors import StoreFailed
from kenyon.store.following import follow
from kenyon.store.ledger import load_ledger
from kenyon.store.updater import Updater

if TYPE_CHECKING:
    from kenyon.circuit.plain_labels import Label
    from kenyon.store.changes import Committed
    from kenyon.store.committer import Committer
    from kenyon.store.database import Database
    from kenyon.store.ledger import Ledger
    from kenyon.store.reading import Reader
    from kenyon.store.snapshots import Snapshots
    from kenyon.store.spec import Spec


class Summary:
    """The classes of a model after its last durable event."""

    def __init__(self, ledger: Ledger, window: int | None) -> None:
        self.event = ledger.event
        self.settings = ledger.state.settings
        self._labels, self._counts = ledger.labels, ledger.counts_within(window)

    @cached_property
    def counts(self) -> dict[Label, int]:
        """The number of samples of each class, sorted by label."""
        numbers = np.flatnonzero(self._counts).tolist()
        return dict(sorted((self._labels[i], int(self._counts[i])) for i in numbers))

    @property
    def n_samples(self) -> int:
        """The number of samples of all classes."""
        return int(self._counts.sum())


class Replica:
    """The ledger of a model, its classes, and the thread that keeps its classifier up to date.

    Parameters
    ----------
    number : int
    name : str
    spec : Spec
    database : Database
    committer : Committer
    snapshots : Snapshots
    """

    def __init__(
        self,
        number: int,
        name: str,
        spec: Spec,
        database: Database,
        committer: Committer,
        snapshots: Snapshots,
    ) -> None:
        self.number = number
        self.name = name
        self.spec = spec
        self.snapshots = snapshots
        self._database, self._committer = database, committer
        # The committer alone uses the ledger; it holds what is being written, too.
        self._ledger: Ledger | None = None
        self._summary: Summary | None = None
        self._updater: Updater | None = None
        self._lock = threading.Lock()
        self.is_deleted = False
        """The committer writes nothing for it any more."""
        self._is_closed = False

    def summary(self) -> Summary:
        """Return the classes after the last durable event."""
        summary = self._summary
        # The thread of the model may have loaded what the follower has not noticed yet.
        if summary is None or summary.event < (self.progress or 0):
            with self._database.reading() as reader:
                found = Summary(load_ledger(reader, self.number), self.spec.window)
            with self._lock:
                # The committer may have stored a later one.
                if self._summary is None or self._summary.event < found.event:
                    self._summary = found
                summary = self._summary
        return summary

    def updater(self) -> Updater:
        """Return the thread that keeps the classifier up to date; the first call starts it."""
        self._database.check_open()
        updater = self._updater
        if updater is None:
            with self._lock:
                if self._is_closed:
                    raise StoreFailed("the store is closed")
                if self._updater is None:
                    self._updater = Updater(self._database, self.number, self.spec, self.snapshots)
                updater = self._updater
        return updater

    @property
    def n_behind(self) -> int:
        """The number of samples that are durable and wait to be learned."""
        return 0 if self._updater is None else self._updater.n_rows

    @property
    def progress(self) -> int | None:
        """The event that this process has published, or None if the model is not loaded."""
        updater = self._updater
        published = None if updater is None else updater.published
        return None if published is None else published.event

    def close(self) -> None:
        """End the thread of the model, after it has written a snapshot."""
        with self._lock:
            self._is_closed = True
            updater = self._updater
        if updater is not None:
            updater.close()

    # For the committer alone.

    def ledger(self, reader: Reader) -> Ledger:
        """Return the ledger, which is read if need be."""
        if self._ledger is None:
            self._ledger = load_ledger(reader, self.number)
            with self._lock:
                # Events that were written meanwhile have not reached the thread of the model.
                if self._updater is not None:
                    self._updater.reload()
        return self._ledger

    def forget_ledger(self) -> None:
        """Read the ledger again, since a transaction was not written."""
        self._ledger = None

    def catch_up(self, reader: Reader) -> list[Committed]:
        """Return the events that other servers have written."""
        if self.is_deleted:
            return []
        found = follow(reader, self.number, self.spec.n_features, self.ledger(reader))
        if found is None:
            self.forget_ledger()
            self.ledger(reader)
        return found or []

    def summarise(self) -> None:
        """Publish the classes after the last durable event."""
        if self._ledger is not None:
            with self._lock:
                self._summary = Summary(self._ledger, self.spec.window)

    def accept(self, committed: Committed) -> None:
        """Take an event that is durable; events come in their order."""
        if committed.is_erasure:
            self.snapshots.files.erase(committed.event)
        with self._lock:
            if self._updater is not None:
                self._updater.add(committed)

    # For the thread that follows other servers.

    def follow(self, event: int) -> None:
        """Let the model catch up with an event that another server has written."""
        ledger, summary = self._ledger, self._summary
        if ledger is not None:
            is_behind = ledger.event < event
        else:
            # A model that is loaded has its classes in memory, too, should the database go away.
            # Of others, what is not known here is read when it is asked for.
            is_stale = summary is not None and summary.event < event
            is_behind = self.progress is not None or is_stale
        if is_behind:
            self._committer.submit(Waiting(self, None, "", None, b"", Future()))

    def reload(self) -> None:
        """Load the model anew."""
        self.updater().reload()
