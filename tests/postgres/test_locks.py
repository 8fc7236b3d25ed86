"""Servers that change the same rows lock them in one order, so that none waits in a circle."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kenyon.store import NoSuchSample
from kenyon.store.requests import Unlearn
from tests.postgres import servers
from tests.postgres.cluster import execute

N_ROUNDS = 20
WAITING = (
    "SELECT pid FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def pair(stores):
    """Two servers with the models m and n."""
    for name in ("m", "n"):
        stores[0].create(name, servers.N_FEATURES)
    servers.until(lambda: stores[1].names() == ["m", "n"])
    return stores


@pytest.fixture
def somebody(url):
    """A transaction that no server knows of."""
    # Not installed everywhere.
    import psycopg

    with psycopg.connect(url) as connection:
        yield connection


def learn(model, *ids):
    model.learn([*map(servers.vector_of, ids)], [*map(servers.label_of, ids)], ids)


def test_overlapping_erasures_in_opposite_order(pair):
    ids = [f"s{i}" for i in range(4)]
    for _ in range(N_ROUNDS):
        for name in ("m", "n"):
            learn(pair[0][name], *ids)
        # One transaction takes several of these, of both models.
        forth = [pair[0][name].submit(Unlearn([id_])) for id_ in ids for name in ("m", "n")]
        back = [pair[1][name].submit(Unlearn([id_])) for id_ in ids[::-1] for name in ("n", "m")]
        errors = [future.exception(servers.SECONDS) for future in forth + back]
        assert {type(error) for error in errors} == {type(None), NoSuchSample}
        # Each sample was erased once.
        assert errors.count(None) == len(forth)


def test_models_are_locked_in_the_order_of_their_numbers(pair, somebody, url):
    m, n = (pair[0][name].replica.number for name in ("m", "n"))
    # PostgreSQL finds the row of m last: a row with another name moves to the end.
    execute(url, f"UPDATE models SET name = 'moved' WHERE model = {m}")
    assert execute(url, "SELECT model FROM models") == [(n,), (m,)]
    somebody.execute(f"SELECT * FROM models WHERE model = {n} FOR UPDATE")

    def change_both():
        with pair[0]._database.writing([n, m]):
            pass

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(change_both)
        servers.until(lambda: len(execute(url, WAITING)) == 1)
        # While it waits for n it has m.
        free = execute(url, "SELECT model FROM models FOR UPDATE SKIP LOCKED")
        somebody.rollback()
        future.result(servers.SECONDS)
    assert free == []


def test_a_model_is_deleted_while_another_server_ends_its_erasures(pair, somebody, url):
    first, second = pair
    learn(first["m"], "a", "b")
    number = first["m"].replica.number
    # A server that was killed before it could unlearn, so the content of "a" stays for a while.
    execute(url, f"INSERT INTO servers VALUES ('killed', {number}, 1, 1e12)")
    first["m"].unlearn(["a"])
    assert len(execute(url, "SELECT * FROM erasures")) == 1

    def end_erasures():
        with second._database.writing() as writer:
            writer.drop_server("killed")
            writer.finish_erasures()

    with ThreadPoolExecutor(2) as pool:
        # The deletion stops when it comes to the content of "b".
        somebody.execute("SELECT * FROM contents ORDER BY sample DESC LIMIT 1 FOR UPDATE")
        deletion = pool.submit(first.delete, "m")
        servers.until(lambda: len(execute(url, WAITING)) == 1)
        # The other server comes to rows that the deletion has locked.
        erasures = pool.submit(end_erasures)
        servers.until(lambda: len(execute(url, WAITING)) == 2)
        somebody.rollback()
        deletion.result(servers.SECONDS)
        erasures.result(servers.SECONDS)
    for table in ("contents", "erasures"):
        assert execute(url, f"SELECT * FROM {table}") == []


def test_old_keys_that_another_server_has_locked_are_not_waited_for(
    pair, somebody, url, monkeypatch
):
    monkeypatch.setattr("kenyon.store.committer.MIN_KEYS", 1)
    first, second = pair
    for key in "abc":
        second["n"].learn([servers.vector_of(key)], ["x"], key=key)
    execute(url, "UPDATE requests SET time = 0")
    # As an erasure does, which may come to the other keys next.
    somebody.execute("SELECT * FROM requests WHERE key = 'a' FOR UPDATE")
    # The first transaction of a server drops old keys of all models.
    future = first["m"].submit(first["m"].learning([servers.vector_of("a")], ["x"]))
    servers.until(lambda: future.done() or execute(url, WAITING))
    assert future.done()
    # That of the last event is kept in any case.
    assert execute(url, "SELECT key FROM requests ORDER BY key") == [("a",), ("c",)]
