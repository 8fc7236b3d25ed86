"""One memory, many threads."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kenyon.circuit import forks
from kenyon.circuit.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.circuit.memory import Memory

    Change = Callable[[Memory], None]

_PATIENCE = 0.05
"""Seconds that a writer waits for readers to leave before it changes a copy instead."""


class Snapshot:
    """A memory that does not change while somebody reads it, and the cache of its model."""

    __slots__ = ("cache", "memory", "n_readers")

    def __init__(self, memory: Memory, cache: Cache) -> None:
        self.memory = memory
        self.cache = cache
        self.n_readers = 0

    @property
    def version(self) -> int:
        """The version of the memory."""
        return self.memory.version


class VersionedMemory:
    """A memory that many threads may read while another changes it.

    Readers see the memory before or after a change, never in between::

        with versioned.reading as snapshot: ...

    A change is made in place while there are no readers. Otherwise a copy is changed and replaces
    the memory; readers of the old version keep it.

    **Interrupts.** All locks are used through `with` and are implemented in C, so an exception of a
    signal handler never leaves one locked. A reader that is interrupted may stay registered. Then
    the next change is made in a copy, which has no readers.

    **Forks.** A process that is forked while other threads read and change the memory has it as it
    was before or after a change, see `kenyon.circuit.forks`.
    """

    def __init__(self, memory: Memory) -> None:
        self._current = Snapshot(memory, Cache(memory.max_pending))
        self._make_locks()
        forks.register(self)

    def _make_locks(self) -> None:
        # Held by readers that come or leave, and during a change in place.
        self._lock = threading.RLock()
        # Held by the thread that changes the memory.
        self._writer = threading.Lock()
        # Gets an item from the last reader that leaves while the writer waits.
        self._no_readers: SimpleQueue[None] = SimpleQueue()
        self._is_waiting = False

    @property
    def reading(self) -> _Reading:
        """A context manager that gives the current snapshot."""
        return _Reading(self)

    def change(self, change: Change) -> None:
        """Change the memory in place, if readers leave in time: for short changes."""
        with self._writer:
            if not (self._current.memory.max_in_place and self._change_in_place(change)):
                self._replace(change)

    def replace(self, change: Change) -> None:
        """Change a copy while others read, then replace the memory with it."""
        with self._writer:
            self._replace(change)

    def _change_in_place(self, change: Change) -> bool:
        """Change the memory, or return False if readers do not leave in time."""
        current, deadline = self._current, 0.0
        while True:
            with self._lock:
                if not current.n_readers:
                    _apply(change, current.memory, current.cache)
                    return True
                self._is_waiting = True
            now = time.monotonic()
            deadline = deadline or now + _PATIENCE
            try:
                self._no_readers.get(timeout=max(0.0, deadline - now))
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

    def hold(self) -> bool:
        """Wait for a change in place, and prevent others until `release`.

        Returns
        -------
        is_idle : bool
            Whether no other thread computes values for the cache. They cannot be computed until
            `release`, either.
        """
        self._lock.acquire()
        return self._current.cache.lock.acquire(blocking=False)

    def release(self, is_idle: bool) -> None:
        """Let others change the memory again."""
        if is_idle:
            self._current.cache.lock.release()
        self._lock.release()

    def restart(self, is_idle: bool) -> None:
        """Let the threads of this process use the memory, after a fork during `hold`.

        Locks of threads that do not exist here are replaced, and their readers are not counted.
        Cached values stay, unless another thread was computing some.
        """
        current = self._current
        cache = current.cache.restarted() if is_idle else Cache(current.memory.max_pending)
        self._make_locks()
        self._current = Snapshot(current.memory, cache)

    def __reduce__(self) -> tuple[Any, ...]:
        with self.reading as snapshot:
            return VersionedMemory, (snapshot.memory.copy(),)


def _apply(change: Change, memory: Memory, cache: Cache) -> None:
    memory.take_updates()  # those of a change that was interrupted
    version = memory.version
    change(memory)
    cache.updates.record(version, memory.version, memory.take_updates())


class _Reading:
    __slots__ = ("_snapshot", "_versioned")

    def __init__(self, versioned: VersionedMemory) -> None:
        self._versioned = versioned

    def __enter__(self) -> Snapshot:
        versioned = self._versioned
        with versioned._lock:
            snapshot = self._snapshot = versioned._current
            snapshot.n_readers += 1
        return snapshot

    def __exit__(self, *_: object) -> None:
        versioned, snapshot = self._versioned, self._snapshot
        with versioned._lock:
            snapshot.n_readers -= 1
            if versioned._is_waiting and not snapshot.n_readers:
                versioned._is_waiting = False
                versioned._no_readers.put(None)
