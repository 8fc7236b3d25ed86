"""Where the command line is tested."""

import pytest

from kenyon.cli.console import messages, printer
from tests.cli import command
from tests.isolation import isolate


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, an empty cache and no data folder."""
    isolate(monkeypatch, tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for console in (printer, messages):
        # Rich keeps the width that COLUMNS had when it was imported, if it had one.
        monkeypatch.setattr(console, "_width", None)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def run():
    """Run the command line in this process: exit code, lines of output, lines of errors."""
    return command.run
