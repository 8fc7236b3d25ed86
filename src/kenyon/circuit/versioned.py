"""One memory, many threads."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kenyon.circuit.cache import Cache
from kenyon.circuit.forks import PerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.circuit.memory import Memory

    Change = Callable[[Memory], None]

_PATIENCE = 0.05
"""Seconds that a writer waits for readers to leave before it changes a copy instead."""


class Snapshot:
    """A memory that does not change while somebody reads it, and the cache of its model."""

    __slots__ = ("cache", "is_pinned", "memory", "n_readers")

    def __init__(self, memory: Memory, cache: Cache) -> None:
        self.memory = memory
        self.cache = cache
        self.n_readers = 0
        self.is_pinned = False

    @property
    def version(self) -> int:
        """The version of the memory."""
        return self.memory.version


class _Locks:
    """The locks of one memory in one process."""

    __slots__ = ("is_waiting", "no_readers", "state", "writer")

    def __init__(self) -> None:
        # Held by readers that come or leave, and during a change in place.
        self.state = threading.RLock()
        # Held by the thread that changes the memory.
        self.writer: Any = threading.RLock()
        # Gets an item from the last reader that leaves while the writer waits.
        self.no_readers: SimpleQueue[None] = SimpleQueue()
        self.is_waiting = False


class VersionedMemory:
    """A memory that many threads may read while another changes it.

    Readers see the memory before or after a change, never in between::

        with versioned.reading as snapshot: ...

    A change is made in place while there are no readers. Otherwise a copy is changed and replaces
    the memory; readers of the old version keep it.

    **Interrupts.** All locks are used through `with` and are implemented in C, so an exception of a
    signal handler never leaves one locked. A reader that is interrupted may stay registered. Then
    the next change is made in a copy, which has no readers. The same holds in a forked process for
    readers that were in other threads.
    """

    def __init__(self, memory: Memory) -> None:
        self._current = Snapshot(memory, Cache(memory.max_pending))
        self._locks = PerProcess(_Locks)

    @property
    def reading(self) -> AbstractContextManager[Snapshot]:
        """A context manager that gives the current snapshot."""
        return _Reading(self)

    def pinned(self) -> PinnedMemory:
        """Return the present memory, which never changes: the next change is made in a copy."""
        with self._locks.value.state:
            self._current.is_pinned = True
            return PinnedMemory(self._current)

    def change(self, change: Change) -> None:
        """Change the memory in place, if readers leave in time: for short changes."""
        locks = self._locks.value
        _check_not_changing(locks)
        with locks.writer:
            if not (self._current.memory.max_in_place and self._change_in_place(change, locks)):
                self._replace(change)

    def replace(self, change: Change) -> None:
        """Change a copy while others read, then replace the memory with it."""
        locks = self._locks.value
        _check_not_changing(locks)
        with locks.writer:
            self._replace(change)

    def _change_in_place(self, change: Change, locks: _Locks) -> bool:
        """Change the memory, or return False if readers do not leave in time."""
        current, deadline = self._current, 0.0
        while True:
            with locks.state:
                if current.is_pinned:
                    return False
                if not current.n_readers:
                    _apply(change, current.memory, current.cache)
                    return True
                locks.is_waiting = True
            now = time.monotonic()
            deadline = deadline or now + _PATIENCE
            try:
                locks.no_readers.get(timeout=max(0.0, deadline - now))
            except Empty:
                return False

    def _replace(self, change: Change) -> None:
        current = self._current
        memory = current.memory.copy()
        version = memory.version
        change(memory)
        # After the change: readers may have cached values meanwhile.
        cache = current.cache.branch()
        self._current = Snapshot(memory, cache)
        cache.updates.record(version, memory.version, memory.take_updates())


class PinnedMemory(VersionedMemory):
    """A memory that never changes: all readers have the same snapshot, without a lock."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._current = snapshot

    @property
    def reading(self) -> AbstractContextManager[Snapshot]:
        """A context manager that gives the snapshot."""
        return nullcontext(self._current)

    def pinned(self) -> PinnedMemory:
        """Return the same memory."""
        return self

    def change(self, change: Change) -> None:
        """Raise TypeError."""
        raise TypeError("this state of a model is pinned, so it cannot be changed")

    replace = change


def _apply(change: Change, memory: Memory, cache: Cache) -> None:
    memory.take_updates()  # those of a change that was interrupted
    version = memory.version
    change(memory)
    cache.updates.record(version, memory.version, memory.take_updates())


def _check_not_changing(locks: _Locks) -> None:
    """Raise RuntimeError if this thread is changing the memory."""
    if locks.writer._is_owned():
        raise RuntimeError(
            "a model cannot be changed by a signal handler while the same thread is changing it"
        )


class _Reading(AbstractContextManager[Snapshot]):
    __slots__ = ("_locks", "_snapshot", "_versioned")

    def __init__(self, versioned: VersionedMemory) -> None:
        self._versioned = versioned

    def __enter__(self) -> Snapshot:
        versioned = self._versioned
        self._locks = versioned._locks.value
        with self._locks.state:
            snapshot = self._snapshot = versioned._current
            snapshot.n_readers += 1
        return snapshot

    def __exit__(self, *_: object) -> None:
        locks, snapshot = self._locks, self._snapshot
        with locks.state:
            snapshot.n_readers -= 1
            if locks.is_waiting and not snapshot.n_readers:
                locks.is_waiting = False
                locks.no_readers.put(None)
