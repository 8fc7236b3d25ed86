"""Failing disks, jumping clocks, damaged files: one sentence, and nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import kenyon.store
from kenyon.store import StoreFailed
from tests.store.data import LABELS, N_FEATURES, SETTINGS, X, all_bytes, assert_one_sentence


def assert_unchanged(model, store, digest):
    assert model.event == digest[0]
    assert model.digest() == digest
    assert all(finding.is_right for finding in store.verify())


CHANGES = {
    "learn": lambda m: m.learn(np.tile(X, (2000, 1)), ["a"] * 2000 * len(X)),
    "unlearn": lambda m: m.unlearn(["h"]),
    "drop": lambda m: m.drop_class("a"),
    "rename": lambda m: m.rename_class("a", "z"),
    "undo": lambda m: m.undo(1),
    "set": lambda m: m.set(learning_rate=0.5),
}


@contextmanager
def small_files(size):
    """Let writes beyond a size fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", CHANGES)
def test_files_that_cannot_grow(model, store, name):
    digest = model.digest()
    with small_files(4096):
        for _ in range(2):
            with pytest.raises(StoreFailed, match="could not be written") as caught:
                CHANGES[name](model)
            assert_one_sentence(caught.value)
        with pytest.raises(StoreFailed):
            store.create("other", 4)
        with pytest.raises(StoreFailed):
            store.keys.create("key", {"admin"})
        with pytest.raises(StoreFailed):
            store.delete("m")
        # Reading goes on.
        assert model.predict(X[:4]).tolist() == LABELS
        assert model.classes() == dict.fromkeys(LABELS, 1)
    assert_unchanged(model, store, digest)
    assert store.names() == ["m"]
    assert store.keys.all() == []
    assert CHANGES[name](model).event == digest[0] + 1
    assert all(finding.is_right for finding in store.verify())


@pytest.fixture
def disk(tmp_path):
    """A small file system, which root alone can mount."""
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk(disk):
    with kenyon.store.open(disk / "store") as store:
        model = store.create("m", N_FEATURES, SETTINGS)
        many, labels = np.tile(X, (10, 1)), ["a", "b"] * 5 * len(X)
        errors = [model.submit(model.learning(many, labels)).exception() for _ in range(300)]
        n = errors.count(None)
        assert 0 < n < 300
        for error in filter(None, errors):
            assert isinstance(error, StoreFailed)
            assert "full" in str(error)
            assert_one_sentence(error)
        assert model.event == n
        with pytest.raises(StoreFailed):
            model.learn(many, labels)
        assert model.classes() == {"a": n * 200, "b": n * 200}
        assert model.predict(X[:1]).tolist() in (["a"], ["b"])
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert model.learn(X[:1], ["a"]).event == n + 1
        assert all(finding.is_right for finding in store.verify())


def test_a_disk_that_becomes_read_only(disk):
    """Opening fails with a sentence, and works again without another step."""
    with kenyon.store.open(disk / "store") as store:
        store.create("m", N_FEATURES, SETTINGS).learn(X[:4], LABELS)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for folder in (disk / "store", disk / "other"):
        with pytest.raises(StoreFailed, match="could not be opened: Read-only") as caught:
            kenyon.store.open(folder)
        assert_one_sentence(caught.value)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    with kenyon.store.open(disk / "store") as store:
        assert store["m"].classes() == dict.fromkeys(LABELS, 1)
        assert store["m"].learn(X[4:5], ["a"]).event == 2


def test_a_folder_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("text")
    for folder in (path, path / "below"):
        with pytest.raises(StoreFailed, match="could not be opened") as caught:
            kenyon.store.open(folder)
        assert_one_sentence(caught.value)


def set_clock(monkeypatch, times):
    """Let the thread that writes read these times, one for each transaction, and nobody else."""
    clock = SimpleNamespace(time=iter(times).__next__, monotonic=time.monotonic)
    monkeypatch.setattr("kenyon.store.committer.time", clock)


def test_a_clock_that_jumps(store, monkeypatch):
    model = store.create("m", N_FEATURES, SETTINGS)
    clock = [1e9, 4e9, 1.0, 2e9, 0.0, 1e9 + 1, 4e9]
    set_clock(monkeypatch, clock)
    for i in range(len(clock)):
        assert model.learn(X[i : i + 1], ["a"], key=f"key {i}").event == i + 1
    monkeypatch.undo()
    assert [event.time for event in model.events()] == clock
    # No key is forgotten, although years seem to have passed.
    for i in range(len(clock)):
        receipt = model.learn(X[i : i + 1], ["a"], key=f"key {i}")
        assert receipt == (i + 1, 1, [f"#{i + 1}.0"], True)
    # Retention goes by the recorded times.
    assert model.unlearn_before(1e9 + 0.5) == 3
    assert sorted(sample.row for sample in model.samples()) == [1, 3, 5, 6]


def test_old_keys_are_forgotten(store, monkeypatch):
    monkeypatch.setattr("kenyon.store.committer.MIN_KEYS", 3)
    model = store.create("m", N_FEATURES, SETTINGS)
    start = time.time()
    set_clock(monkeypatch, [start, start + 1, start + 2, start + 8e5, start + 16e5])
    for i in range(5):
        model.learn(X[i : i + 1], ["a"], key=f"key {i}")
    with store._database.reading() as reader:
        known = [i for i in range(5) if reader.request(model.replica.number, f"key {i}")]
    assert known == [2, 3, 4]


