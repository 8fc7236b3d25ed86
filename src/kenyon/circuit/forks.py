"""Forked processes: a child gets every memory before or after a change, with locks that are free.

Only the thread that forks exists in the child. A lock that another thread held would stay locked
there for ever, and a change that it was making would stay unfinished. So `os.fork`, and
multiprocessing with it, first waits for changes in place, which take milliseconds. Longer changes
are made in copies, which the child does not see.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from kenyon.circuit.versioned import VersionedMemory

_memories: WeakSet[VersionedMemory] = WeakSet()
_forking = threading.RLock()
_held: list[tuple[VersionedMemory, bool]] = []
"""The memories that the forking thread holds, and whether no other thread used their caches."""


def register(memory: VersionedMemory) -> None:
    """Hold a memory during forks, as long as it exists."""
    with _forking:
        _memories.add(memory)


def _before() -> None:
    _forking.acquire()
    _held.extend([(memory, memory.hold()) for memory in list(_memories)])


def _after_in_parent() -> None:
    while _held:
        memory, is_idle = _held.pop()
        memory.release(is_idle)
    _forking.release()


def _after_in_child() -> None:
    global _forking
    while _held:
        memory, is_idle = _held.pop()
        memory.restart(is_idle)
    _forking = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
