"""Threads that learn and read at the same time; keys; models beside each other."""

from __future__ import annotations

import threading
import time
from collections import Counter
from itertools import count

import numpy as np
import pytest

import kenyon
import kenyon.store
from kenyon.store import Conflict, QueueFull
from kenyon.store.digest import digest_sums
from tests.store.data import N_FEATURES, SETTINGS, SMALL, X, all_bytes, grouped, wait_until_cleaned


def run_all(*calls):
    """Run calls in threads, and raise the first error of one."""
    errors = []

    def run(call):
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]


def test_many_threads_share_commits(store):
    model = store.create("m", N_FEATURES, SETTINGS)
    receipts, n_commits = [], store.n_commits

    def learn(number):
        label = ["ab"[number % 2]]
        receipts.extend(model.learn(X[i : i + 1], label, key=f"{number}-{i}") for i in range(25))

    run_all(*[lambda number=number: learn(number) for number in range(16)])
    assert sorted(receipt.event for receipt in receipts) == [*range(1, 401)]
    assert store.n_commits - n_commits < 400
    assert model.classes() == {"a": 200, "b": 200}
    fly = kenyon.FlyClassifier(**SETTINGS).partial_fit(
        np.tile(X[:25], (16, 1)), np.repeat(["a", "b"] * 8, 25)
    )
    assert model.digest() == (400, digest_sums(fly))


def test_requests_of_a_group_are_one_commit(store):
    model = store.create("m", N_FEATURES, SETTINGS)
    n_commits = store.n_commits
    model.learn(X[:1], ["a"])
    with grouped(store):
        # The first may be taken alone.
        futures = [model.submit(model.learning(X[:1], ["a"])) for _ in range(100)]
    assert [future.result().event for future in futures] == [*range(2, 102)]
    assert store.n_commits - n_commits <= 3


def test_the_same_key_from_many_threads_is_learned_once(store):
    model = store.create("m", N_FEATURES, SETTINGS)
    receipts = []
    run_all(
        *[lambda: receipts.append(model.learn(X[:2], ["a", "b"], key="same")) for _ in range(12)]
    )
    assert {receipt.event for receipt in receipts} == {1}
    assert Counter(receipt.repeated for receipt in receipts) == {False: 1, True: 11}
    assert {tuple(receipt.ids) for receipt in receipts} == {("#1.0", "#1.1")}
    assert model.event == 1


def test_repeated_receipts_are_those_of_the_first_request(store, folder):
    model = store.create("m", N_FEATURES, SETTINGS)
    other = store.create("other", N_FEATURES, SETTINGS)
    other.learn(X[5:8], ["x", "y", "y"])
    file = other.export()
    calls = [
        lambda m, key: m.learn(X[:3], ["a", "b", "b"], ["i", None, "k"], key=key),
        lambda m, key: m.merge(file, key=key),
        lambda m, key: m.rename_class("a", "c", key=key),
        lambda m, key: m.drop_class("b", key=key),
        lambda m, key: m.undo(4, key=key),
        lambda m, key: m.set(learning_rate=0.5, key=key),
        lambda m, key: m.unlearn(["k"], key=key),
    ]
    first = [call(model, f"key {i}") for i, call in enumerate(calls)]
    assert [receipt.event for receipt in first] == [*range(1, 8)]
    again = [call(model, f"key {i}") for i, call in enumerate(calls)]
    first[0] = first[0]._replace(ids=["i", "#1.1", None])
    assert again == [receipt._replace(repeated=True) for receipt in first]
    # Another model has keys of its own.
    assert other.learn(X[:1], ["z"], key="key 0").repeated is False
    store.close()
    with kenyon.store.open(folder) as later:
        assert calls[1](later["m"], "key 1") == again[1]
        with pytest.raises(Conflict):
            calls[2](later["m"], "key 1")


def test_a_request_that_was_given_up_is_not_written(store):
    model = store.create("m", N_FEATURES, SETTINGS)
    wait_until_cleaned(store)
    end = time.monotonic() + 30
    with grouped(store):
        futures = [model.submit(model.learning(X[:1], ["a"]))]
        while store.n_waiting:
            assert time.monotonic() < end
            time.sleep(0.001)
        # The first is being written, the others wait.
        futures += [model.submit(model.learning(X[i : i + 1], ["a"])) for i in range(6)]
        cancelled = [future.cancel() for future in futures]
    events = [
        future.result().event for future, was in zip(futures, cancelled, strict=True) if not was
    ]
    assert cancelled == [False] + [True] * 6
    assert model.event == len(events) == 1
    assert model.learn(X[:1], ["a"]).event == len(events) + 1


