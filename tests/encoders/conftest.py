"""Tiny models, and a cache of features in a temporary folder."""

import pytest

from kenyon.encoders import cache
from tests.encoders.models import write_sentence_model, write_static_model


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """The folder of the cache, for which no warning was shown yet."""
    monkeypatch.setenv("KENYON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KENYON_CACHE_BYTES", raising=False)
    monkeypatch.setattr(cache, "_warned", set())
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def sentence_model(tmp_path_factory):
    return write_sentence_model(tmp_path_factory.mktemp("models") / "sentences")


@pytest.fixture(scope="session")
def static_model(tmp_path_factory):
    return write_static_model(tmp_path_factory.mktemp("models") / "static")
