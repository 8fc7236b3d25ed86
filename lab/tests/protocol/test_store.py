"""Records in files, found by their digest."""

import errno
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS, Experiment, ExperimentJob
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Job, Problem
from kenyon_lab.protocol.record import ExperimentRecord, RunRecord, SearchRecord
from kenyon_lab.protocol.store import Store
from lab.tests.protocol.samples import RECORD, record

JOB = Job(Problem("folder/user.npz"), "0123456789abcdef", "slda", {"shrinkage": 0.0001}, "shuffled")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def files(store):
    found = [path for path in store.folder.rglob("*") if path.is_file()]
    return sorted(path.relative_to(store.folder) for path in found)


def test_a_file_for_each_run(store):
    assert store.put(RECORD) == store.path(JOB) == store.path(RECORD)
    assert files(store) == [Path(f"runs/slda/shuffled-0-{JOB.digest}.json")]
    content = json.loads(store.path(JOB).read_text())
    assert content == {"format": 2, "kind": "run", **asdict(RECORD)}


def test_finds_what_was_put(store):
    assert store.find(JOB) is None
    store.put(RECORD)
    assert asdict(Store(str(store.folder)).find(JOB)) == asdict(RECORD)


STALE = {
    "code version": {"code_version": 2},
    "parameters": {"parameters": {"shrinkage": 0.5}},
    "one more parameter": {"parameters": {"shrinkage": 0.0001, "x": None}},
    "data": {"fingerprint": "of other data"},
    "order": {"order": "classes"},
    "permuted": {"permuted": True},
    "seed": {"seed": 1},
    "method": {"method": "ncm"},
}


@pytest.mark.parametrize("changes", STALE.values(), ids=STALE.keys())
def test_does_not_find_a_record_that_differs(store, changes):
    store.put(record(**changes))
    assert store.find(JOB) is None
    store.put(RECORD)
    assert len(files(store)) == 2, "neither replaces the other"


def test_does_not_find_a_record_of_another_code_version(store, monkeypatch):
    store.put(RECORD)
    monkeypatch.setitem(METHODS, "slda", replace(METHODS["slda"], version=2))
    assert store.find(JOB) is None


def test_a_record_in_the_file_of_another_is_refused(store):
    path = store.put(RECORD)
    path.write_text(record(parameters={"shrinkage": 0.5}).to_json())
    with pytest.raises(ValueError, match=r"json is not the record of a run: its content has the"):
        store.find(JOB)


def test_the_name_of_the_dataset_does_not_matter(store):
    store.put(RECORD)
    assert store.find(replace(JOB, problem=Problem("copy.npz"))) is not None


def test_another_number_of_threads_is_not_accepted(store):
    store.put(RECORD)
    assert store.find(replace(JOB, n_threads=RECORD.n_threads + 1)) is None


def test_single_task_accuracies_if_requested(store):
    without = replace(JOB, single_task=False)
    store.put(record(single_task=None))
    assert store.find(JOB) is None
    assert store.find(without) is not None
    store.put(RECORD)
    assert store.find(JOB).single_task == store.find(without).single_task == RECORD.single_task
    assert len(files(store)) == 1


def test_a_record_that_another_process_wrote_is_kept(store):
    fuller, mine = record(accuracy=0.9), record(single_task=None)
    without = replace(JOB, single_task=False)
    assert store.put_run(without, mine) is mine
    assert store.put_run(JOB, fuller) is fuller, "the other lacks what this job wants"
    assert store.put_run(without, mine).to_json() == fuller.to_json()
    assert store.find(JOB).to_json() == fuller.to_json()
    assert len(files(store)) == 1


def test_all_runs(store):
    assert list(store.records(RunRecord)) == []
    for method in ("slda", "ncm"):
        for seed in (2, 1):
            store.put(record(method=method, seed=seed))
    (store.folder / "runs" / "notes.txt").write_text("of the user")
    # A process that was killed while it wrote leaves such a file.
    store.path(JOB).with_name(f".{store.path(JOB).name}.0.part").write_text('{"form')
    found = [(found.method, found.seed) for found in store.records(RunRecord)]
    assert found == [("ncm", 1), ("ncm", 2), ("slda", 1), ("slda", 2)]
    assert store.find(JOB) is None


DAMAGES = {
    "empty": b"",
    "cut": RECORD.to_json().encode()[:500],
    "no text": b"\xff\xfe\x00",
    "something else": b'{"format": 2, "kind": "run"}',
    "another format": RECORD.to_json().replace('"format": 2', '"format": 7').encode(),
}


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_named_in_one_sentence(store, content):
    path = store.put(RECORD)
    path.write_bytes(content)
    for read in (lambda: store.find(JOB), lambda: list(store.records(RunRecord))):
        with pytest.raises(ValueError) as caught:
            read()
        assert str(caught.value).startswith(f"{path} is not the record of a run: ")
        assert "\n" not in str(caught.value)


def fill_up(path, text, encoding):
    """Write a part of a text, as on a full disk."""
    path.write_bytes(text[:100].encode(encoding))
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_failed_write_leaves_nothing(store, monkeypatch):
    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError, match=f"{JOB.digest}.json could not be written: No space"):
        store.put(RECORD)
    assert store.find(JOB) is None
    assert files(store) == []


def test_a_failed_write_leaves_the_old_record(store, monkeypatch):
    store.put(RECORD)
    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError):
        store.put(record(accuracy=0.9))
    assert asdict(store.find(JOB)) == asdict(RECORD)
    assert len(files(store)) == 1


def test_nan_leaves_nothing(store):
    with pytest.raises(ValueError):
        store.put(record(accuracy=float("nan")))
    assert files(store) == []


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        Store(tmp_path / "file").put(RECORD)


@pytest.fixture
def quick(monkeypatch):
    """An experiment that takes no time, on digits."""

    class Quick(Experiment):
        def measure(self, seed):
            return {"accuracies": [0.5, seed]}

    monkeypatch.setitem(EXPERIMENTS, "quick", Quick("quick", "", ("digits",)))
    return lambda seed=0: ExperimentJob("quick", seed)


def test_experiments(store, quick):
    assert store.find(quick(3)) is None
    store.put(quick(3).run())
    found = store.find(quick(3))
    assert isinstance(found, ExperimentRecord)
    assert (found.experiment, found.seed, found.found) == ("quick", 3, {"accuracies": [0.5, 3]})
    assert found.versions["python"]
    assert found.seconds >= 0
    assert store.find(quick(4)) is None
    assert files(store) == [Path(f"experiments/quick-3-{quick(3).digest}.json")]


def test_does_not_find_an_experiment_that_differs(store, quick, monkeypatch):
    store.put(quick().run())
    for changes in ({"version": 2}, {"datasets": ("mnist20",)}):
        with monkeypatch.context() as context:
            context.setitem(EXPERIMENTS, "quick", replace(EXPERIMENTS["quick"], **changes))
            assert store.find(quick()) is None
    assert store.find(quick()) is not None


def test_an_experiment_that_fails_leaves_nothing(store, quick, monkeypatch):
    def fail(self, seed):
        raise MemoryError

    monkeypatch.setattr(type(EXPERIMENTS["quick"]), "measure", fail)
    with pytest.raises(MemoryError):
        store.put(quick().run())
    assert files(store) == []


def test_kinds_are_separate(store, quick):
    store.put(RECORD)
    store.put(quick().run())
    assert len(list(store.records(RunRecord))) == len(list(store.records(ExperimentRecord))) == 1
    assert list(store.records(SearchRecord)) == []
