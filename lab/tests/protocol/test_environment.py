"""Versions, machine and commit of a result."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from kenyon._native import instruction_set
from kenyon_lab.protocol import environment as module
from kenyon_lab.protocol.environment import (
    commit,
    environment,
    machine,
    processor,
    versions,
)


def test_versions_of_all_that_computes():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["kenyon"] == version("kenyon")
    assert {"scipy", "scikit-learn"} <= found.keys()


def test_what_is_not_there_has_no_version(monkeypatch):
    monkeypatch.setattr(module, "PACKAGES", ("numpy", "no-such-package"))
    assert versions().keys() == {"python", "numpy"}


def test_the_machine():
    found = machine()
    assert found == json.loads(json.dumps(found))
    assert found["cores"] == os.cpu_count()
    assert found["system"] == platform.system()
    assert found["instruction_set"] == instruction_set()
    assert found["processor"] == processor() != ""


def processor_of(monkeypatch, tmp_path, text):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(module, "Path", lambda _: tmp_path / "cpuinfo")
    return processor()


def test_the_processor_is_named_as_it_calls_itself(monkeypatch, tmp_path):
    text = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Abacus 3000 @ 1 Hz: fast\nflags\t: x\n"
    assert processor_of(monkeypatch, tmp_path, text) == "Abacus 3000 @ 1 Hz: fast"


def test_a_processor_without_a_name(monkeypatch, tmp_path):
    expected = platform.processor() or platform.machine()
    assert processor_of(monkeypatch, tmp_path, "processor\t: 0\n") == expected
    monkeypatch.setattr(module, "Path", lambda _: Path("/nowhere/cpuinfo"))
    assert processor() == expected


@pytest.fixture
def git(monkeypatch):
    """Answer in place of git: the root of the checkout, the commit, the changed files."""

    def git(root, changed=""):
        answers = {"--show-toplevel": root, "HEAD": "abc123", "--porcelain": changed}
        monkeypatch.setattr(
            module, "_git", lambda *words: next(answers[w] for w in words if w in answers)
        )
        commit.cache_clear()

    yield git
    commit.cache_clear()


def test_commit_of_a_checkout(git, tmp_path):
    (tmp_path / "lab" / "src" / "kenyon_lab").mkdir(parents=True)
    git(str(tmp_path))
    assert commit() == "abc123"
    git(str(tmp_path), " M file.py")
    assert commit() == "abc123+"


def test_version_outside_a_checkout(git, monkeypatch, tmp_path):
    for root in ("", str(tmp_path)):
        git(root)
        assert commit() == f"kenyon-lab {version('kenyon-lab')}"
    monkeypatch.setattr(module, "_version", lambda package: "")
    git("")
    assert commit() == "unknown"


def test_git_that_fails_or_is_missing(monkeypatch):
    assert module._git("no-such-command") == ""
    monkeypatch.setenv("PATH", "/nowhere")
    assert module._git("rev-parse", "HEAD") == ""


def test_environment_is_plain():
    found = environment()
    assert found == json.loads(json.dumps(found))
    assert found["date"].endswith("Z")
