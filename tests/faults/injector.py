"""Raise an exception in Kenyon's code: at the n-th place where one can arrive, or after a time."""

from __future__ import annotations

import dis
import gc
import signal
import sys
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

import kenyon

PACKAGE = str(Path(kenyon.__file__).parent)
# CPython handles signals after these instructions: at the start of a function, after a call,
# whether of Python or of C, and in loops. An exception between other instructions cannot happen.
_PLACES = "RESUME", "CALL", "JUMP_BACKWARD", "JUMP_ABSOLUTE"


@cache
def _places(code):
    """Return the offsets of the instructions that come right after such a place."""
    instructions = list(dis.get_instructions(code))
    after = {
        later.offset
        for earlier, later in pairwise(instructions)
        if earlier.opname.startswith(_PLACES)
    }
    return after if sys.version_info >= (3, 11) else after | {0}


class Fault:
    """A context in which the n-th place raises an exception, once.

    Attributes
    ----------
    happened : bool
        Whether there were n places.
    """

    def __init__(self, n, error):
        self._n, self._error = n, error
        self.happened = False

    def __enter__(self):
        # That of a measurement of coverage, for example.
        self._tracer = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self._tracer)

    def _enter(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, _):
        if event == "opcode" and frame.f_lasti in _places(frame.f_code):
            self._n -= 1
            if self._n == 0:
                self.happened = True
                sys.settrace(None)
                raise self._error
        return self._step


def interrupt(call, seconds):
    """Run a call in which a signal raises KeyboardInterrupt after a time.

    Returns
    -------
    bool
        Whether the signal came before the call ended.
    """
    is_armed = True

    def handle(*_):
        nonlocal is_armed
        if is_armed:
            is_armed = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handle)
    try:
        with _quiet_collector(), suppress(KeyboardInterrupt):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                call()
            finally:
                # Nothing is called here, so that a signal comes before this or does nothing.
                has_come, is_armed = not is_armed, False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return has_come


@contextmanager
def _quiet_collector():
    """Let the collector run no code of other libraries, where an interrupt would be lost.

    It calls their callbacks, and the finalizers of garbage that earlier tests have left.
    """
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.callbacks[:] = callbacks
