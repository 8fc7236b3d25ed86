"""Ctrl-C and SIGTERM: raised at once or, in a block that must not be cut, at its end."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNALS = signal.SIGINT, signal.SIGTERM


class Interrupted(BaseException):
    """The process was told to end.

    Parameters
    ----------
    number : int
        The signal: SIGINT or SIGTERM.
    sentence : str, optional
        What the user is told.
    """

    def __init__(self, number: int, sentence: str | None = None) -> None:
        default = "Interrupted" if number == signal.SIGINT else "Terminated"
        super().__init__(default if sentence is None else sentence)
        self.number = number


class _State:
    is_deferring = False
    pending: int | None = None


_state = _State()


@contextmanager
def raising() -> Iterator[None]:
    """Raise `Interrupted` in this block when a signal arrives."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread may set handlers.
        return
    # A process in the background may ignore Ctrl-C.
    numbers = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    old = {number: signal.signal(number, _handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def restore_handlers() -> None:
    """Install the handlers again that Python knows.

    polars replaces the one of Ctrl-C when it is imported, also one that ignores it. With that of
    polars a blocked read would go on.
    """
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if handler is not None:
                signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Raise the first signal that arrives in this block at its end; a second one at once."""
    _state.pending, _state.is_deferring = None, True
    try:
        yield
    finally:
        _state.is_deferring = False
    if _state.pending is not None:
        raise Interrupted(_state.pending)


def _handle(number: int, frame: Any) -> None:
    if _state.is_deferring and _state.pending is None:
        _state.pending = number
    else:
        raise Interrupted(number)
