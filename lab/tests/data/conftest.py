"""A cache of their own for the tests of data, and the real data if it is here."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kenyon_lab.data
from kenyon_lab.data import CATALOGUE
from kenyon_lab.data.source import DATA_FOLDER, Source, cache_folder
from lab.tests.data.server import Server
from lab.tests.isolation import isolate

REAL_FOLDER = os.environ.get(DATA_FOLDER)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder that Kenyon keeps files in; nothing of the user's is read or written."""
    isolate(monkeypatch, tmp_path)
    assert cache_folder().is_relative_to(tmp_path)
    return cache_folder()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of the user's, empty."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv(DATA_FOLDER, str(folder))
    return folder


@pytest.fixture
def give(folder):
    """Put a file into the data folder and return the source that asks for it."""

    def give(path, content):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        return Source(path, hashlib.sha256(content).hexdigest())

    return give


@pytest.fixture
def server():
    """An HTTP server on this machine."""
    with Server() as server:
        yield server


@pytest.fixture
def real_folder(monkeypatch):
    """Use the folder of real data, if it has these sources."""

    def use(*sources):
        if not all(REAL_FOLDER and Path(REAL_FOLDER, source.path).is_file() for source in sources):
            names = ", ".join(source.path for source in sources)
            pytest.skip(f"{DATA_FOLDER} names no folder with {names}")
        monkeypatch.setenv(DATA_FOLDER, REAL_FOLDER)

    return use


_loaded = {}


@pytest.fixture
def real(real_folder):
    """Load a dataset from what comes with Kenyon or from the real data, once."""

    def load(name):
        entry = CATALOGUE[name]
        if not entry.encoder:
            real_folder(*entry.sources)
        if name not in _loaded:
            _loaded[name] = kenyon_lab.data.load(name)
        return _loaded[name]

    return load


@pytest.fixture
def write(tmp_path):
    """Write a file of one's own and return its path."""

    def write(name, content=None, **arrays):
        path = tmp_path / name
        if isinstance(content, pl.DataFrame):
            content.write_csv(path) if path.suffix == ".csv" else content.write_parquet(path)
        elif content is None:
            np.savez(path, **arrays)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
