"""Two processes on one database: one order of events, one state."""

from __future__ import annotations

import numpy as np
import pytest

import kenyon.store
from tests.postgres import servers
from tests.postgres.servers import Server


@pytest.fixture
def pair(url):
    with Server(url) as first, Server(url) as second:
        first(servers.create)
        servers.until(lambda: second(servers.names) == ["m"])
        yield first, second


def test_events_have_numbers_without_gaps_and_both_reach_the_same_sums(pair, url):
    first, second = pair
    n = 60
    first.begin(servers.learn_each, "a", n)
    second.begin(servers.learn_each, "b", n)
    numbers = [first.result(), second.result()]
    assert sorted(numbers[0] + numbers[1]) == [*range(1, 2 * n + 1)]
    # Both wrote at the same time.
    assert numbers[0][0] < numbers[1][-1]
    assert numbers[1][0] < numbers[0][-1]
    assert first(servers.digest_after, 2 * n) == second(servers.digest_after, 2 * n)
    with kenyon.store.open(url) as store:
        events = store["m"].events()
        for prefix, own in zip("ab", numbers, strict=True):
            expected = [[f"{prefix}{i}"] for i in range(n)]
            assert [events[event - 1].ids for event in own] == expected
        # The order of the numbers is that of the commits.
        times = [event.time for event in events]
        assert np.diff(times).min() > -1
        assert all(finding.is_right for finding in store.verify())


def test_an_event_of_one_server_can_be_awaited_on_the_other(pair):
    first, second = pair
    for i in range(20):
        event = first(servers.learn, f"a{i}")
        assert second(servers.wait_for, event) == event
        assert second(servers.classes) == first(servers.classes)
    second.begin(servers.wait_for, event + 1)
    assert first(servers.learn, "last") == event + 1
    assert second.result() == event + 1


def test_an_awaited_event_is_in_the_classes_and_in_the_number_of_the_last_event(stores):
    first, second = stores
    first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])
    assert second["m"].event == 0
    # The second server notices nothing, but the model is loaded now.
    with second._changing:
        first["m"].learn([servers.vector_of("a")], ["x"])
        assert second["m"].wait(1).event == 1
        assert (second["m"].event, second["m"].classes()) == (1, {"x": 1})


def test_models_of_one_server_are_seen_by_the_other(pair):
    first, second = pair
    second(servers.create, "other")
    servers.until(lambda: first(servers.names) == ["m", "other"])
    with pytest.raises(kenyon.store.Conflict, match="there is a model 'other' already"):
        first(servers.create, "other")
    first(servers.delete, "other")
    servers.until(lambda: second(servers.names) == ["m"])
    second(servers.create, "other")
    servers.until(lambda: first(servers.names) == ["m", "other"])
    assert first(servers.learn, "a") == 1


def test_a_name_is_given_once(pair):
    first, second = pair
    for server in pair:
        server.begin(servers.create, "both")
    errors = [server.error() for server in pair]
    assert sorted(map(str, errors)) == ["None", "there is a model 'both' already"]
    assert first(servers.names) == second(servers.names) == ["both", "m"]


def test_keys_of_one_server_are_valid_on_the_other_until_they_are_revoked(pair):
    first, second = pair
    secret = first(servers.create_key, "page")
    servers.until(lambda: second(servers.has_key, secret))
    second(servers.revoke_key, "page")
    servers.until(lambda: not first(servers.has_key, secret))


def test_an_id_is_refused_that_another_server_has_learned(pair):
    first, second = pair
    first(servers.learn, "a")
    with pytest.raises(kenyon.store.Conflict, match="'a'"):
        second(servers.learn, "a")
    assert second(servers.unlearn, "a") == 2
    with pytest.raises(kenyon.store.NoSuchSample, match="'a'"):
        first(servers.unlearn, "a")


