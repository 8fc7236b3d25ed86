"""Samples and folders for the tests of the store."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kenyon import FlyClassifier
from kenyon.store.digest import digest_sums

N_FEATURES = 6
X = np.random.default_rng(5).standard_normal((40, N_FEATURES)).round(3)
"""Distinct samples."""
SMALL = {"n_cells": 40, "fan_in": 3, "n_active": 8, "inhibition": "cut"}
SETTINGS = {"readout": "fly", **SMALL}
LABELS = ["a", "b", "c", "d"]
"""Those of the fixture `model`, for the first samples."""


def digest_of(settings, samples, labels):
    """Return the digest of a classifier that learned samples from scratch; None without any."""
    if not len(labels):
        return None
    classifier = FlyClassifier(**settings).partial_fit(X[[*samples]], [*labels])
    return digest_sums(classifier)


@contextmanager
def grouped(store):
    """Let all requests of the block wait, so that one transaction writes them."""
    with store._database._writing:
        yield


def wait_until_cleaned(store):
    """Wait for the cleaning after the opening, for which the committer needs the database."""
    end = time.monotonic() + 30
    while store._committer._next_cleaning is not None:
        assert time.monotonic() < end
        time.sleep(0.001)


def copy_store(store, target):
    """Copy the folder of an open store, as a process that is killed now would leave it."""
    target = Path(target)
    with store._database._writing:
        for name in ("store.sqlite", "store.sqlite-wal"):
            if (store.folder / name).exists():
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(store.folder / name, target / name)
        for path in (store.folder / "snapshots").glob("*.kenyon"):
            (target / "snapshots").mkdir(exist_ok=True)
            try:
                shutil.copy(path, target / "snapshots" / path.name)
            except FileNotFoundError:
                continue
    return target


def all_bytes(folder):
    """Return the content of every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def assert_one_sentence(error):
    assert str(error)
    assert "\n" not in str(error)
