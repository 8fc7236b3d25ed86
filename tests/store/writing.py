"""Change a store with a fault in each call that writes; started by test_writes under LD_PRELOAD.

    python -m tests.store.writing FOLDER STRIDE

Each child meets one fault. It prints one line of JSON: the fault, its call, and what went wrong.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from traceback import extract_tb

import kenyon.store
from kenyon.store import StoreFailed, Undo, Unlearn
from tests.faults.saving import FAULTS, KILL
from tests.store.data import N_FEATURES, SMALL, X

MOST = 400
SETTINGS = {"readout": "fly", **SMALL}


def prepare(folder):
    with kenyon.store.open(folder) as store:
        model = store.create("m", N_FEATURES, SETTINGS)
        model.learn(X[:8], ["a", "b"] * 4, [f"id-{i}" for i in range(8)])
        model.wait(1)


def work(folder, faults, fault, n, tell):
    """Change the store while a fault happens, then without one, and check what it says."""
    hit = ""
    faults.write_faults_arm(n, FAULTS[fault], fault.startswith("lasting"))
    try:
        store = kenyon.store.open(folder)
    except StoreFailed:
        hit = faults.write_faults_hit().decode()
        faults.write_faults_arm(0, KILL, False)
        store = kenyon.store.open(folder)
    with store:
        model = store["m"]
        event = model.event
        requests = [
            model.learning(X[8:10], ["a", "c"], ["id-8", "id-9"]),
            Unlearn(["id-1"]),
            model.learning(X[10:11], ["b"]),
            Undo(event + 3),
        ]
        for request in requests:
            try:
                receipt = model.submit(request).result(60)
            except (StoreFailed, kenyon.store.NoSuchEvent):
                assert model.event == event, "a change that failed was made"
                continue
            event += 1
            assert receipt.event == event == model.event
            tell(event)
        # The cause is gone: all goes on without a restart.
        hit = hit or faults.write_faults_hit().decode()
        faults.write_faults_arm(0, KILL, False)
        receipt = model.learn(X[11:13], ["a", "b"])
        assert receipt.event == event + 1
        tell(receipt.event)
        model.unlearn(["id-2"])
        tell(model.event)
        # A snapshot that could not be written is no difference: the log is replayed.
        findings = [each for each in store.verify() if each.what != "snapshot"]
        assert all(each.is_right for each in findings), findings
        assert b"id-2" not in Path(folder, "store.sqlite").read_bytes()
    return hit


def run(source, folder, faults, fault, n):
    """Return what happened in a child that met a fault."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            hit = work(folder, faults, fault, n, lambda event: os.write(writing, b"%d " % event))
            os.write(writing, b"; " + hit.encode())
        except BaseException as error:
            where = [f"{each.name}:{each.lineno}" for each in extract_tb(error.__traceback__)]
            os.write(writing, f"; error {error!r} {where}".encode())
        finally:
            faults.write_faults_arm(0, KILL, False)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        events, _, hit = pipe.read().decode().partition(";")
    _, status = os.waitpid(pid, 0)
    was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    wrong = hit if "error" in hit else ""
    acknowledged = max(map(int, events.split()), default=1)
    with kenyon.store.open(folder) as store:
        model = store["m"]
        numbers = [event.event for event in model.events()]
        if numbers != [*range(1, len(numbers) + 1)] or len(numbers) < acknowledged:
            wrong += f" events {numbers}, acknowledged {acknowledged}"
        if not all(finding.is_right for finding in store.verify()):
            wrong += f" {store.verify()}"
    return {"fault": fault, "n": n, "killed": was_killed, "hit": hit.strip(), "wrong": wrong}


def main():
    base, stride = Path(sys.argv[1]), int(sys.argv[2])
    faults = ctypes.CDLL(None)
    faults.write_faults_hit.restype = ctypes.c_char_p
    prepare(base / "source")
    for start, fault in enumerate(FAULTS):
        for n in range(1 + start % stride, MOST, stride):
            found = run(base / "source", base / "watched", faults, fault, n)
            print(json.dumps(found), flush=True)
            if not found["hit"] and not found["killed"]:
                break


if __name__ == "__main__":
    main()
