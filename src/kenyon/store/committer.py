"""Group commit: one thread writes all requests that wait in one transaction."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from kenyon.store.changes import Change, write
from kenyon.store.errors import Conflict, NoSuchModel, QueueFull, StoreFailed
from kenyon.store.history import read_receipt
from kenyon.store.requests import Learn, Receipt

if TYPE_CHECKING:
    from concurrent.futures import Future

    from kenyon.store.changes import Committed
    from kenyon.store.database import Database
    from kenyon.store.reading import Reader
    from kenyon.store.replica import Replica
    from kenyon.store.requests import Request
    from kenyon.store.writing import Writer

MAX_WAITING = 4096
"""Requests that may wait for the disk."""
MAX_WAITING_ROWS = 1 << 17
MAX_GROUP = 1024
"""Requests in one transaction."""
MAX_GROUP_ROWS = 1 << 16
KEY_SECONDS = 86400.0 * 7
"""How long idempotency keys are kept."""
MIN_KEYS = 10_000
"""Events of a model whose idempotency keys are kept in any case: clocks may jump."""
CLEANING_SECONDS = 5.0
"""How long the receipt of an erasure waits for readers that keep erased content in the files."""
_CLEANING_PAUSE, _MAX_CLEANING_PAUSE = 0.005, 1.0
"""The first and the longest number of seconds between two attempts."""

log = logging.getLogger("kenyon.store")


class Waiting(NamedTuple):
    """A request that waits to be written; None only reads the events of other servers."""

    model: Replica
    request: Request | None
    who: str
    key: str | None
    digest: bytes
    """That of the request, if there is a key."""
    future: Future[Receipt]

    @property
    def n_rows(self) -> int:
        """The samples that it brings."""
        return len(self.request.labels) if isinstance(self.request, Learn) else 1


class Committer:
    """The thread that writes. A request's future is done when its event is durable.

    Requests that come while a transaction is written wait for the next one, which takes all of
    them: so the rate grows with the number of callers, although each waits for the disk.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[Waiting] = deque()
        self._n_rows = 0
        self._is_closed = False
        self._changed = threading.Condition()
        self.n_commits = 0
        self._keys_dropped = 0.0
        self._erasures: list[tuple[Future[Receipt], Receipt]] = []
        # A process that was killed may have left erased content in the log.
        self._next_cleaning: float | None = 0.0
        self._cleaning_ends, self._cleaning_pause = 0.0, _CLEANING_PAUSE
        self._thread = threading.Thread(target=self._run, name="kenyon-commit", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    def submit(self, waiting: Waiting) -> None:
        """Queue a request for the next transaction.

        Raises
        ------
        QueueFull
            If too many wait already.
        StoreFailed
            If the store is closed.
        """
        self._database.check_open()
        with self._changed:
            if self._is_closed:
                raise StoreFailed("the store is closed")
            if len(self._waiting) >= MAX_WAITING or self._n_rows > MAX_WAITING_ROWS:
                raise QueueFull(f"{len(self._waiting)} requests wait to be written: try again")
            self._waiting.append(waiting)
            self._n_rows += waiting.n_rows
            self._changed.notify()

    def clean(self) -> None:
        """Remove erased content from the database's log as soon as readers permit it."""
        with self._changed:
            self._next_cleaning = 0.0
            self._changed.notify()

    def close(self) -> None:
        """Write what waits, then end the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            if group:
                self._commit_or_fail(group)
            self._clean()
        self._clean(is_last=True)

    def _commit_or_fail(self, group: list[Waiting]) -> None:
        try:
            is_following = all(waiting.request is None for waiting in group)
            outcomes = self._follow(group) if is_following else self._write(group)
        except BaseException as error:
            # Nothing of the transaction was written, so the ledgers are read again.
            for waiting in group:
                waiting.model.forget_ledger()
            _fail(group, error)
            return
        for waiting, outcome in zip(group, outcomes, strict=True):
            self._settle(waiting, outcome)

    def _next_group(self) -> list[Waiting] | None:
        """Wait for requests, or until it is time to clean, and return them; None at the end."""
        group: list[Waiting] = []
        n_rows = 0
        with self._changed:
            while not group:
                while not self._waiting:
                    if self._is_closed:
                        return None
                    if not self._changed.wait(self._until_cleaning()):
                        return []
                while self._waiting and len(group) < MAX_GROUP and n_rows < MAX_GROUP_ROWS:
                    waiting = self._waiting.popleft()
                    self._n_rows -= waiting.n_rows
                    # A request that its caller has given up is not written.
                    if waiting.future.set_running_or_notify_cancel():
                        n_rows += waiting.n_rows
                        group.append(waiting)
        return group

    def _write(self, group: list[Waiting]) -> list[Committed | Receipt | Exception]:
        """Write the requests in one transaction; return what became of each."""
        now = time.time()
        models = sorted({each.model for each in group}, key=lambda model: model.number)
        with self._database.writing([model.number for model in models]) as writer:
            for model in models:
                model.is_deleted |= model.number in writer.missing
            followed = _catch_up(models, writer)
            outcomes = [_write(waiting, writer, now) for waiting in group]
            if abs(now - self._keys_dropped) > KEY_SECONDS / 100:
                writer.drop_requests(now - KEY_SECONDS, MIN_KEYS)
                self._keys_dropped = now
        _accept(models, followed)
        self.n_commits += 1
        return outcomes

    def _follow(self, group: list[Waiting]) -> list[Committed | Receipt | Exception]:
        """Take the events that other servers have written."""
        models = [*{waiting.model for waiting in group}]
        with self._database.reading() as reader:
            followed = _catch_up(models, reader)
        _accept(models, followed)
        return [Receipt(0)] * len(group)

    def _settle(self, waiting: Waiting, outcome: Committed | Receipt | Exception) -> None:
        """Tell the model and the caller of an event that is durable, or why there is none."""
        if isinstance(outcome, Exception):
            waiting.future.set_exception(outcome)
            return
        if isinstance(outcome, Receipt):
            waiting.future.set_result(outcome)
            return
        waiting.model.accept(outcome)
        if outcome.is_erasure:
            # The receipt says that the content is gone from the files, too.
            self._erasures.append((waiting.future, outcome.receipt))
            self._cleaning_ends = time.monotonic() + CLEANING_SECONDS
        else:
            waiting.future.set_result(outcome.receipt)

    def _until_cleaning(self) -> float | None:
        """Return the seconds until it is time to clean; None: there is nothing to do."""
        due = self._next_cleaning
        return None if due is None else max(0.0, due - time.monotonic())

    def _clean(self, *, is_last: bool = False) -> None:
        """Remove erased content from the database's log, which holds former pages.

        Readers can prevent that for a while. Other changes do not wait for it.
        """
        if self._until_cleaning() != 0 and not self._erasures and not is_last:
            return
        reason = "a reader still uses them"
        try:
            is_clean = self._database.clean()
            pause = self._database.until_compaction()
        except StoreFailed as error:
            is_clean, reason = False, str(error)
        if not is_clean:
            # Longer and longer, since a reader may take long.
            pause = self._cleaning_pause = min(2 * self._cleaning_pause, _MAX_CLEANING_PAUSE)
        else:
            self._cleaning_pause = _CLEANING_PAUSE
        self._next_cleaning = None if pause is None else time.monotonic() + pause
        if not is_clean and time.monotonic() < self._cleaning_ends and not is_last:
            return
        if not is_clean and self._erasures:
            log.warning("erased content is still in the files and will be removed: %s", reason)
        for future, receipt in self._erasures:
            future.set_result(receipt)
        self._erasures.clear()


def _catch_up(models: list[Replica], reader: Reader) -> list[tuple[Replica, Committed]]:
    """Return the events of other servers that are new here."""
    return [(model, each) for model in models for each in model.catch_up(reader)]


def _accept(models: list[Replica], followed: list[tuple[Replica, Committed]]) -> None:
    """Pass durable events to their models; callers that wait for one find its classes, too."""
    for model in models:
        model.summarise()
    for model, committed in followed:
        model.accept(committed)


def _write(waiting: Waiting, writer: Writer, now: float) -> Committed | Receipt | Exception:
    """Write one request, or return why it is impossible; other errors end the transaction."""
    model, request = waiting.model, waiting.request
    if model.is_deleted:
        return NoSuchModel(f"there is no model {model.name!r:.80}")
    if request is None:
        return Receipt(0)
    try:
        if waiting.key is not None:
            found = writer.request(model.number, waiting.key)
            if found is not None:
                return _repeat(model, found, waiting, writer)
        with writer.part():
            ledger = model.ledger(writer)
            event = ledger.event + 1
            change = Change(writer, model.number, model.spec, ledger, event, now, waiting.who)
            if waiting.key is not None:
                writer.add_request(model.number, waiting.key, event, waiting.digest, now)
            return write(request, change)
    except (KeyError, TypeError, ValueError) as error:
        return error


def _repeat(
    model: Replica,
    found: tuple[int, bytes | None],
    waiting: Waiting,
    writer: Writer,
) -> Receipt | Conflict:
    """Return the receipt of the first request with a key."""
    event, first_digest = found
    if first_digest is not None and first_digest != waiting.digest:
        return Conflict(f"the idempotency key {waiting.key!r:.80} was used for another request")
    return read_receipt(writer, model.number, event)._replace(repeated=True)


def _fail(group: list[Waiting], error: BaseException) -> None:
    described = error if isinstance(error, StoreFailed) else StoreFailed(f"not written: {error!r}")
    for waiting in group:
        if not waiting.future.done():
            waiting.future.set_exception(described)
