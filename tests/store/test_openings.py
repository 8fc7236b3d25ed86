"""Who may use a store: one process, until it is closed; copies are stores of their own."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import kenyon.store
from kenyon.store import StoreFailed, StoreInUse
from tests.forking import in_child, untraced
from tests.store.data import LABELS, N_FEATURES, SETTINGS, X, assert_one_sentence


def test_two_openings_of_one_folder(store, folder):
    with pytest.raises(StoreInUse, match="is open already") as caught:
        kenyon.store.open(folder)
    assert_one_sentence(caught.value)
    program = f"import kenyon.store; kenyon.store.open({str(folder)!r})"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "StoreInUse" in found.stderr
    assert store.create("m", N_FEATURES, SETTINGS).learn(X[:1], ["a"]).event == 1
    store.close()
    kenyon.store.open(folder).close()


def test_a_forked_process_must_open_the_store_itself(model, store, folder):
    def refuse():
        calls = (
            lambda: model.learn(X[:1], ["a"]),
            lambda: model.events(),
            lambda: store.create("other", 4),
            lambda: store.delete("m"),
            lambda: store.compact(),
            lambda: store.keys.create("key", {"admin"}),
            lambda: model.wait(9),
            lambda: store.verify(),
        )
        for call in calls:
            with pytest.raises(StoreFailed, match="forked") as caught:
                call()
            assert_one_sentence(caught.value)
        store.close()

    published = model.published

    def read():
        assert published.classifier.predict(X[:4]).tolist() == LABELS

    with untraced():
        in_child(read)
        in_child(refuse)
        # Other threads of the parent may hold locks that nobody frees in the new process.
        with store._changing, store._database._writing, store.keys._lock:
            in_child(refuse)
    assert model.learn(X[4:5], ["a"]).event == 2
    assert all(finding.is_right for finding in store.verify())


def fork_without_handlers():
    """Fork as a C library does: the child closes no file."""
    return ctypes.PyDLL(None).fork()


@pytest.mark.parametrize("fork", [os.fork, fork_without_handlers])
def test_a_forked_process_does_not_keep_the_lock(fork, model, store, folder):
    with untraced():
        pid = fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
    try:
        store.close()
        with kenyon.store.open(folder) as again:
            assert again["m"].classes() == dict.fromkeys(LABELS, 1)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_model_that_outlives_its_store_keeps_the_lock(folder):
    def forget_the_store():
        model = kenyon.store.open(folder).create("m", N_FEATURES, SETTINGS)
        gc.collect()
        with pytest.raises(StoreInUse):
            kenyon.store.open(folder)
        assert model.learn(X[:1], ["a"]).event == 1

    with untraced():
        in_child(forget_the_store)
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {"a": 1}


def test_a_closed_store(model, store):
    waiting = model.when(5)
    store.close()
    store.close()
    with pytest.raises(StoreFailed, match="the store is closed"):
        waiting.result(10)
    calls = (
        lambda: model.learn(X[:1], ["a"]),
        lambda: model.events(),
        lambda: model.published,
        lambda: model.wait(1),
        lambda: model.predict(X[:1]),
        lambda: store.create("other", 4),
        lambda: store.delete("m"),
        lambda: store.keys.create("key", {"admin"}),
    )
    for call in calls:
        with pytest.raises(StoreFailed, match="the store is closed"):
            call()


def test_requests_that_wait_when_the_store_is_closed_are_written(folder):
    with kenyon.store.open(folder) as store:
        model = store.create("m", N_FEATURES, SETTINGS)
        futures = [model.submit(model.learning(X[:1], ["a"])) for _ in range(200)]
    assert [future.result(0).event for future in futures] == [*range(1, 201)]
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {"a": 200}


def test_a_copy_of_a_folder_is_a_store(model, store, folder, tmp_path):
    store.close()
    shutil.copytree(folder, tmp_path / "copy")
    with kenyon.store.open(tmp_path / "copy") as copy:
        assert copy["m"].digest()[0] == 1