def test_too_many_requests_are_refused_and_none_is_half_done(store, monkeypatch):
    monkeypatch.setattr("kenyon.store.committer.MAX_WAITING", 10)
    model = store.create("m", N_FEATURES, SETTINGS)
    accepted = []
    with grouped(store):
        request = model.learning(X[:1], ["a"])
        with pytest.raises(QueueFull, match="try again") as caught:
            accepted.extend(model.submit(request) for _ in range(100))
        assert caught.value.retry_after > 0
    assert len(accepted) < 100
    assert [future.result().event for future in accepted] == [*range(1, len(accepted) + 1)]
    assert model.event == len(accepted)


def test_a_reload_between_events_applies_each_once(store):
    """A merge that is undone makes the model anew, with events that wait already."""
    model = store.create("m", N_FEATURES, SETTINGS)
    other = store.create("other", N_FEATURES, SETTINGS)
    other.learn(X[5:8], ["x", "y", "y"])
    model.learn(X[:4], ["a", "b", "c", "d"])
    model.merge(other.export())
    assert model.wait(2).event == 2
    with model.updater._changed:
        # The thread of the model waits until all of them are there.
        futures = [model.submit(kenyon.store.Undo(2))]
        futures += [model.submit(model.learning(X[i : i + 1], ["e"])) for i in range(4)]
        end = time.monotonic() + 30
        while model.replica._ledger.event < 6:
            assert time.monotonic() < end
            time.sleep(0.001)
    assert [future.result().event for future in futures] == [3, 4, 5, 6, 7]
    assert model.wait(7).classifier.class_count_.tolist() == [1, 1, 1, 1, 4]
    assert all(finding.is_right for finding in store.verify())


