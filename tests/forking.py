"""Calls in forked processes, which must end in time."""

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import pytest


@contextmanager
def untraced():
    """Trace nothing: an interrupt or a fork could leave the locks of coverage locked."""
    of_this_thread, of_new_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        threading.settrace(of_new_threads)
        sys.settrace(of_this_thread)


def in_child(call, seconds=120):
    """Run a call in a forked process; fail if it raises or does not end."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            call()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, "the forked process failed"
            return
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the forked process hangs")
