"""One memory, many threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kenyon.circuit.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.circuit.memory import Memory

    Change = Callable[[Memory], None]

_PATIENCE = 0.05
"""Seconds that a writer waits for readers to leave before it changes a copy instead."""


class Snapshot:
    """A memory at one version, and the cache of its model."""

    __slots__ = ("cache", "memory", "n_readers", "version")

    def __init__(self, memory: Memory, version: int, cache: Cache) -> None:
        self.memory = memory
        self.version = version
        self.cache = cache
        self.n_readers = 0


class VersionedMemory:
    """A memory that many threads may read while another changes it.

    Readers see the memory before or after a change, never in between::

        with versioned.reading as snapshot: ...

    A change is made in place while there are no readers. Otherwise a copy is changed and replaces
    the memory; readers of the old version keep it.
    """

    def __init__(self, memory: Memory) -> None:
        self._current = Snapshot(memory, 0, Cache(memory.max_pending))
        self._lock = threading.Lock()
        self._no_readers = threading.Condition(self._lock)
        self._writer = threading.Lock()

    @property
    def reading(self) -> _Reading:
        """A context manager that gives the current snapshot."""
        return _Reading(self)

    def change(self, change: Change) -> None:
        """Change the memory in place, if readers leave in time: for short changes."""
        with self._writer:
            current = self._current
            if current.memory.max_in_place:
                with self._lock:
                    if self._no_readers.wait_for(lambda: current.n_readers == 0, _PATIENCE):
                        self._change_in_place(change, current)
                        return
            self._replace(change)

    def replace(self, change: Change) -> None:
        """Change a copy while others read, then replace the memory with it."""
        with self._writer:
            self._replace(change)

    @staticmethod
    def _change_in_place(change: Change, current: Snapshot) -> None:
        # Before the change: an interrupt must not leave cached values valid.
        current.version += 1
        current.memory.take_updates()
        try:
            change(current.memory)
        except Exception:
            # A refused change leaves the memory as it was.
            current.cache.updates.record(current.version, ())
            raise
        current.cache.updates.record(current.version, current.memory.take_updates())

    def _replace(self, change: Change) -> None:
        current = self._current
        memory = current.memory.copy()
        change(memory)
        # After the change: readers may have cached values meanwhile.
        cache, version = current.cache.branch(), current.version + 1
        with self._lock:
            self._current = Snapshot(memory, version, cache)
            cache.updates.record(version, memory.take_updates())

    def __reduce__(self) -> tuple[Any, ...]:
        with self.reading as snapshot:
            return VersionedMemory, (snapshot.memory.copy(),)


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
            if not snapshot.n_readers and versioned._writer.locked():
                versioned._no_readers.notify()
