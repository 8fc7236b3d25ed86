"""How much memory something took."""

import gc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from kenyon.protocol import peak_memory
from kenyon.protocol.peak_memory import PeakMemory

MB = 1e6
begins_anew = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not begin anew"
)


def take(megabytes):
    """Memory that is really used, which that of zeros would not be."""
    return np.ones(int(megabytes * MB / 8))


@begins_anew
def test_what_is_taken_and_given_back_is_seen():
    with PeakMemory() as memory:
        take(200)
    assert memory.nbytes == pytest.approx(200 * MB, abs=20 * MB)


@begins_anew
def test_the_most_at_once_counts():
    with PeakMemory() as memory:
        for _ in range(4):
            take(60)
        kept = take(60)
    assert len(kept)
    assert memory.nbytes == pytest.approx(60 * MB, abs=20 * MB)


@begins_anew
def test_what_was_given_back_before_is_not_seen_and_hides_nothing():
    take(300)
    with PeakMemory() as memory:
        pass
    assert memory.nbytes < 10 * MB
    with PeakMemory() as memory:
        take(100)
    assert memory.nbytes == pytest.approx(100 * MB, abs=20 * MB)


@begins_anew
def test_what_is_still_held_does_not_count():
    held = take(100)
    gc.collect()
    with PeakMemory() as memory:
        take(50)
    assert len(held)
    assert memory.nbytes == pytest.approx(50 * MB, abs=20 * MB)


def test_what_is_given_back_within_makes_it_no_less_than_nothing():
    held = [take(100)]
    with PeakMemory() as memory:
        held.clear()
    assert 0 <= memory.nbytes < 10 * MB


@begins_anew
def test_it_is_measured_when_the_block_fails():
    memory = PeakMemory()
    with suppress(KeyError), memory:
        held = take(50)
        raise KeyError(len(held))
    assert memory.nbytes > 30 * MB


def test_where_the_system_cannot_begin_anew(monkeypatch):
    monkeypatch.setattr(peak_memory, "_PROCESS", Path("/nowhere"))
    with PeakMemory() as memory:
        pass
    assert memory.nbytes == 0
    assert 20 * MB < peak_memory._peak_so_far() < 1e6 * MB, "in bytes"
    peaks = iter([100, 350])
    monkeypatch.setattr(peak_memory, "_peak_so_far", lambda: next(peaks))
    with PeakMemory() as memory:
        pass
    assert memory.nbytes == 250


def test_where_not_everything_is_told(monkeypatch, tmp_path):
    (tmp_path / "status").write_text("Name:\tpython\n")
    monkeypatch.setattr(peak_memory, "_PROCESS", tmp_path)
    with PeakMemory() as memory:
        pass
    assert memory.nbytes == 0
