"""Runs in files, which are there whole or not at all."""

import errno
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kenyon_lab.protocol.job import Job, Problem
from kenyon_lab.protocol.store import Store
from lab.tests.protocol.samples import RECORD, record

JOB = Job(Problem("folder/mine.npz"), "0123456789abcdef", "slda", "default", {}, "shuffled", seed=3)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def files(store):
    found = [path for path in store.folder.rglob("*") if path.is_file()]
    return sorted(path.relative_to(store.folder) for path in found)


def test_a_file_for_each_run_named_so_that_people_find_it(store):
    store.put(JOB, RECORD)
    assert files(store) == [Path(f"runs/mine.npz/slda/shuffled-3-{JOB.digest}.json")]
    assert json.loads(store.path(JOB).read_text()) == {"format": 1, **asdict(RECORD)}


def test_what_was_put_is_found(store):
    assert store.find(JOB) is None
    store.put(JOB, RECORD)
    assert asdict(Store(str(store.folder)).find(JOB)) == asdict(RECORD)


def test_another_run_is_not_found(store):
    store.put(JOB, RECORD)
    for change in ({"seed": 4}, {"order": "classes"}, {"method": "ncm"}, {"fingerprint": "x"}):
        assert store.find(replace(JOB, **change)) is None


def test_it_is_found_wherever_the_parameters_come_from(store):
    store.put(JOB, RECORD)
    assert store.find(replace(JOB, setting="tuned")).setting == "tuned"


def test_once_tuned_it_is_no_longer_as_given(store):
    store.put(JOB, record(setting="given"))
    assert store.find(replace(JOB, setting="tuned")).setting == "tuned"
    assert store.find(replace(JOB, setting="given")).setting == "given"
    assert [kept.setting for kept in store] == ["tuned"]


def test_once_asked_for_as_usual_it_is_kept_as_usual(store):
    store.put(JOB, record(setting="tuned"))
    assert store.find(replace(JOB, setting="grid")).setting == "grid"
    assert [kept.setting for kept in store] == ["tuned"]
    assert store.find(JOB).setting == "default"
    assert [kept.setting for kept in store] == ["default"]
    assert store.find(replace(JOB, setting="tuned")).setting == "tuned"
    assert [kept.setting for kept in store] == ["default"]


def test_on_other_threads_it_is_another_run(store):
    store.put(JOB, RECORD)
    assert store.find(replace(JOB, n_threads=RECORD.n_threads + 1)) is None
    assert store.find(JOB).setting == "default"


def test_a_run_is_found_only_with_all_that_is_asked_for(store):
    modest = replace(JOB, alone=False)
    store.put(modest, record(alone=None))
    assert store.find(JOB) is None
    assert store.find(modest) is not None
    store.put(JOB, RECORD)
    assert store.find(JOB).alone == store.find(modest).alone == RECORD.alone
    assert len(files(store)) == 1


def test_all_runs(store):
    assert list(store) == []
    jobs = [replace(JOB, method=method, seed=seed) for method in ("ncm", "slda") for seed in (1, 2)]
    for job in reversed(jobs):
        store.put(job, record(method=job.method, seed=job.seed))
    (store.folder / "tuned").mkdir()
    (store.folder / "tuned" / "slda-shuffled-0.json").write_text("{}")
    (store.folder / "runs" / "notes.txt").write_text("mine")
    # What remains when a process is killed while it writes.
    store.path(JOB).with_name(f".{store.path(JOB).name}.0.part").write_text('{"form')
    found = [(found.method, found.seed) for found in store]
    assert found == [(job.method, job.seed) for job in jobs]
    assert store.find(JOB) is None


DAMAGES = {
    "empty": b"",
    "cut": RECORD.to_json().encode()[:500],
    "no text": b"\xff\xfe\x00",
    "something else": b'{"format": 1}',
    "of another time": RECORD.to_json().replace('"format": 1', '"format": 7').encode(),
}


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_named_in_one_sentence(store, content):
    store.put(JOB, RECORD)
    path = store.path(JOB)
    path.write_bytes(content)
    for read in (lambda: store.find(JOB), lambda: list(store)):
        with pytest.raises(ValueError) as caught:
            read()
        assert str(caught.value).startswith(f"{path} does not hold the record of a run: ")
        assert "\n" not in str(caught.value)


def fill_up(path, text, encoding):
    """Write a part of a text, as on a disk that is full."""
    path.write_bytes(text[:100].encode(encoding))
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_record_is_written_whole_or_not_at_all(store, monkeypatch):
    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError, match=f"could not be written: No space.*{JOB.digest}.json"):
        store.put(JOB, RECORD)
    assert store.find(JOB) is None
    assert files(store) == []


def test_what_was_there_stays_until_the_new_is_whole(store, monkeypatch):
    store.put(JOB, RECORD)
    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError):
        store.put(JOB, record(accuracy=0.9))
    assert asdict(store.find(JOB)) == asdict(RECORD)
    assert len(files(store)) == 1


def test_what_cannot_be_written_as_json_leaves_nothing(store):
    with pytest.raises(ValueError):
        store.put(JOB, record(accuracy=float("nan")))
    assert files(store) == []


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        Store(tmp_path / "file").put(JOB, RECORD)
