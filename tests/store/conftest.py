"""Stores in temporary folders."""

from __future__ import annotations

import pytest

import kenyon.store


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder):
    with kenyon.store.open(folder) as opened:
        yield opened
