"""One memory, many threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kenyon.circuit.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

M = TypeVar("M", bound=Memory)


class Guard(Generic[M]):
    """A memory that many threads may read while another changes it.

    Readers see the memory before or after a change, never in between::

        with guard.reading as memory: ...

    A waiting change goes before readers that come later.
    """

    def __init__(self, memory: M) -> None:
        self._memory = memory
        self._one_writer = threading.Lock()
        self._state = threading.Condition(threading.Lock())
        self._n_readers = 0
        self._changing = False
        self.reading = _Reading(self)

    def change(self, action: Callable[[M], None]) -> None:
        """Change the memory in place while nobody reads: for what is quickly done."""
        with self._one_writer:
            self._exclusively(lambda: action(self._memory))

    def rework(self, action: Callable[[M], None]) -> None:
        """Change a copy while others read on, then put it in the memory's place."""
        with self._one_writer:
            draft = self._memory.copy()
            action(draft)
            self._exclusively(lambda: setattr(self, "_memory", draft))

    def _exclusively(self, action: Callable[[], None]) -> None:
        try:
            with self._state:
                self._changing = True
                self._state.wait_for(lambda: self._n_readers == 0)
            action()
        finally:
            with self._state:
                self._changing = False
                self._state.notify_all()

    def _enter(self) -> M:
        with self._state:
            if self._changing:
                self._state.wait_for(lambda: not self._changing)
            # The first reader after a change sorts; there is no other before it is done.
            self._memory.sort()
            self._n_readers += 1
            return self._memory

    def _leave(self) -> None:
        with self._state:
            self._n_readers -= 1
            if self._changing and self._n_readers == 0:
                self._state.notify_all()

    def __reduce__(self) -> tuple[Any, ...]:
        with self.reading as memory:
            return Guard, (memory.copy(),)


class _Reading(Generic[M]):
    def __init__(self, guard: Guard[M]) -> None:
        self._guard = guard

    def __enter__(self) -> M:
        return self._guard._enter()

    def __exit__(self, *_: object) -> None:
        self._guard._leave()
