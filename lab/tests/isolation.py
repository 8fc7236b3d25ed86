"""Isolation of tests from the files of the user."""

from kenyon_lab.data.source import DATA_FOLDER


def isolate(monkeypatch, folder):
    """Move cache and home to a folder, and unset the data folder and the proxy."""
    monkeypatch.delenv(DATA_FOLDER, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("NO_PROXY", "*")
