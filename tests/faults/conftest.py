"""Faults without a measurement of coverage."""

import sys
import threading

import pytest


@pytest.fixture(autouse=True)
def no_coverage():
    """Trace nothing: an interrupt or a fork could leave the locks of coverage locked."""
    of_this_thread, of_new_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    yield
    threading.settrace(of_new_threads)
    sys.settrace(of_this_thread)
