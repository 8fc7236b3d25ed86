"""Unlearned samples: afterwards no byte of them is in any file of the store."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import kenyon
import kenyon.store
from kenyon.store.features import to_blobs
from tests.forking import untraced
from tests.store.data import SMALL, all_bytes, wait_until_cleaned

WIDTH = 24
RANDOM = np.random.default_rng(11)


def needles(model, X, ids=(), labels=(), texts=()):
    """Return what must not be found: parts of the features, since a part tells of a sample, too."""
    blobs = to_blobs(model.learning(X, ["any"] * len(X)).features)
    parts = [blob[start : start + 16] for blob in blobs for start in (0, len(blob) - 16)]
    return parts + [each.encode() for each in (*ids, *labels, *texts)]


def found_in(folder, wanted):
    return [
        (name, needle)
        for name, content in all_bytes(folder).items()
        for needle in wanted
        if needle in content
    ]


def names(n, word):
    return [f"{word}-{RANDOM.integers(1 << 60):x}" for _ in range(n)]


def test_the_search_finds_what_is_there(store):
    """Otherwise the other tests could not fail."""
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((1, WIDTH))
    model.learn(X, ["label-found"], ["id-found"])
    wanted = needles(model, X, ["id-found"], ["label-found"])
    assert {needle for _, needle in found_in(store.folder, wanted)} == {*wanted}


def test_nothing_is_left_of_unlearned_samples(store):
    # Models whose rows lie among each other, and random ids: pages are split and joined.
    models = [store.create(f"m{i}", WIDTH, {"readout": "fly", **SMALL}) for i in range(3)]
    wanted, erased = [], []
    for round_ in range(120):
        model = models[round_ % 3]
        X, ids, labels = RANDOM.standard_normal((6, WIDTH)), names(6, "id"), names(6, "label")
        labels[3:] = ["shared"] * 3
        model.learn(X, labels, ids)
        if round_ % 2:
            wanted += needles(model, X[1:5], ids[1:5], labels[1:3])
            erased.append((model, ids[1:5]))
    for model, ids in erased:
        model.unlearn(ids[:2])
        model.unlearn(ids[2:])
    assert found_in(store.folder, wanted) == []
    folder = store.folder
    store.close()
    assert found_in(folder, wanted) == []
    with kenyon.store.open(folder) as again:
        assert all(finding.is_right for finding in again.verify())
        events = again["m1"].events()
        assert events[0].ids[1:5] == [None] * 4
        assert events[0].labels[0].startswith("label-")
        assert events[0].labels[1:5] == [None] * 4


def test_texts_and_replaced_and_undone_samples_are_erased(store):
    model = store.create("m", encoder="hashing", keep_texts=True, settings={"n_cells": 400})
    texts = [f"the word {word} is secret" for word in names(4, "word")]
    model.learn(texts[:1], ["a"], ["same-id"])
    model.learn(texts[1:2], ["a"], ["same-id"], replace=True)
    model.learn(texts[2:3], ["b"], ["undone-id"])
    model.undo(3)
    model.learn(texts[3:], ["c"], ["kept-id"])
    assert [sample.text for sample in model.samples()] == [texts[1], texts[3]]
    wanted = needles(model, model.encode(texts[:3]), ["same-id", "undone-id"], texts=texts[:3])
    # Rows of texts are mostly zeros, and parts of them may be those of the text that stays.
    kept = to_blobs(model.learning(texts[3:], ["any"]).features)[0]
    wanted = [needle for needle in wanted if needle not in kept]
    assert len({needle for _, needle in found_in(store.folder, wanted)}) >= 5
    assert model.unlearn(["same-id", "undone-id"]).n == 1
    assert found_in(store.folder, wanted) == []
    assert found_in(store.folder, [texts[3].encode()]) != []
    assert model.classes() == {"c": 1}
    # What an undo would bring back is gone.
    model.undo(4)
    model.undo(model.event)
    assert model.classes() == {"c": 1}


def test_a_label_stays_while_an_event_or_a_sample_names_it(store):
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((4, WIDTH))
    model.learn(X, ["only", "renamed", "shared", "shared"], ["o", "r", "s", "t"])
    model.rename_class("renamed", "again")
    model.unlearn(["o", "r", "s"])
    assert found_in(store.folder, [b"only"]) == []
    assert found_in(store.folder, [b"renamed"]) != []
    assert model.events()[1].detail == {"old": "renamed", "new": "again"}
    assert model.classes() == {"shared": 1}
    model.learn(X[:1], ["only"])
    folder = store.folder
    store.close()
    with kenyon.store.open(folder) as again:
        assert again["m"].classes() == {"only": 1, "shared": 1}
        assert again["m"].events()[0].labels == [None, None, None, "shared"]


def test_an_erased_label_of_samples_that_wait_to_be_learned(store):
    """The thread of the model learns a sample whose label was erased in the same transaction."""
    from tests.store.data import grouped

    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((2, WIDTH))
    model.learn(X[:1], ["kept"])
    assert model.published.event == 1
    with grouped(store):
        first = model.submit(model.learning(X[1:], ["gone"], ["g"]))
        second = model.submit(kenyon.store.Unlearn(["g"]))
    assert (first.result().event, second.result().event) == (2, 3)
    assert model.wait(3).classifier.classes_.tolist() == ["kept"]
    assert model.updater.error is None


def test_readers_do_not_keep_erased_content(store, monkeypatch):
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((2, WIDTH))
    model.learn(X, ["a", "b"], ["id-kept", "id-gone"])
    wanted = needles(model, X[1:], ["id-gone"])
    with store._database.reading() as reader:
        assert reader.ids(model.replica.number, [1]) == ["id-gone"]
        erasing = model.submit(kenyon.store.Unlearn(["id-gone"]))
        # Other changes do not wait for the reader.
        assert model.learn(X[:1], ["a"]).event == 3
        assert not erasing.done()
        # The reader goes on seeing what it saw.
        assert reader.ids(model.replica.number, [1]) == ["id-gone"]
    assert erasing.result(30).event == 2
    assert found_in(store.folder, wanted) == []


def test_a_reader_that_stays_delays_the_receipt_only(store, monkeypatch, caplog):
    monkeypatch.setattr("kenyon.store.committer.CLEANING_SECONDS", 0.2)
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((2, WIDTH))
    model.learn(X, ["a", "b"], ["id-kept", "id-gone"])
    wanted = needles(model, X[1:], ["id-gone"])
    with store._database.reading() as reader:
        reader.models()
        assert model.unlearn(["id-gone"]).event == 2
        assert "will be removed" in caplog.text
        assert found_in(store.folder, wanted) != []
    # It is removed without another call, as soon as the reader has ended.
    end = time.monotonic() + 30
    while found_in(store.folder, wanted):
        assert time.monotonic() < end
        time.sleep(0.01)


class HandedOver:
    """A lock that stays free for a while after each use, so that a waiting thread gets it."""

    def __init__(self):
        self._lock = threading.Lock()

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()
        time.sleep(0.05)


def test_an_erasure_while_the_file_is_rewritten(store, monkeypatch):
    """A rewriting removes no stray copies of what is erased after it."""
    model = store.create("m", WIDTH, SMALL)
    model.learn(RANDOM.standard_normal((2, WIDTH)), ["a", "b"], ["i", "j"])
    assert model.wait(1)
    wait_until_cleaned(store)
    statements = []
    store._database._writer.set_trace_callback(statements.append)
    monkeypatch.setattr(store._database, "_writing", HandedOver())
    compacting = threading.Thread(target=store.compact)
    compacting.start()
    end = time.monotonic() + 30
    while "VACUUM" not in statements:
        assert time.monotonic() < end
        time.sleep(0.001)
    model.unlearn(["j"])
    compacting.join()
    erasures = [i for i, each in enumerate(statements) if each.startswith("UPDATE samples")]
    rewritings = [i for i, each in enumerate(statements) if each == "VACUUM"]
    assert erasures
    assert rewritings[-1] > erasures[-1]


def test_a_kill_after_the_receipt(folder):
    reading, writing = os.pipe()
    X = RANDOM.standard_normal((2, WIDTH))
    ids = names(2, "id")
    with untraced():
        pid = os.fork()
        if pid == 0:
            store = kenyon.store.open(folder)
            model = store.create("m", WIDTH, SMALL)
            model.learn(X, ["a", "b"], ids)
            assert model.published.event == 1
            model.unlearn(ids[1:])
            os.write(writing, b"done")
            os.kill(os.getpid(), 9)
    os.close(writing)
    assert os.read(reading, 4) == b"done"
    os.close(reading)
    os.waitpid(pid, 0)
    with kenyon.store.open(folder.parent / "other") as other:
        wanted = needles(other.create("m", WIDTH, SMALL), X[1:], ids[1:])
    assert found_in(folder, wanted) == []
    assert found_in(folder, [ids[0].encode()]) != []
    with kenyon.store.open(folder) as store:
        assert store["m"].classes() == {"a": 1}


@pytest.mark.parametrize("readout", ["fly", "ridge"])
@pytest.mark.parametrize("window", [None, 3])
def test_snapshots_hold_no_codes_of_unlearned_samples(folder, readout, window):
    X = RANDOM.standard_normal((4, WIDTH))
    settings = {"readout": readout, "window": window, **SMALL}
    with kenyon.store.open(folder) as store:
        model = store.create("m", WIDTH, settings)
        model.learn(X, ["a", "a", "b", "b"], ["i", "j", "k", "l"])
        model.wait(1)
    (path,) = (folder / "snapshots").glob("*.kenyon")
    assert codes_of(path) == {*codes(X if window is None else X[1:], settings)}
    with kenyon.store.open(folder) as store:
        store["m"].unlearn(["k"])
        assert not path.exists()
        store["m"].wait(2)
    (path,) = (folder / "snapshots").glob("*.kenyon")
    assert codes_of(path) == {*codes(X[[0, 1, 3]], settings)}


def codes(X, settings):
    """Return the codes of samples as a model of their own has them in its calibration sample."""
    found = set()
    for x in X:
        one = kenyon.FlyClassifier(**settings).partial_fit(x[None], ["a"])
        found |= codes_in(one)
    return found


def codes_of(path):
    return codes_in(kenyon.load(path))


def codes_in(classifier):
    with classifier.circuit_.memory.reading as snapshot:
        content = snapshot.memory.content()
    sizes = content["calibration_starts"]
    flat = content["calibration_codes"]
    return {
        bytes(flat[start:end])
        for start, end in zip(sizes[:-1].tolist(), sizes[1:].tolist(), strict=True)
    }


def test_snapshots_that_are_being_written_are_removed(store, monkeypatch):
    """An erasure that comes while a snapshot is written leaves nothing of it, then or later."""
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((3, WIDTH))
    begun, go_on = threading.Event(), threading.Event()
    save = kenyon.FlyClassifier.save

    def save_and_wait(classifier, path):
        save(classifier, path)
        begun.set()
        assert go_on.wait(30)

    # The file is written, and not yet in its place.
    monkeypatch.setattr(kenyon.FlyClassifier, "save", save_and_wait)
    assert model.published.event == 0
    model.learn(X, ["a", "b", "b"], ["i", "j", "k"])
    assert begun.wait(30)
    assert [*(store.folder / "snapshots").rglob("snapshot")]
    model.unlearn(["k"])
    assert [path for path in (store.folder / "snapshots").rglob("*") if path.is_file()] == []
    go_on.set()
    monkeypatch.undo()
    folder = store.folder
    store.close()
    (path,) = (folder / "snapshots").iterdir()
    assert path.name == "1-2.kenyon"


def test_a_snapshot_whose_folder_is_removed_is_given_up_silently(store, monkeypatch, caplog):
    """An erasure removes the folder between the writing of the file and the sync of its folder."""
    model = store.create("m", WIDTH, SMALL)
    begun, go_on = threading.Event(), threading.Event()
    sync = kenyon._files._sync_folder

    def wait_and_sync(folder):
        begun.set()
        assert go_on.wait(30)
        sync(folder)

    monkeypatch.setattr("kenyon._files._sync_folder", wait_and_sync)
    assert model.published.event == 0
    model.learn(RANDOM.standard_normal((2, WIDTH)), ["a", "b"], ["i", "j"])
    assert begun.wait(30)
    model.unlearn(["j"])
    monkeypatch.undo()
    go_on.set()
    folder = store.folder
    store.close()
    assert [path.name for path in (folder / "snapshots").iterdir()] == ["1-2.kenyon"]
    assert caplog.text == ""


def test_a_snapshot_that_a_later_one_replaced_is_no_warning(store, caplog):
    model = store.create("m", WIDTH, SMALL)
    model.learn(RANDOM.standard_normal((2, WIDTH)), ["a", "b"])
    end = time.monotonic() + 30
    while not recorded_snapshots(store, model):
        assert model.wait(1)
        assert time.monotonic() < end
        time.sleep(0.01)
    with store._database.reading() as reader:
        assert [event for event, _ in reader.snapshots(model.replica.number)] == [1]
        model.learn(RANDOM.standard_normal((1, WIDTH)), ["a"])
        assert model.replica.snapshots.save(model.wait(2))
        assert recorded_snapshots(store, model) == [2]
        assert model.replica.snapshots.load(reader, 1) is None
    assert caplog.text == ""


def recorded_snapshots(store, model):
    with store._database.reading() as reader:
        return [event for event, _ in reader.snapshots(model.replica.number)]


def test_a_deleted_model_is_erased(store):
    model = store.create("gone", WIDTH, SMALL)
    other = store.create("kept", WIDTH, SMALL)
    X = RANDOM.standard_normal((30, WIDTH))
    ids, labels = names(30, "id"), names(30, "label")
    for i in range(30):
        (model if i % 2 else other).learn(X[i : i + 1], labels[i : i + 1], ids[i : i + 1])
    assert model.published
    wanted = needles(model, X[1::2], ids[1::2], labels[1::2])
    store.delete("gone")
    assert found_in(store.folder, wanted) == []
    assert store.names() == ["kept"]
    with pytest.raises(kenyon.store.NoSuchModel, match="no model 'gone'"):
        model.learn(X[:1], ["a"])
    assert all(finding.is_right for finding in store.verify())
    assert store.create("gone", WIDTH, SMALL).classes() == {}


def test_samples_learned_before_a_time(store, monkeypatch):
    monkeypatch.setattr("kenyon.store.model.ERASED_ROWS", 4)
    model = store.create("m", WIDTH, SMALL)
    X = RANDOM.standard_normal((12, WIDTH))
    ids = names(12, "id")
    model.learn(X[:9], ["a", "b", "c"] * 3, ids[:9])
    model.drop_class("b")
    time.sleep(0.01)
    end = time.time()
    model.learn(X[9:], ["a", "b", "c"], [ids[0], *ids[10:]], replace=True)
    wanted = needles(model, X[:9], ids[1:9])
    assert model.unlearn_before(end, who="retention") == 9
    assert found_in(store.folder, wanted) == []
    # The sample that took the place of an old one stays.
    assert model.classes() == {"a": 1, "b": 1, "c": 1}
    assert [sample.id for sample in model.samples()] == [ids[0], *ids[10:]]
    erasures = [event for event in model.events() if event.what == "unlearn"]
    assert [event.who for event in erasures] == ["retention"] * 3
    assert sum(event.n for event in erasures) == 5
    assert model.unlearn_before(end) == 0
    assert model.event == 6
    assert all(finding.is_right for finding in store.verify())
