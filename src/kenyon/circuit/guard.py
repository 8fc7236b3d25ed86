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
        self.kind = type(memory)
        self.reading = _Reading(memory)
        self._one_writer = threading.Lock()

    def change(self, action: Callable[[M], object]) -> None:
        """Change the memory in place while nobody reads: for what is quickly done."""
        reading = self.reading
        with self._one_writer, reading.entrance:
            reading.wait_until_left()
            action(reading.memory)

    def rework(self, action: Callable[[M], object]) -> None:
        """Change a copy while others read on, then put it in the memory's place."""
        with self._one_writer:
            draft = self.reading.memory.copy()
            action(draft)
            with self.reading.entrance:
                self.reading.memory = draft

    def __reduce__(self) -> tuple[Any, ...]:
        with self.reading as memory:
            return Guard, (memory.copy(),)


class _Reading(Generic[M]):
    """The readers: each holds the entrance for a moment, a change for as long as it takes."""

    def __init__(self, memory: M) -> None:
        self.memory = memory
        self.entrance = threading.Lock()
        self._exit = threading.Condition(threading.Lock())
        self._n_entered = 0
        self._n_left = 0
        self._awaited = False

    def __enter__(self) -> M:
        with self.entrance:
            # The first reader after a change sorts; the others wait at the entrance.
            self.memory.sort()
            self._n_entered += 1
            return self.memory

    def __exit__(self, *_: object) -> None:
        with self._exit:
            self._n_left += 1
            if self._awaited:
                self._exit.notify()

    def wait_until_left(self) -> None:
        """Wait until all have left, while holding the entrance so that none comes."""
        with self._exit:
            self._awaited = True
            try:
                while self._n_left != self._n_entered:
                    self._exit.wait()
            finally:
                self._awaited = False
