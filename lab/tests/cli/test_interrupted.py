"""Stopped at any moment, the same command goes on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from kenyon_lab.protocol import progress
from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.store import Store
from lab.tests.cli.command import run_here
from lab.tests.protocol.samples import clusters
from lab.tests.waiting import command_line, needs_proc, session, wait_until

pytestmark = needs_proc
# What was started in the background, as these tests may have been, does not heed Ctrl-C.
HEEDING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from kenyon_lab.cli import main
main()
"""
ARGUMENTS = ["bench", "mine.npz", "--methods", "ncm", "--seeds", "3", "--jobs", "1"]


def start():
    """Start the command in a session of its own, as a terminal does."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", HEEDING, *ARGUMENTS]
    return subprocess.Popen(command, start_new_session=True, **pipes)


def wait_until_done(process, n_runs):
    """Wait until so many runs are done and the next one has begun."""

    def is_done():
        assert process.poll() is None, process.communicate()
        kept = len(list(Path("results").rglob("*.json")))
        begun = any("spawn_main" in command_line(pid) for pid in session(process.pid))
        return kept == n_runs and begun

    wait_until(is_done)


def test_interrupted_killed_and_brought_to_an_end(run, monkeypatch):
    np.savez("mine.npz", **clusters())

    process = start()
    wait_until_done(process, 1)
    # Ctrl-C, of which all processes of the session hear, also those that have only just begun.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2, "no traceback, from whichever process"
    assert lines[0].startswith("NCM, shuffled, seed 0: accuracy ")
    assert lines[1] == "Interrupted; the same command goes on with 1 of 3 runs done."
    wait_until(lambda: not session(process.pid))
    (first,) = Path("results").rglob("*.json")
    content = first.read_bytes(), first.stat().st_mtime_ns

    process = start()
    wait_until_done(process, 2)
    process.kill()
    _, err = process.communicate(timeout=60)
    assert err.splitlines()[0].endswith("done before")
    wait_until(lambda: not session(process.pid))
    assert [record.seed for record in Store("results").records(RunRecord)] == [0, 1], (
        "both can be read"
    )

    monkeypatch.setattr(progress, "run_all", run_here)
    code, out, err = run(*ARGUMENTS)
    assert code == 0
    assert [line.endswith("done before") for line in err] == [True, True, False]
    assert out[0] == "With default parameters, samples shuffled, 3 seeds:"
    assert [record.seed for record in Store("results").records(RunRecord)] == [0, 1, 2]
    assert (first.read_bytes(), first.stat().st_mtime_ns) == content, "nothing is run twice"
