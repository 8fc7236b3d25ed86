"""Whichever call fails or is the last one before a kill, a model file is the old or the new one."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kenyon
from kenyon import FlyClassifier
from tests.cli.command import PROGRAM
from tests.faults.saving import FAULTS, KILL, MODE, SITUATIONS
from tests.faults.tally import count

COMPILER = shutil.which(os.environ.get("CXX", "c++"))
SOURCE = Path(__file__).with_name("write_faults.cpp")
ROOT = Path(__file__).parents[2]
NECESSARY = {"open64", "write", "chmod", "fsync", "rename"}
"""Calls without which a file cannot be replaced safely, as CPython names them on Linux."""
OPTIONAL = {"flock", "unlink", "fsync"}
"""Calls that protect the file or clean up, and the sync of the folder once the file is there."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None, reason="needs Linux and a C++ compiler"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "write_faults.so"
    options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *options, SOURCE, "-o", path, "-ldl"], check=True)
    return path


@pytest.fixture
def watched(tmp_path):
    folder = tmp_path.resolve() / "watched"
    folder.mkdir()
    return folder


@pytest.fixture
def start(library, watched):
    """Return a function that runs a program with faults in the folder `watched`."""

    def run(*command, **variables):
        environment = {"LD_PRELOAD": str(library), "WRITE_FAULTS_FOLDER": str(watched), **variables}
        return subprocess.run(
            [str(part) for part in command],
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
        )

    return run


@pytest.mark.parametrize("readout", ["fly", "ridge"])
def test_every_call_that_writes(start, watched, readout):
    process = start(sys.executable, "-m", "tests.faults.saving", readout, watched.parent)
    assert process.returncode == 0, process.stderr
    outcomes = [json.loads(line) for line in process.stdout.splitlines()]
    for outcome in outcomes:
        check(outcome, watched / "fly.kenyon")
    count("kill or error at a call that writes", len(outcomes))
    for situation in SITUATIONS:
        found = [outcome for outcome in outcomes if outcome["situation"] == situation]
        # The last attempt with each fault goes through without it.
        done = {o["fault"] for o in found if not o["killed"] and o["call"] is None}
        assert done == FAULTS.keys()
        for fault in ("ENOSPC", "EIO", "lasting EROFS"):
            assert {o["call"] for o in found if o["fault"] == fault and o["error"]} >= NECESSARY
        killed = [outcome for outcome in found if outcome["killed"]]
        assert {outcome["content"] for outcome in killed} == {"old", "new"}
        assert any(outcome["others"] for outcome in killed)


def check(outcome, path):
    """Check one attempt to save; "old" is also the absence of a file that was absent before."""
    assert outcome["content"] in ("old", "new"), outcome
    assert outcome["recovered"], outcome
    assert outcome["mode"] == MODE or outcome["situation"] == "first", outcome
    fault = outcome["fault"]
    if outcome["killed"]:
        assert fault == "kill", outcome
        assert len(outcome["others"]) <= 1, outcome
        return
    assert outcome["unchanged"], outcome
    # A file system that has become read-only keeps the temporary file.
    assert outcome["others"] == [] or fault == "lasting EROFS", outcome
    if outcome["error"]:
        reason = os.strerror(FAULTS[fault])
        assert outcome["error"] == f"{path} could not be written: {reason}", outcome
        assert outcome["errno"] == FAULTS[fault], outcome
        assert outcome["content"] == "old", outcome
    else:
        assert outcome["content"] == "new", outcome
        assert outcome["call"] in {None, *OPTIONAL} or fault == "short", outcome


def test_the_command_line(start, watched):
    path = watched / "fly.kenyon"
    model = FlyClassifier(n_cells=50, readout="fly").fit(np.eye(4), [0, 1, 0, 1])
    model.save(path)
    old = path.read_bytes()
    command = PROGRAM, "rename", path, "1", "7"
    # The lock of the model is created and locked, then the new file; then this file is written.
    failed = start(*command, WRITE_FAULTS_AT="6", WRITE_FAULTS_FAULT=str(errno.ENOSPC))
    sentence = f"Error: {path} could not be written: No space left on device\n"
    assert (failed.returncode, failed.stdout, failed.stderr) == (2, "", sentence)
    assert [(file.name, file.read_bytes()) for file in watched.iterdir()] == [(path.name, old)]
    for call in ("1", "2"):
        # Without a lock file the model cannot be written either; without locks it can.
        unlocked = start(*command, WRITE_FAULTS_AT=call, WRITE_FAULTS_FAULT=str(errno.ENOSPC))
        assert (unlocked.returncode, unlocked.stderr) == ((2, sentence) if call == "1" else (0, ""))
    path.write_bytes(old)
    killed = start(*command, WRITE_FAULTS_AT="6", WRITE_FAULTS_FAULT=str(KILL))
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == old
    assert len(list(watched.iterdir())) == 3
    assert start(*command).returncode == 0
    assert list(watched.iterdir()) == [path]
    assert kenyon.load(path).classes_.tolist() == [0, 7]
