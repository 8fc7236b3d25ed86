"""The stored results, as a machine without built features finds them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.columns import judge_all
from kenyon_lab.reproduction.profiles import PROFILES
from kenyon_lab.reproduction.statements import STATEMENTS
from lab.tests.isolation import isolate

STORE = Store(Path(__file__).resolve().parents[1] / "results")


@cache
def evidence():
    """Return the records of the full profile.

    Features that the user built may have other fingerprints than those of the records. So they are
    hidden, and records are found by declared fingerprints alone.
    """
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch, Path(folder))
        return PROFILES["full"].collect(STORE)


@cache
def judged():
    """Return all statements with their verdicts."""
    return judge_all(STATEMENTS, evidence())