def closed_store(folder):
    with kenyon.store.open(folder) as store:
        store.create("m", N_FEATURES, SETTINGS).learn(X[:4], LABELS)
        store["m"].wait(1)
    return folder / "store.sqlite"


def assert_refused(folder, words):
    before = all_bytes(folder)
    for _ in range(2):
        with pytest.raises(StoreFailed, match=words) as caught:
            kenyon.store.open(folder)
        assert_one_sentence(caught.value)
    assert all_bytes(folder) == before


@pytest.mark.parametrize(("place", "error"), [("", ValueError), (None, TypeError), (5, TypeError)])
def test_a_place_must_be_a_folder(place, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match="place must be a folder or an address, but is"):
        kenyon.store.open(place)
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_is_no_database(folder):
    closed_store(folder).write_bytes(b"no database" * 1000)
    assert_refused(folder, "not a database")


def test_a_damaged_header(folder):
    path = closed_store(folder)
    content = bytearray(path.read_bytes())
    content[:16] = b"x" * 16
    path.write_bytes(content)
    assert_refused(folder, "not a database")


def test_a_missing_database(folder):
    path = closed_store(folder)
    content = path.read_bytes()
    path.unlink()
    assert_refused(folder, "has no store.sqlite, but 1-1.kenyon")
    path.write_bytes(content)
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == dict.fromkeys(LABELS, 1)


def test_a_database_of_something_else(folder):
    folder.mkdir()
    with sqlite3.connect(folder / "store.sqlite") as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    (folder / "lock").touch()
    assert_refused(folder, "but not a store of Kenyon")


def test_a_newer_database(folder):
    with sqlite3.connect(closed_store(folder)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert_refused(folder, "has the version 99, but this Kenyon reads versions up to 1")


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_page_is_found(folder, seed):
    """Damage is an error or a finding, and never other sums that look right."""
    path = closed_store(folder)
    content = bytearray(path.read_bytes())
    random = np.random.default_rng(seed)
    at = int(random.integers(1, len(content) // 4096)) * 4096
    content[at : at + 4096] = random.bytes(4096)
    path.write_bytes(content)
    try:
        with kenyon.store.open(folder) as store:
            findings = store.verify()
        assert not all(finding.is_right for finding in findings)
    except StoreFailed as error:
        assert_one_sentence(error)


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "text": lambda content: b"no model",
    "bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_snapshot_is_not_used(folder, damage, caplog):
    closed_store(folder)
    (path,) = (folder / "snapshots").iterdir()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with kenyon.store.open(folder) as store:
        model = store["m"]
        wrong = [finding for finding in store.verify() if not finding.is_right]
        assert [finding.what for finding in wrong] == ["snapshot"]
        assert model.updater.recovery.snapshot is None
        assert model.predict(X[:4]).tolist() == LABELS
    assert "the log is replayed" in caplog.text
    with kenyon.store.open(folder) as store:
        # A new one was written.
        assert all(finding.is_right for finding in store.verify())
        assert store["m"].updater.recovery.snapshot == 1


def test_a_snapshot_of_another_state_is_not_used(folder, caplog):
    closed_store(folder)
    (path,) = (folder / "snapshots").iterdir()
    with kenyon.store.open(folder.parent / "other") as other:
        other.create("m", N_FEATURES, SETTINGS).learn(X[:4], LABELS[::-1])
        path.write_bytes(other["m"].export())
    with kenyon.store.open(folder) as store:
        assert store["m"].predict(X[:4]).tolist() == LABELS
    assert "differs from its digest" in caplog.text


def test_snapshots_that_cannot_be_written(store, monkeypatch, caplog):
    monkeypatch.setattr("kenyon.store.updater.SNAPSHOT_SECONDS", 0.01)
    folder = store.folder / "snapshots"
    folder.write_text("a file in the way")
    model = store.create("m", N_FEATURES, SETTINGS)
    model.learn(X[:4], LABELS)
    assert model.wait(1).event == 1
    end = time.monotonic() + 30
    while "a snapshot could not be written" not in caplog.text:
        assert time.monotonic() < end
        time.sleep(0.01)
    folder.unlink()
    while not [*folder.glob("*.kenyon")]:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert all(finding.is_right for finding in store.verify())


def test_an_error_while_the_model_is_updated_is_told_and_passes(model, monkeypatch):
    from kenyon.store import updater

    monkeypatch.setattr(updater, "RETRY_SECONDS", 0.01)

    def fail(*_):
        raise OSError("the disk is slow")

    with monkeypatch.context() as patched:
        patched.setattr(updater, "learn", fail)
        patched.setattr(updater, "load", fail)
        assert model.learn(X[4:5], ["a"]).event == 2
        with pytest.raises(StoreFailed, match="the disk is slow"):
            model.wait(2, 30)
        # What was published stays.
        assert model.published.event == 1
    end = time.monotonic() + 30
    while model.updater.error is not None:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert model.wait(2, 30).event == 2


def test_a_listener_that_fails_disturbs_nobody(model, caplog):
    heard = threading.Event()
    model.listen(lambda published: 1 / 0)
    end = model.listen(lambda published: heard.set())
    model.learn(X[4:5], ["a"])
    assert model.wait(2).event == 2
    assert heard.wait(30)
    end()
    assert model.updater.error is None
    assert "a listener failed" in caplog.text