@pytest.mark.parametrize("readout", ["ridge", "fly"])
def test_readers_see_whole_states_that_never_change(store, readout):
    settings = {"readout": readout, **SMALL}
    model = store.create("m", N_FEATURES, settings)
    model.learn(X[:4], ["a", "b", "a", "b"])
    is_over = threading.Event()
    seen = [[] for _ in range(3)]

    def learn():
        # On a busy machine states are published rarely.
        end = time.monotonic() + 60
        for i in count():
            # Both samples or none: the classes always have equal numbers.
            model.learn(X[[i % 40, (i + 7) % 40]], ["a", "b"])
            n_states = len({published.event for each in seen for published, _, _ in [*each]})
            if i >= 150 and (n_states > 3 or time.monotonic() > end):
                break
        is_over.set()

    def read(number):
        last = 0
        while not is_over.is_set():
            published = model.published
            assert published.event >= last
            last = published.event
            counts = published.classifier.class_count_.tolist()
            assert counts == [published.event + 1] * 2
            answers = published.classifier.predict_proba(X[:5])
            seen[number].append((published, digest_sums(published.classifier), answers))
            time.sleep(0.002)

    run_all(learn, *[lambda number=number: read(number) for number in range(3)])
    assert len({published.event for each in seen for published, _, _ in each}) > 3
    for each in seen:
        for published, digest, answers in each[:: max(1, len(each) // 20)]:
            assert digest_sums(published.classifier) == digest
            assert (published.classifier.predict_proba(X[:5]) == answers).all()
    # A state is that of a classifier that learned the same samples.
    published, digest, answers = next(filter(None, seen))[-1]
    assert digest_sums(model.at(published.event)) == digest
    assert np.allclose(model.at(published.event).predict_proba(X[:5]), answers, atol=1e-9)


def test_a_published_state_does_not_share_what_is_learned(store):
    model = store.create("m", N_FEATURES, SETTINGS)
    model.learn(X[:2], ["a", "b"])
    before = model.wait(1)
    digest = digest_sums(before.classifier)
    model.rename_class("a", "c")
    model.set(learning_rate=0.5)
    model.learn(X[2:30], ["c"] * 28)
    after = model.wait(4)
    assert before.event == 1
    assert before.classifier.classes_.tolist() == ["a", "b"]
    assert before.classifier.learning_rate == "auto"
    assert digest_sums(before.classifier) == digest
    assert after.classifier.classes_.tolist() == ["b", "c"]
    assert after.classifier.learning_rate == 0.5


def test_models_beside_each_other(store, folder):
    models = [store.create(f"m{i}", N_FEATURES, SETTINGS) for i in range(4)]

    def learn(number):
        for i in range(20):
            models[number].learn(X[i : i + 1], [f"class {number}"], [f"id {i}"])

    run_all(*[lambda number=number: learn(number) for number in range(4)])
    store.close()
    with kenyon.store.open(folder) as again:
        for i in range(4):
            assert again[f"m{i}"].classes() == {f"class {i}": 20}
            assert [sample.id for sample in again[f"m{i}"].samples()] == [
                f"id {j}" for j in range(20)
            ]


def test_imported_models_go_on_learning(store, folder):
    fly = kenyon.FlyClassifier(**SETTINGS).fit(X[:6], ["a", "b"] * 3)
    file = kenyon.store.model.file_of(fly)
    model = store.import_model("imported", file, who="me")
    assert [(event.what, event.n, event.who) for event in model.events()] == [("merge", 6, "me")]
    model.learn(X[6:8], ["a", "c"])
    assert model.digest()[1] == digest_sums(fly.partial_fit(X[6:8], ["a", "c"]))
    store.close()
    with kenyon.store.open(folder) as again:
        assert again["imported"].classes() == {"a": 4, "b": 3, "c": 1}
        assert all(finding.is_right for finding in again.verify())


def test_a_model_of_texts(store, folder):
    model = store.create("intents", encoder="hashing", keep_texts=True, settings={"n_cells": 400})
    texts = ["where is my card", "book a flight", "a new card please"]
    model.learn(texts, ["card", "travel", "card"])
    assert model.predict(["my card"]).tolist() == ["card"]
    exported = model.export()
    store.close()
    with kenyon.store.open(folder) as again:
        model = again["intents"]
        assert [sample.text for sample in model.samples(label="card")] == texts[::2]
        assert model.predict(["my card"]).tolist() == ["card"]
        assert again.import_model("copy", exported).predict(["a flight"]).tolist() == ["travel"]
        assert model.at(1).predict(["a flight"]).tolist() == ["travel"]


def test_keys(store, folder):
    keys = store.keys
    reader, secret = keys.create("page", {"predict"}, ["m"])
    teacher, teachers_secret = keys.create("bot", {"teach"})
    admin, admins_secret = keys.create("ops", ["admin"])
    assert secret.startswith("kenyon_")
    assert len(secret) > 40
    scopes = "predict", "teach", "admin"
    allowed = {
        key.name: [
            (scope, model)
            for scope in scopes
            for model in ("m", "n", None)
            if key.allows(scope, model)
        ]
        for key in (reader, teacher, admin)
    }
    assert allowed == {
        "page": [("predict", "m")],
        "bot": [("teach", "m"), ("teach", "n"), ("teach", None)],
        "ops": [(scope, model) for scope in scopes for model in ("m", "n", None)],
    }
    assert keys.find(secret) == reader
    for wrong in ("", "kenyon_", secret[:-1], secret + "x", secret.upper(), "\ud800"):
        assert keys.find(wrong) is None
    keys.revoke(reader.id)
    assert keys.find(secret) is None
    with pytest.raises(kenyon.store.NoSuchKey, match="no valid key 1"):
        keys.revoke(reader.id)
    for content in all_bytes(folder).values():
        for each in (secret, teachers_secret, admins_secret):
            assert each.encode() not in content
            assert each.removeprefix("kenyon_").encode() not in content
    store.close()
    with kenyon.store.open(folder) as again:
        found = again.keys.all()
        assert [(key.id, key.name, key.revoked is None) for key in found] == [
            (1, "page", False),
            (2, "bot", True),
            (3, "ops", True),
        ]
        assert again.keys.find(secret) is None
        assert again.keys.find(teachers_secret) == teacher
        assert again.keys.find(admins_secret).allows("admin")
        # Numbers are not used again.
        assert again.keys.create("next", {"admin"})[0].id == 4


def test_arrays_of_pixels_are_images_and_rows_of_numbers_are_vectors(store):
    model = store.create("m", encoder="pixels", settings=SETTINGS)
    images = np.random.default_rng(0).integers(0, 255, (4, 9, 9)).astype(np.uint8)
    model.learn(images, ["a", "b", "a", "b"])
    model.learn([*images], ["a", "b", "a", "b"])
    model.learn(model.encode([*images]), ["a", "b", "a", "b"])
    assert model.classes() == {"a": 6, "b": 6}
    assert model.predict(images[:1]).tolist() == model.predict([images[0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("given", "n_processors", "expected"), [(None, 4, 3), (None, 1, 1), (5, 4, 5)]
)
def test_publishing_leaves_a_processor_to_readers(
    store, monkeypatch, given, n_processors, expected
):
    taken, predict_proba = [], kenyon.FlyClassifier.predict_proba

    def watched(classifier, rows):
        taken.append(classifier.n_threads)
        return predict_proba(classifier, rows)

    monkeypatch.setattr(
        "kenyon.store.published.count_threads",
        lambda n_threads: n_processors if n_threads is None else n_threads,
    )
    monkeypatch.setattr(kenyon.FlyClassifier, "predict_proba", watched)
    model = store.create("m", N_FEATURES, {**SETTINGS, "n_threads": given})
    model.wait(model.learn(X[:2], ["a", "b"]).event)
    assert set(taken) == {expected}
    # Readers, and files, have the setting of the model.
    assert model.published.classifier.n_threads == given