def test_a_model_that_another_server_has_deleted_takes_no_events(stores):
    first, second = stores
    first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])
    model = second["m"]
    model.learn([servers.vector_of("a")], ["x"])
    # The other server has not noticed it yet.
    with second._changing:
        first.delete("m")
        with pytest.raises(kenyon.store.NoSuchModel, match="'m'"):
            model.learn([servers.vector_of("b")], ["x"])
    servers.until(lambda: second.names() == [])
    with pytest.raises(kenyon.store.NoSuchModel, match="'m'"):
        model.learn([servers.vector_of("b")], ["x"])
    with first._database.reading() as reader:
        for table in ("events", "samples", "contents", "snapshots", "snapshot_files"):
            assert reader.connection.execute(f"SELECT * FROM {table}").fetchall() == []


def test_every_change_of_one_server_is_followed_by_the_other(stores):
    first, second = stores
    first.create("m", servers.N_FEATURES, {"readout": "fly"})
    servers.until(lambda: second.names() == ["m"])
    model, other = first["m"], second["m"]
    other.wait(0)
    ids = [f"s{i}" for i in range(12)]
    vectors = [servers.vector_of(id_) for id_ in ids]
    model.learn(vectors, [*"aabbccddeeff"], ids)
    trained = kenyon.FlyClassifier(**model.spec.parameters).fit(vectors[:3], ["a", "b", "z"])
    changes = [
        lambda: model.learn(vectors[:1], ["b"], ["s0"], replace=True),
        lambda: model.rename_class("c", "x"),
        lambda: model.drop_class("d"),
        lambda: model.unlearn(["s8"]),
        lambda: model.merge(trained),
        lambda: model.set(learning_rate=0.5),
        lambda: model.undo(4),
        lambda: model.undo(3),
        lambda: model.undo(6),
        lambda: model.unlearn(["s9"]),
        lambda: model.undo(1),
    ]
    for change in changes:
        event = change().event
        other.wait(event)
        assert model.digest() == other.digest()
        assert model.classes() == other.classes()
        assert model.settings() == other.settings()
    assert other.updater.error is None
    assert other.updater.recovery.n_replayed == 0
    assert all(finding.is_right for finding in second.verify())


def test_a_server_follows_events_whose_samples_were_erased_since(stores):
    first, second = stores
    first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])
    model, other = first["m"], second["m"]
    model.learn([servers.vector_of("k")], ["k"], ["k"])
    other.wait(1)
    ids = ["a", "b", "c"]
    # The other server sees all of them at once.
    with second._changing:
        model.learn([*map(servers.vector_of, ids)], ["a", "b", "b"], ids)
        model.rename_class("a", "z")
        model.unlearn(["a"])
        model.unlearn(["b"])
        model.drop_class("b")
        event = model.unlearn(["c"]).event
    other.wait(event)
    assert other.digest() == model.digest()
    assert other.classes() == model.classes() == {"k": 1}
    other.learn([servers.vector_of("n")], ["z"])
    assert model.wait(event + 1)
    assert other.digest() == model.digest()


def test_a_server_that_is_far_behind_loads_the_model_again(stores, monkeypatch):
    monkeypatch.setattr("kenyon.store.following.MAX_EVENTS", 5)
    first, second = stores
    first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])
    model, other = first["m"], second["m"]
    model.learn([servers.vector_of("k")], ["k"], ["k"])
    other.learn([servers.vector_of("l")], ["l"], ["l"])
    with second._changing:
        for i in range(20):
            event = model.learn([servers.vector_of(f"{i}")], ["k"]).event
    other.wait(event)
    assert other.digest() == model.digest()


def test_a_text_and_a_label_may_have_a_character_zero(stores):
    store, _ = stores
    model = store.create("m", None, {"readout": "fly"}, encoder="hashing", keep_texts=True)
    assert model.learn(["a zero \0 in a text"], ["x\0"]).event == 1
    assert [(sample.text, sample.label) for sample in model.samples()] == [
        ("a zero \0 in a text", "x\0")
    ]
