"""Where the command line is tested."""

from dataclasses import replace

import numpy as np
import pytest

from kenyon_lab.console import messages, printer
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol import progress
from lab.tests.cli import command
from lab.tests.isolation import isolate
from lab.tests.protocol.samples import clusters


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


@pytest.fixture
def here(monkeypatch):
    """Runs are done in this process."""
    monkeypatch.setattr(progress, "run_all", command.run_here)


@pytest.fixture
def mine(folder):
    """A user's file, as .npz and as .csv."""
    arrays = clusters(n_train=120, n_test=40)
    np.savez(folder / "mine.npz", **arrays)
    X, y = arrays["X_train"], arrays["y_train"]
    rows = [",".join([*map(str, row), "abcd"[label]]) for row, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{i}" for i in range(8)), "kind"])
    (folder / "mine.csv").write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def grid(monkeypatch):
    """Give the fly a small grid."""

    def grid(*values):
        entry = replace(METHODS["fly"], grid={"learning_rate": values})
        monkeypatch.setitem(METHODS, "fly", entry)

    return grid
