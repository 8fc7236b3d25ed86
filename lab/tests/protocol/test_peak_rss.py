"""How much memory something took."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kenyon_lab.protocol import peak_rss
from kenyon_lab.protocol.peak_rss import PeakRSS

MB = 1e6
begins_anew = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not begin anew"
)


# Run in a process that has no memory lying about which could be taken without being noticed.
SCRIPT = """
import gc, json
from contextlib import suppress
import numpy as np
from kenyon_lab.protocol.peak_rss import PeakRSS

def take(megabytes):  # memory that is really used, which that of zeros would not be
    return np.ones(int(megabytes * 1e6 / 8))

measured = {}
with PeakRSS() as memory:
    take(200)
measured["taken and given back"] = memory.nbytes
with PeakRSS() as memory:
    for _ in range(4):
        take(60)
    kept = take(60)
measured["one after another"] = memory.nbytes
with PeakRSS() as memory:
    pass
measured["given back before"] = memory.nbytes
with PeakRSS() as memory:
    take(100)
measured["taken beside what is still held"] = memory.nbytes
with PeakRSS() as memory:
    kept = None
measured["only given back"] = memory.nbytes
memory = PeakRSS()
with suppress(KeyError), memory:
    kept = take(50)
    raise KeyError
measured["taken by a block that fails"] = memory.nbytes
print(json.dumps(measured))
"""
EXPECTED = {
    "taken and given back": 200,
    "one after another": 60,
    "given back before": 0,
    "taken beside what is still held": 100,
    "only given back": 0,
    "taken by a block that fails": 50,
}


@begins_anew
def test_the_most_that_is_held_at_once_is_measured():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    megabytes = {name: nbytes / MB for name, nbytes in json.loads(done.stdout).items()}
    assert megabytes == pytest.approx(EXPECTED, abs=15)


def test_where_the_system_cannot_begin_anew(monkeypatch):
    monkeypatch.setattr(peak_rss, "_PROCESS", Path("/nowhere"))
    with PeakRSS() as memory:
        pass
    assert memory.nbytes == 0
    assert 20 * MB < peak_rss._peak_so_far() < 1e6 * MB, "in bytes"
    peaks = iter([100, 350])
    monkeypatch.setattr(peak_rss, "_peak_so_far", lambda: next(peaks))
    with PeakRSS() as memory:
        pass
    assert memory.nbytes == 250


def test_status_without_the_fields(monkeypatch, tmp_path):
    (tmp_path / "status").write_text("Name:\tpython\n")
    monkeypatch.setattr(peak_rss, "_PROCESS", tmp_path)
    with PeakRSS() as memory:
        pass
    assert memory.nbytes == 0
