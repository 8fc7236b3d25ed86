"""Mutated model files are refused in one sentence, or give models that work."""

import os
import sys

import pytest

from tests.faults.fuzz import run
from tests.faults.tally import count

N_FILES = int(os.environ.get("KENYON_FUZZ", "20000"))
N_BATCHES = 4


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory and time are Linux's")
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_mutated_files(batch):
    first, end = (n * N_FILES // N_BATCHES for n in (batch, batch + 1))
    failures, refused, works = run(first, end - first)
    commands = [f"python -m tests.faults.fuzz {seed}: {failures[seed]}" for seed in failures]
    assert not failures, "\n".join([f"{len(failures)} failures:", *commands])
    assert refused > works > 0
    assert refused + works == end - first
    count("mutated model file, refused", refused)
    count("mutated model file that loads and works", works)
