"""One thread for each model: it changes the model by the events, and publishes its state."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np

from kenyon.store.errors import StoreFailed
from kenyon.store.loading import load
from kenyon.store.published import Published, count_spare_threads, publish
from kenyon.store.replay import Erased, change, learn, read_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.classifier import FlyClassifier
    from kenyon.store.changes import Committed
    from kenyon.store.database import Database
    from kenyon.store.loading import Loaded
    from kenyon.store.snapshots import Snapshots
    from kenyon.store.spec import Spec

INTERVAL = 0.05
"""Seconds between two publications, if no caller waits for an event; more where they take long."""
SNAPSHOT_ROWS = 20_000
"""Rows after which a new snapshot is due: replaying them takes about a second."""
SNAPSHOT_SECONDS = 2.0
"""The least time between two snapshots."""
MAX_SNAPSHOT_SECONDS = 60.0
"""The time between two attempts while the disk is full."""
RETRY_SECONDS = 1.0

log = logging.getLogger("kenyon.store")


class Updater:
    """Keeps the classifier of one model up to date with its events.

    Readers use `published`, whose classifier never changes: so learning never blocks them.

    Parameters
    ----------
    database : Database
    model : int
    spec : Spec
    snapshots : Snapshots
    """

    def __init__(self, database: Database, model: int, spec: Spec, snapshots: Snapshots) -> None:
        self._database, self._model, self._spec = database, model, spec
        self._snapshots = snapshots
        self._events: deque[Committed] = deque()
        self._changed = threading.Condition()
        self._waiters: list[tuple[int, Future[Published]]] = []
        self._listeners: list[Callable[[Published], object]] = []
        self._is_closed = self._is_finished = self._must_load = False
        self._published: Published | None = None
        self._classifier: FlyClassifier | None = None
        self._event = 0
        self._busy = 0.0
        self._n_since_snapshot = 0
        self._next_snapshot, self._snapshot_pause = 0.0, SNAPSHOT_SECONDS
        self._saving: threading.Thread | None = None
        self._has_no_snapshot = True
        self.n_rows = 0
        self.error: Exception | None = None
        """Why the model could not be brought up to date; it is tried again."""
        self.false_alarms: set[float] = set()
        """The rates whose thresholds of novelty are computed for each publication."""
        self.recovery: Loaded | None = None
        """What the model was made from."""
        self._thread = threading.Thread(target=self._run, name="kenyon-update", daemon=True)
        self._thread.start()

    @property
    def published(self) -> Published | None:
        """The latest published state; None while the model is loaded."""
        return self._published

    def add(self, committed: Committed) -> None:
        """Queue an event for the thread; the committer calls this in the order of events."""
        with self._changed:
            self._events.append(committed)
            self.n_rows += committed.n_rows
            self._changed.notify()

    def reload(self) -> None:
        """Load the model anew, since events may be missing."""
        with self._changed:
            self._must_load = True
            self._changed.notify()

    def when(self, event: int) -> Future[Published]:
        """Return a future that is done when this event, or a later one, is published."""
        future: Future[Published] = Future()
        with self._changed:
            published = self._published
            if published is None or published.event < event:
                if self._is_finished:
                    future.set_exception(StoreFailed("the store is closed"))
                    return future
                self._waiters.append((event, future))
                future.add_done_callback(self._forget_cancelled)
                self._changed.notify()
                return future
        future.set_result(published)
        return future

    def listen(self, listener: Callable[[Published], object]) -> Callable[[], None]:
        """Call a function after each publication; return a function that ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Apply what waits, write a snapshot if that saves work, and end the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over():
            try:
                if self._classifier is None:
                    self._load()
                    self.error = None
                events = self._take()
                start = time.monotonic()
                self._apply(events)
                self._publish()
                self._busy = time.monotonic() - start
                self.error = None
            except Exception as error:
                # A traceback helps with a fault in the code, not with a failing disk or network.
                # The message of a fault may quote a label, which a server must not log.
                is_fault = not isinstance(error, StoreFailed)
                log.error(
                    "a model could not be updated; it is loaded again: %s",
                    type(error).__name__ if is_fault else error,
                    exc_info=error if is_fault else None,
                )
                self.error, self._classifier = error, None
                self._fail_waiters(f"the model could not be updated: {error}")
                self._pause()
            self._save_if_due()
        self._finish()

    def _pause(self) -> None:
        """Wait before the next attempt, or until the store is closed."""
        end = time.monotonic() + RETRY_SECONDS
        with self._changed:
            while not self._is_closed and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)

    def _forget_cancelled(self, future: Future[Published]) -> None:
        if future.cancelled():
            with self._changed:
                self._waiters = [each for each in self._waiters if each[1] is not future]

    def _fail_waiters(self, reason: str) -> None:
        with self._changed:
            waiters, self._waiters = self._waiters, []
        for _, future in waiters:
            if future.set_running_or_notify_cancel():
                future.set_exception(StoreFailed(reason))

    def _is_over(self) -> bool:
        return self._is_closed and (not self._events or self.error is not None)

    def _load(self) -> None:
        """Make the classifier from the present log."""
        self._must_load = False
        with self._database.reading() as reader:
            loaded = load(reader, self._model, self._spec, self._snapshots)
        self.recovery = loaded if self.recovery is None else self.recovery
        self._classifier, self._event = loaded.classifier, loaded.event
        self._n_since_snapshot = loaded.n_replayed
        self._has_no_snapshot = loaded.snapshot is None
        self._publish()

    def _take(self) -> list[Committed]:
        """Wait for events, and until the next publication is due; return them."""
        with self._changed:
            while not (self._events or self._must_load or self._is_closed):
                if not self._changed.wait(self._until_snapshot()):
                    return []
            due = time.monotonic() + max(INTERVAL, self._busy)
            while not (self._is_closed or self._is_awaited()):
                if (left := due - time.monotonic()) <= 0 or not self._changed.wait(left):
                    break
            events = [*self._events]
            self._events.clear()
            self.n_rows = 0
        # Those before are in the log that was loaded.
        return [each for each in events if each.event > self._event]

    def _is_awaited(self) -> bool:
        """Return whether a caller waits for an event that is here."""
        last = self._events[-1].event if self._events else self._event
        return any(event <= last for event, _ in self._waiters)

    def _apply(self, events: list[Committed]) -> None:
        assert self._classifier is not None
        plain: list[Committed] = []
        try:
            if self._must_load:
                self._load()
            for committed in events:
                # An earlier event may have been read from the log, together with this one.
                if committed.event <= self._event:
                    continue
                if committed.event > self._event + len(plain) + 1:
                    # Events are missing here, but not in the log.
                    plain = []
                    self._load()
                    continue
                if self._is_plain(committed):
                    plain.append(committed)
                    continue
                self._learn(plain)
                plain = []
                self._apply_one(committed)
            self._learn(plain)
        except Erased:
            # A later event erased samples that this one needs; the log has what is left.
            self._load()

    def _is_plain(self, committed: Committed) -> bool:
        return committed.added is not None and not len(committed.delta.removed)

    def _learn(self, events: list[Committed]) -> None:
        """Learn the samples of neighbouring events at once."""
        if not events:
            return
        assert self._classifier is not None
        features = [committed.added for committed in events if committed.added is not None]
        names = [
            committed.labels[i]
            for committed in events
            for i in committed.delta.added_labels.tolist()
        ]
        n_threads = count_spare_threads(self._classifier.n_threads)
        learn(self._classifier, np.concatenate(features), names, n_threads)
        self._event = events[-1].event
        self._n_since_snapshot += len(names)

    def _apply_one(self, committed: Committed) -> None:
        assert self._classifier is not None
        delta, classifier = committed.delta, self._classifier
        is_known = delta.renamed is not None or committed.file is not None
        if self._spec.window is not None or (delta.parts_changed and not is_known):
            self._load()
            return
        with self._database.reading() as reader:
            change(
                reader,
                self._model,
                classifier,
                delta,
                committed.labels,
                committed.added,
                committed.removed,
            )
        if committed.file is not None:
            classifier.merge(read_file(committed.file, "the file")[0])
        if delta.settings is not None:
            classifier.set_params(**self._spec.parameters_with(delta.settings))
        self._event = committed.event
        self._n_since_snapshot += len(delta.removed) + len(delta.added)
        self._has_no_snapshot |= committed.is_erasure

    def _publish(self) -> None:
        assert self._classifier is not None
        before = self._published
        if before is None or before.event != self._event:
            published = publish(self._event, self._classifier, self.false_alarms)
            with self._changed:
                self._published = published
        else:
            published = before
        with self._changed:
            ready = [each for each in self._waiters if each[0] <= published.event]
            self._waiters = [each for each in self._waiters if each[0] > published.event]
        for _, future in ready:
            if future.set_running_or_notify_cancel():
                future.set_result(published)
        if published is not before:
            for listener in [*self._listeners]:
                _tell(listener, published)

    def _is_snapshot_due(self) -> bool:
        """Return whether a snapshot would save work at the next start."""
        if self.error is not None or self._published is None or self._published.classifier is None:
            return False
        return self._n_since_snapshot >= SNAPSHOT_ROWS or self._has_no_snapshot

    def _until_snapshot(self) -> float | None:
        """Return the seconds until a snapshot that is due may be written; None if none is."""
        if not self._is_snapshot_due():
            return None
        return max(0.1, self._next_snapshot - time.monotonic())

    def _save_if_due(self) -> None:
        """Begin to write a snapshot, in a thread of its own, if one is due."""
        published = self._published
        is_saving = self._saving is not None and self._saving.is_alive()
        is_early = time.monotonic() < self._next_snapshot
        if published is None or is_early or is_saving or not self._is_snapshot_due():
            return
        self._n_since_snapshot, self._has_no_snapshot = 0, False
        self._saving = threading.Thread(
            target=self._save, args=(published,), name="kenyon-snapshot"
        )
        self._saving.start()

    def _save(self, published: Published) -> None:
        is_saved = self._snapshots.save(published)
        self._snapshot_pause = (
            SNAPSHOT_SECONDS if is_saved else min(2 * self._snapshot_pause, MAX_SNAPSHOT_SECONDS)
        )
        self._next_snapshot = time.monotonic() + self._snapshot_pause
        if not is_saved:
            with self._changed:
                self._has_no_snapshot = True
                self._changed.notify()

    def _finish(self) -> None:
        """Write the last snapshot, and tell callers who still wait."""
        if self._saving is not None:
            self._saving.join()
        is_worth = self._n_since_snapshot or self._has_no_snapshot
        if self._published is not None and self.error is None and is_worth:
            self._snapshots.save(self._published)
        with self._changed:
            self._is_finished = True
        self._fail_waiters("the store is closed")


def _tell(listener: Callable[[Published], object], published: Published) -> None:
    try:
        listener(published)
    except Exception:
        log.exception("a listener failed")
