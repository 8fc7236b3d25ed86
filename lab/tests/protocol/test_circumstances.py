"""What a result was obtained with."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np

from kenyon._native import instruction_set
from kenyon_lab.protocol import circumstances
from kenyon_lab.protocol.circumstances import machine, processor, versions


def test_versions_of_all_that_computes():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["kenyon"] == version("kenyon")
    assert {"scipy", "scikit-learn"} <= found.keys()


def test_what_is_not_there_has_no_version(monkeypatch):
    monkeypatch.setattr(circumstances, "PACKAGES", ("numpy", "no-such-package"))
    assert versions().keys() == {"python", "numpy"}


def test_the_machine():
    found = machine()
    assert found == json.loads(json.dumps(found))
    assert found["cores"] == os.cpu_count()
    assert found["system"] == platform.system()
    assert found["kernel"] == instruction_set()
    assert found["processor"] == processor() != ""


def processor_of(monkeypatch, tmp_path, text):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(circumstances, "Path", lambda _: tmp_path / "cpuinfo")
    return processor()


def test_the_processor_is_named_as_it_calls_itself(monkeypatch, tmp_path):
    text = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Abacus 3000 @ 1 Hz: fast\nflags\t: x\n"
    assert processor_of(monkeypatch, tmp_path, text) == "Abacus 3000 @ 1 Hz: fast"


def test_a_processor_without_a_name_is_told_by_its_kind(monkeypatch, tmp_path):
    expected = platform.processor() or platform.machine()
    assert processor_of(monkeypatch, tmp_path, "processor\t: 0\n") == expected
    monkeypatch.setattr(circumstances, "Path", lambda _: Path("/nowhere/cpuinfo"))
    assert processor() == expected
