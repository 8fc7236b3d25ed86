"""A temporary cache and data folder, and the real data if available."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kenyon_lab.data
from kenyon_lab.data import DATASETS
from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.source import DATA_FOLDER, cache_folder
from lab.tests.data.samples import write_source
from lab.tests.data.server import Server
from lab.tests.isolation import isolate

REAL_FOLDER = os.environ.get(DATA_FOLDER)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The temporary cache; no file of the user is read or written."""
    isolate(monkeypatch, tmp_path)
    assert cache_folder().is_relative_to(tmp_path)
    return cache_folder()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv(DATA_FOLDER, str(folder))
    return folder


@pytest.fixture
def give(folder):
    """Write a file to the data folder and return its source."""
    return partial(write_source, folder)


@pytest.fixture
def server():
    """An HTTP server on this machine."""
    with Server() as server:
        yield server


@pytest.fixture
def real_folder(monkeypatch):
    """Use the folder of real data, or skip the test if a source is missing."""

    def use(*sources):
        if not all(REAL_FOLDER and Path(REAL_FOLDER, source.path).is_file() for source in sources):
            names = ", ".join(source.path for source in sources)
            pytest.skip(f"{DATA_FOLDER} names no folder with {names}")
        monkeypatch.setenv(DATA_FOLDER, REAL_FOLDER)

    return use


@pytest.fixture
def real_cifar100(monkeypatch):
    """The source of CIFAR-100's images, or skip the test if they are missing."""
    monkeypatch.setenv(DATA_FOLDER, REAL_FOLDER or "")
    if not IMAGES.is_local():
        pytest.skip(f"{DATA_FOLDER} names no folder with CIFAR-100")
    return IMAGES


_loaded = {}


@pytest.fixture
def real(real_folder):
    """Load a dataset from packaged features or the real data, once."""

    def load(name):
        info = DATASETS[name]
        if not info.encoder:
            real_folder(*info.sources)
        if name not in _loaded:
            _loaded[name] = kenyon_lab.data.load(name)
        return _loaded[name]

    return load


@pytest.fixture
def write(tmp_path):
    """Write a user file and return its path."""

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
