"""Tests that look at processes from outside."""

import time
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are looked for in /proc"
)


def wait_until(true, seconds=60.0):
    """Return as soon as something is true, and fail if it does not come true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)


def is_alive(pid):
    """Tell whether a process is there, and not only waits to be noticed as dead."""
    return _status(Path(f"/proc/{pid}"))[0] not in "ZX"


def session(leader):
    """Return the processes of a session that are alive."""
    found = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    states = {int(path.name): _status(path) for path in found}
    return [pid for pid, (state, sid) in states.items() if sid == leader and state not in "ZX"]


def command_line(pid):
    """Return how a process was started, or nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _status(path):
    """Return a process's state and session; X of one that is gone."""
    try:
        # The name of the program, in brackets, may hold anything.
        fields = (path / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0
    return fields[0], int(fields[3])
