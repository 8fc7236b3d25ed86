"""Values that readouts compute from a memory and reuse."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kenyon.circuit.forks import PerProcess
from kenyon.circuit.updates import PendingUpdates

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class Cache:
    """The computed values of one model: one of each kind, with the key that it is valid for.

    One lock per model: concurrent readers wait for the first to compute a value. Readers of a
    replaced memory keep its cache, see `branch`.

    Parameters
    ----------
    max_pending : int
        Samples that `updates` keeps.
    """

    def __init__(self, max_pending: int) -> None:
        self.updates = PendingUpdates(max_pending)
        # A value may be computed from another one.
        self._locks = PerProcess(threading.RLock)
        self._entries: dict[str, tuple[Hashable, Any]] = {}
        self._shared: set[str] = set()

    @property
    def lock(self) -> threading.RLock:
        """The lock of those who compute values."""
        return self._locks.value

    def branch(self) -> Cache:
        """Return a cache for a copy of the memory: the same values, lock and updates."""
        other = object.__new__(Cache)
        with self.lock:
            self._shared.update(self._entries)
            vars(other).update(
                vars(self), _entries=self._entries.copy(), _shared=self._shared.copy()
            )
        return other

    def is_shared(self, kind: str) -> bool:
        """Return whether another cache may hold the same value, which must then not change."""
        return kind in self._shared

    def get(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a kind; compute it if the cached one has another key or is None."""
        entry = self._entries.get(kind)
        if entry is None or entry[0] != key or entry[1] is None:
            with self.lock:
                entry = self._entries.get(kind)
                if entry is None or entry[0] != key or entry[1] is None:
                    entry = key, compute()
                    self.put(kind, *entry)
        return cast("T", entry[1])

    def peek(self, kind: str) -> Any:
        """Return the cached value of a kind, whatever its key, or None."""
        entry = self._entries.get(kind)
        return None if entry is None else entry[1]

    def find(self, kind: str, key: Hashable) -> Any:
        """Return the cached value of a kind if it has this key, or None."""
        entry = self._entries.get(kind)
        return None if entry is None or entry[0] != key else entry[1]

    def put(self, kind: str, key: Hashable, value: object) -> None:
        """Replace the value of a kind."""
        self._entries[kind] = key, value
        self._shared.discard(kind)

    @property
    def nbytes(self) -> int:
        """The size of all values."""
        values = [value for _, value in self._entries.values()]
        return sum(getattr(value, "nbytes", 0) for value in values) + self.updates.nbytes

    def clear(self) -> None:
        """Remove all values, so that they are computed again."""
        with self.lock:
            self._entries.clear()

    def discard(self, kind: str) -> None:
        """Remove the value of a kind, to free its memory."""
        self._entries.pop(kind, None)
