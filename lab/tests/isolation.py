"""Tests that neither read nor write what is the user's."""

from kenyon_lab.data.source import DATA_FOLDER


def isolate(monkeypatch, folder):
    """Keep cache and home in a folder, and know of no data folder and no proxy."""
    monkeypatch.delenv(DATA_FOLDER, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("NO_PROXY", "*")
