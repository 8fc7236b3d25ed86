"""Findings in files, which are there whole or not at all."""

import json

import pytest

from kenyon_lab.experiments.archive import Archive
from kenyon_lab.experiments.catalogue import EXPERIMENTS, Experiment


@pytest.fixture
def archive(tmp_path, monkeypatch):
    class Quick(Experiment):
        def measure(self, seed):
            return {"accuracies": [0.5, seed]}

    monkeypatch.setitem(EXPERIMENTS, "quick", Quick("quick", ""))
    return Archive(tmp_path)


def test_what_was_measured_is_found(archive, tmp_path):
    assert archive.find("quick", 3) is None
    finding = archive.measure("quick", 3)
    assert finding.found == {"accuracies": [0.5, 3]}
    assert archive.find("quick", 3).found == finding.found
    assert archive.find("quick", 4) is None
    assert [path.name for path in (tmp_path / "experiments").iterdir()] == ["quick-3.json"]
    kept = json.loads((tmp_path / "experiments" / "quick-3.json").read_text())
    assert kept["versions"]["python"]
    assert kept["machine"]["cores"] >= 1
    assert kept["seconds"] >= 0


@pytest.mark.parametrize("content", ["", "{}", '{"experiment": 1}', "[1]"])
def test_a_damaged_file_is_named(archive, tmp_path, content):
    archive.measure("quick", 0)
    path = tmp_path / "experiments" / "quick-0.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"quick-0.json does not hold a finding"):
        archive.find("quick", 0)


def test_what_an_older_finding_lacks_is_said(archive):
    archive.measure("quick", 0)
    found = archive.find("quick", 0).found
    assert found["accuracies"] == [0.5, 0]
    with pytest.raises(ValueError, match=r"quick-0.json lacks 'losses': delete it"):
        found["losses"]


def test_a_failed_experiment_leaves_nothing(archive, tmp_path, monkeypatch):
    def fail(self, seed):
        raise MemoryError

    monkeypatch.setattr(type(EXPERIMENTS["quick"]), "measure", fail)
    with pytest.raises(MemoryError):
        archive.measure("quick", 0)
    assert list(tmp_path.rglob("*.json")) == []
