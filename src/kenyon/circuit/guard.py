"""One memory, many threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kenyon.circuit.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

M = TypeVar("M", bound=Memory)

_PATIENCE = 0.05
"""Seconds that a change waits for readers to leave before it takes a copy instead."""


class Guard(Generic[M]):
    """A memory that many threads may read while another changes it.

    Readers see the memory before or after a change, never in between::

        with guard.reading as memory: ...

    Nobody waits long: a change is made in place while nobody reads or, where somebody reads on and
    on, in a copy that takes the memory's place; whoever reads then keeps the memory as it was. A
    memory of which nothing is quickly done is always changed in a copy.
    """

    def __init__(self, memory: M) -> None:
        self._version = _Version(memory)
        self._door = threading.Lock()
        self._left = threading.Condition(self._door)
        self._one_writer = threading.Lock()

    @property
    def reading(self) -> _Reading[M]:
        """The memory as it is now, for the length of a with statement."""
        return _Reading(self)

    def change(self, action: Callable[[M], object]) -> None:
        """Change the memory in place if nobody reads: for what is quickly done."""
        with self._one_writer:
            version = self._version
            if version.memory.n_quick:
                with self._door:
                    if self._left.wait_for(lambda: version.n_readers == 0, _PATIENCE):
                        version.memory.age += 1
                        action(version.memory)
                        return
            self._replace(action)

    def rework(self, action: Callable[[M], object]) -> None:
        """Change a copy while others read on, then put it in the memory's place."""
        with self._one_writer:
            self._replace(action)

    def _replace(self, action: Callable[[M], object]) -> None:
        draft = self._version.memory.copy()
        draft.age += 1
        action(draft)
        with self._door:
            self._version = _Version(draft)

    def __reduce__(self) -> tuple[Any, ...]:
        with self.reading as memory:
            return Guard, (memory.copy(),)


class _Version(Generic[M]):
    """A memory and how many read it, counted at the door."""

    __slots__ = ("memory", "n_readers")

    def __init__(self, memory: M) -> None:
        self.memory = memory
        self.n_readers = 0


class _Reading(Generic[M]):
    __slots__ = ("_guard", "_version")

    def __init__(self, guard: Guard[M]) -> None:
        self._guard = guard

    def __enter__(self) -> M:
        guard = self._guard
        with guard._door:
            version = self._version = guard._version
            version.n_readers += 1
        return version.memory

    def __exit__(self, *_: object) -> None:
        guard, version = self._guard, self._version
        with guard._door:
            version.n_readers -= 1
            if not version.n_readers and guard._one_writer.locked():
                guard._left.notify()
