"""Stores in temporary folders."""

from __future__ import annotations

import pytest

import kenyon.store


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
