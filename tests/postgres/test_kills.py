"""Servers and PostgreSQL itself are killed under load: what was acknowledged is there, once."""

from __future__ import annotations

import random
import time

import pytest

from tests.postgres import servers
from tests.postgres.killing import KilledServers
from tests.postgres.servers import Server


def test_no_acknowledged_event_is_lost_when_servers_are_killed(url, tmp_path):
    killed = KilledServers(url, tmp_path, seed=1)
    with killed:
        for _ in range(10):
            killed.round(0.3)
        killed.check()
    assert len(servers.receipts(tmp_path)) > 20


def test_no_acknowledged_event_is_lost_when_postgresql_is_killed(cluster, url, tmp_path):
    random_ = random.Random(2)
    with Server(url) as first, Server(url) as second:
        first(servers.create)
        for prefix, server in (("a", first), ("b", second)):
            server(servers.wait_for_model)
            server(servers.load, tmp_path, prefix)
        for _ in range(2):
            time.sleep(random_.uniform(0.2, 0.5))
            cluster.kill()
            time.sleep(random_.uniform(0, 0.3))
            cluster.start()
        n = len(servers.receipts(tmp_path))
        servers.until(lambda: len(servers.receipts(tmp_path)) > n + 20)
        for server in (first, second):
            server(servers.stop_load)
        acknowledged = servers.receipts(tmp_path)
        last = max(acknowledged)
        digests = [server(servers.digest_after, last) for server in (first, second)]
        assert digests[0] == digests[1] == servers.check(url, acknowledged)


def test_predictions_go_on_while_postgresql_is_away(cluster, stores):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    model.learn([servers.vector_of("a")], ["x"], ["a"])
    servers.until(lambda: second.names() == ["m"])
    for store in stores:
        store["m"].wait(1)
        servers.until(lambda store=store: store["m"].classes() == {"x": 1})
    cluster.kill()
    try:
        for store in stores:
            assert store["m"].predict([servers.vector_of("a")]).tolist() == ["x"]
            assert store["m"].classes() == {"x": 1}
            with pytest.raises(OSError, match=r"could not be (written|reached)") as caught:
                store["m"].learn([servers.vector_of("b")], ["x"])
            assert "\n" not in str(caught.value)
    finally:
        cluster.start()
    # Nothing has to be started again.
    assert model.learn([servers.vector_of("b")], ["x"]).event == 2
    second["m"].wait(2)
    assert first["m"].digest() == second["m"].digest()


def test_a_server_that_stops_within_a_transaction_does_not_stop_the_others(
    url, monkeypatch, tmp_path
):
    monkeypatch.setattr("kenyon.store.postgres.STALLED_SECONDS", 1)
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    with Server(url) as first, Server(url) as second:
        first(servers.create)
        second(servers.wait_for_model)
        first.begin(servers.hold, begun, ended)
        servers.until(begun.exists)
        # It would wait for ever.
        assert second(servers.learn, "a") == 1
        ended.touch()
        with pytest.raises(OSError, match="could not be written"):
            first.result()
        assert first(servers.learn, "b") == 2
