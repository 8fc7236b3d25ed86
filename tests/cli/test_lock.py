"""One process at a time changes a model."""

import fcntl
import os
import threading

import pytest

import kenyon
from kenyon import FlyClassifier
from kenyon.cli.model_lock import locked
from tests.cli.command import assert_error, call
from tests.cli.samples import digits, texts, write_texts

X, Y = digits(100)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.kenyon"
    FlyClassifier(n_cells=50).fit(X, Y).save(path)
    return path


@pytest.fixture
def changing(path, tmp_path):
    """Return the commands that change a model."""
    other = tmp_path / "other.kenyon"
    FlyClassifier(n_cells=50).fit(X, Y).save(other)
    table = write_texts(tmp_path / "table.csv", texts(3))
    return [
        ("learn", path, table, "--features", "x*"),
        ("unlearn", path, table),
        ("teach", path),
        ("rename", path, "1", "11"),
        ("drop", path, "1"),
        ("merge", path, path, other),
    ]


def test_a_second_process_is_refused(path, changing):
    before = path.read_bytes()
    with locked(path):
        for command in changing:
            result = call(*command)
            assert_error(result, f"another process is changing {path}: --wait waits for it")
        # Readers need no lock, and another file may be written.
        assert call("show", path)[0] == 0
        assert call("drop", path, "1", "--output", path.with_name("less.kenyon"))[0] == 0
    assert path.read_bytes() == before
    assert not [file for file in path.parent.iterdir() if file.name.startswith(".")]


def test_waiting(path):
    held, done = threading.Event(), threading.Event()

    def hold():
        with locked(path):
            held.set()
            assert done.wait(120)
            kenyon.load(path).drop_class(2).save(path)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(120)
    flock = fcntl.flock

    def let_go_once_awaited(file, how):
        if not how & fcntl.LOCK_NB:
            threading.Timer(0.2, done.set).start()
        return flock(file, how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kenyon.cli.model_lock.fcntl.flock", let_go_once_awaited)
        code, _, err = call("drop", path, "1", "--wait")
    thread.join()
    assert (code, err) == (0, f"Waiting for another process that is changing {path}\n")
    # It has read the model only when the other one had written it.
    assert kenyon.load(path).classes_.tolist() == [0, 3, 4, 5, 6, 7, 8, 9]


def test_the_lock_of_a_killed_process_is_taken(path):
    lock = path.with_name(f".{path.name}.lock")
    lock.touch()
    assert call("drop", path, "1")[0] == 0
    assert not lock.exists()


def test_a_link_and_its_target_have_one_lock(path, tmp_path):
    link = tmp_path / "link.kenyon"
    link.symlink_to(path)
    with locked(path):
        assert_error(call("drop", link, "1"), "another process is changing")
    loop = tmp_path / "loop.kenyon"
    loop.symlink_to(loop)
    assert_error(call("drop", path, "1", "--output", loop), "loop.kenyon could not be written")


def test_a_lock_file_that_was_removed_meanwhile_is_no_lock(path):
    lock = path.with_name(f".{path.name}.lock")
    flock, removed = fcntl.flock, []

    def remove_first(file, how):
        if not removed:
            removed.append(lock.unlink())
        return flock(file, how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kenyon.cli.model_lock.fcntl.flock", remove_first)
        with locked(path):
            assert lock.exists()
    assert removed
    assert not lock.exists()


def test_file_systems_without_locks(path, monkeypatch):
    def refuse(file, how):
        raise OSError(os.strerror(95))

    monkeypatch.setattr("kenyon.cli.model_lock.fcntl.flock", refuse)
    assert call("drop", path, "1")[0] == 0
    assert 1 not in kenyon.load(path).classes_
