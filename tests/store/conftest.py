"""Stores in temporary folders."""

from __future__ import annotations

import pytest

import kenyon.store
from tests.store.data import LABELS, N_FEATURES, SETTINGS, X


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """On a busy machine those who read the database may take longer than receipts wait for them."""
    monkeypatch.setattr("kenyon.store.committer.CLEANING_SECONDS", 60.0)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder):
    with kenyon.store.open(folder) as opened:
        yield opened


@pytest.fixture
def model(store):
    """A model that has learned four samples."""
    model = store.create("m", N_FEATURES, SETTINGS)
    model.learn(X[:4], LABELS, ["h", "i", "j", "k"])
    assert model.wait(1).event == 1
    return model
