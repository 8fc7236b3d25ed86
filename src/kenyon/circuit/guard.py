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
        self._counting = threading.Lock()
        self._n_inside = 0
        self._awaited = False
        self._left = threading.Condition(self._counting)

    def __enter__(self) -> M:
        with self.entrance:
            memory = self.memory
            # The first reader after a change sorts; the others wait at the entrance.
            memory.sort()
            with self._counting:
                self._n_inside += 1
        return memory

    def __exit__(self, *_: object) -> None:
        with self._counting:
            self._n_inside -= 1
            if self._awaited and not self._n_inside:
                self._left.notify()

    def wait_until_left(self) -> None:
        with self._counting:
            self._awaited = True
            try:
                while self._n_inside:
                    self._left.wait()
            finally:
                self._awaited = False
