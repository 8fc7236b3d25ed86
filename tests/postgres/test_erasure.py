"""Erased content stays until every server has unlearned it, and not longer."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import kenyon.store
from tests.postgres import servers
from tests.postgres.cluster import execute
from tests.postgres.servers import Server

CONTENTS = "SELECT sample & ((1::bigint << 40) - 1) FROM contents ORDER BY 1"


def rows_of(url):
    return [row for (row,) in execute(url, CONTENTS)]


def test_content_stays_until_both_servers_have_unlearned_it(stores, url):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    ids = ["a", "b", "c"]
    model.learn([*map(servers.vector_of, ids)], ids, ids)
    servers.until(lambda: second.names() == ["m"])
    for store in stores:
        store["m"].wait(1)
    servers.until(lambda: len(execute(url, "SELECT * FROM servers")) == 2)
    # The second server does not notice the event.
    with second._changing:
        event = model.unlearn(["b"]).event
        model.wait(event)
        # Nobody is told of it any more.
        assert [sample.id for sample in model.samples()] == ["a", "c"]
        assert execute(url, "SELECT id, label FROM samples ORDER BY sample")[1] == (None, None)
        time.sleep(1.5)
        assert rows_of(url) == [0, 1, 2]
    second["m"].wait(event)
    servers.until(lambda: rows_of(url) == [0, 2])
    assert execute(url, "SELECT * FROM erasures") == []
    assert model.digest() == second["m"].digest()
    # Neither has needed the log.
    for store in stores:
        assert store["m"].updater.recovery.event <= 1


def test_a_report_between_the_deletions_keeps_no_erased_content(stores, url):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    model.learn([*map(servers.vector_of, "abc")], [*"abc"], [*"abc"])
    servers.until(lambda: second.names() == ["m"])
    for store in stores:
        store["m"].wait(1)
    servers.until(lambda: len(execute(url, "SELECT * FROM servers")) == 2)
    with second._changing:
        model.unlearn(["b"])
        # As if the second server had reported just after contents were deleted.
        execute(
            url,
            "CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN UPDATE servers SET event = 9; RETURN NULL; END'; "
            "CREATE TRIGGER report AFTER DELETE ON contents EXECUTE FUNCTION report()",
        )
        servers.until(lambda: execute(url, "SELECT * FROM erasures") == [])
        assert rows_of(url) == [0, 2]


def test_a_server_that_is_silent_is_not_waited_for_and_loads_the_model_when_it_is_back(
    url, monkeypatch
):
    monkeypatch.setattr("kenyon.store.follower.SILENT_SECONDS", 2.0)
    monkeypatch.setattr("kenyon.store.postgres.STALLED_SECONDS", 1)
    with Server(url) as first, Server(url) as second:
        first(servers.create)
        for i in range(5):
            event = first(servers.learn, f"a{i}")
        second(servers.wait_for_model)
        for server in (first, second):
            server(servers.digest_after, event)
        servers.until(lambda: len(execute(url, "SELECT * FROM servers WHERE event = 5")) == 2)
        second.send(signal.SIGSTOP)
        first(servers.learn, "b")
        first(servers.unlearn, "a1", "a2")
        event = first(servers.learn, "c")
        servers.until(lambda: rows_of(url) == [0, 3, 4, 5, 6])
        second.send(signal.SIGCONT)
        assert second(servers.digest_after, event) == first(servers.digest_after, event)
        assert second(servers.learn, "d") == event + 1
        first(servers.wait_for, event + 1)
        assert first(servers.digest_after, event + 1) == second(servers.digest_after, event + 1)
        servers.until(lambda: len(execute(url, "SELECT * FROM servers WHERE event = 9")) == 2)


def test_the_last_server_that_ends_deletes_the_content(url):
    with kenyon.store.open(url) as store:
        model = store.create("m", servers.N_FEATURES)
        model.learn([*map(servers.vector_of, "ab")], ["x", "y"], ["a", "b"])
        model.wait(1)
        servers.until(lambda: len(execute(url, "SELECT * FROM servers")) == 1)
        model.unlearn(["a"])
    assert rows_of(url) == [1]
    for table in ("servers", "erasures"):
        assert execute(url, f"SELECT * FROM {table}") == []


def test_no_snapshot_of_a_state_before_an_erasure_comes_after_it(stores, url):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    model.learn([*map(servers.vector_of, "ab")], ["x", "y"], ["a", "b"])
    servers.until(lambda: second.names() == ["m"])
    old = second["m"].wait(1)
    # The snapshot of one server is recorded while the other one erases.
    with first._database.writing([model.replica.number]) as writer:
        thread = threading.Thread(target=second["m"].replica.snapshots.save, args=(old,))
        thread.start()
        time.sleep(0.3)
        writer.erase(model.replica.number, [0], [1], 2)
        writer.add_event(
            model.replica.number,
            kenyon.store.reading.EventRow(
                2, time.time(), "", "unlearn", 2, 0, {"n": 1, "rows": [0]}
            ),
            is_plain=True,
        )
    thread.join()
    assert execute(url, "SELECT * FROM snapshots WHERE event < 2") == []
    assert execute(url, "SELECT * FROM snapshot_files WHERE event < 2") == []


def files_with(url, word):
    """Return PostgreSQL's files of a database, but not its write-ahead log, that hold a word."""
    execute(url, "CHECKPOINT")
    ((folder, number),) = execute(
        url,
        "SELECT current_setting('data_directory'), oid FROM pg_database "
        "WHERE datname = current_database()",
    )
    files = Path(folder, "base", str(number)).iterdir()
    return [path.name for path in files if word.encode() in path.read_bytes()]


def test_compact_keeps_everything_but_what_was_erased(stores, url):
    first, _ = stores
    model = first.create("m", None, {"readout": "fly"}, encoder="hashing", keep_texts=True)
    ids, texts = [f"secretid{i}" for i in range(50)], [f"a secretword {i}" for i in range(50)]
    model.learn(texts, ["secretlabel"] * 50, ids)
    model.learn(["another"], ["x"], ["y"])
    # The planner's statistics would hold the most frequent values.
    execute(url, "ANALYZE")
    words = "secretid", "secretword", "secretlabel"
    assert all(files_with(url, word) for word in words)
    model.unlearn(ids)
    servers.until(lambda: len(rows_of(url)) == 1)
    digest = model.digest()
    first.compact()
    assert not any(files_with(url, word) for word in words)
    assert model.digest() == digest
    assert rows_of(url) == [50]
    assert all(finding.is_right for finding in first.verify())
    model.learn(texts, ["secretlabel"] * 50, ids)
    execute(url, "ANALYZE")
    first.delete("m")
    first.compact()
    assert not any(files_with(url, word) for word in words)
