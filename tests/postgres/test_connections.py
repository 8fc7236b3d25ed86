"""Connections that drop and return, and addresses in messages."""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress

import pytest

import kenyon.store
from kenyon.store import QueueFull, StoreFailed
from tests.forking import in_child, untraced
from tests.postgres import servers
from tests.postgres.cluster import PASSWORD, execute
from tests.postgres.proxy import Proxy

TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def proxy(cluster):
    proxy = Proxy(cluster.port)
    yield proxy
    proxy.close()


def through(proxy, url, cluster):
    return url.replace(f":{cluster.port}/", f":{proxy.port}/")


def learn_until_it_works(model, id_):
    """Repeat a request with the same idempotency key."""
    while True:
        with suppress(StoreFailed, QueueFull):
            vectors, labels = [servers.vector_of(id_)], [servers.label_of(id_)]
            return model.learn(vectors, labels, [id_], key=id_).event
        time.sleep(0.02)


def check_both(stores, url, acknowledged):
    last = max(acknowledged)
    digests = []
    for store in stores:
        assert store["m"].wait(last, 30).event >= last
        digests.append(store["m"].digest())
    assert digests[0] == digests[1] == servers.check(url, acknowledged)


def test_a_transaction_that_cannot_begin_does_not_stay(stores, url):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])

    def is_refused():
        try:
            model.learn([servers.vector_of("a")], [servers.label_of("a")], ["a"], key="a")
        except StoreFailed as error:
            return "read-only" in str(error)
        return False

    try:
        execute(url, "ALTER SYSTEM SET default_transaction_read_only = on")
        execute(url, "SELECT pg_reload_conf()")
        servers.until(is_refused)
    finally:
        execute(url, "ALTER SYSTEM RESET default_transaction_read_only")
        execute(url, "SELECT pg_reload_conf()")
    acknowledged = {learn_until_it_works(model, id_): id_ for id_ in "ab"}
    check_both(stores, url, acknowledged)


def test_connections_that_are_terminated_are_replaced(stores, url):
    first, second = stores
    first.create("m", servers.N_FEATURES)
    servers.until(lambda: second.names() == ["m"])
    acknowledged = {}
    for i in range(8):
        execute(url, TERMINATE)
        acknowledged[learn_until_it_works(first["m"], f"a{i}")] = f"a{i}"
        # One that nobody has written on for a while.
        execute(url, TERMINATE)
        acknowledged[second["m"].learn([servers.vector_of(f"b{i}")], ["x"], [f"b{i}"]).event] = (
            f"b{i}"
        )
    check_both(stores, url, acknowledged)


def test_a_network_that_is_cut_again_and_again_loses_nothing(cluster, proxy, url):
    random_ = random.Random(3)
    with (
        kenyon.store.open(through(proxy, url, cluster)) as first,
        kenyon.store.open(url) as second,
    ):
        first.create("m", servers.N_FEATURES)
        servers.until(lambda: second.names() == ["m"])
        acknowledged, is_over = {}, threading.Event()

        def work(store, prefix):
            n = 0
            while not is_over.is_set():
                n += 1
                event = learn_until_it_works(store["m"], f"{prefix}{n}")
                assert event not in acknowledged
                acknowledged[event] = f"{prefix}{n}"

        threads = [
            threading.Thread(target=work, args=(store, prefix))
            for store, prefix in ((first, "a"), (first, "b"), (second, "c"))
        ]
        for thread in threads:
            thread.start()
        for _ in range(10):
            time.sleep(random_.uniform(0, 0.15))
            proxy.cut()
        proxy.refuse(True)
        # The other server goes on.
        n = len([what for what in [*acknowledged.values()] if what.startswith("c")])
        servers.until(
            lambda: len([each for each in [*acknowledged.values()] if each.startswith("c")]) > n
        )
        proxy.refuse(False)
        n = len([each for each in [*acknowledged.values()] if each.startswith("a")])
        servers.until(
            lambda: len([each for each in [*acknowledged.values()] if each.startswith("a")]) > n
        )
        is_over.set()
        for thread in threads:
            thread.join(30)
        check_both((first, second), url, acknowledged)


def test_a_forked_process_must_open_the_store_itself(stores):
    first, second = stores
    model = first.create("m", servers.N_FEATURES)
    model.learn([servers.vector_of("a")], ["x"], ["a"])

    def refuse():
        calls = (
            lambda: model.learn([servers.vector_of("b")], ["x"]),
            lambda: model.unlearn(["a"]),
            lambda: first.delete("m"),
            lambda: first.compact(),
            lambda: first.verify(),
        )
        for call in calls:
            with pytest.raises(StoreFailed, match=r"was forked: open it here$"):
                call()
        first.close()

    # Other threads of the parent may hold locks that nobody frees in the new process.
    with untraced(), first._changing, first._database._writing:
        in_child(refuse)
    # The connections are the parent's.
    assert model.learn([servers.vector_of("b")], ["y"], ["b"]).event == 2
    servers.until(lambda: second.names() == ["m"])
    assert second["m"].wait(2).event == 2
    assert all(finding.is_right for finding in first.verify())


def test_a_start_without_a_database_says_why(cluster, url):
    proxy = Proxy(cluster.port)
    address = through(proxy, url, cluster)
    proxy.close()
    with pytest.raises(StoreFailed, match="could not be reached") as caught:
        kenyon.store.open(address)
    assert PASSWORD not in str(caught.value)
    assert f"127.0.0.1:{proxy.port}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_password_is_not_repeated(url):
    address = url.replace(PASSWORD, "wr0ng-one")
    with pytest.raises(StoreFailed, match="password authentication failed") as caught:
        kenyon.store.open(address)
    assert "wr0ng-one" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://kenyon:s3cret-w0rd/kenyon",
        "postgresql://kenyon:s3cret%zz-w0rd@127.0.0.1/kenyon",
        "postgresql://127.0.0.1/kenyon?password=s3cret-w0rd&passwort=s3cret-w0rd",
    ],
)
def test_an_address_of_another_form_is_not_repeated(cluster, address):
    with pytest.raises(ValueError, match="the address of a store must be") as caught:
        kenyon.store.open(address)
    for error in (caught.value, caught.value.__cause__, caught.value.__context__):
        assert "s3cret" not in str(error)


def test_an_address_of_something_else_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"begin with postgresql://, but begins with mysql://$"):
        kenyon.store.open("mysql://kenyon:s3cret-w0rd@127.0.0.1/kenyon")
    assert not [*tmp_path.iterdir()]


def test_an_idle_follower_says_once_that_it_cannot_read(cluster, proxy, url, caplog):
    caplog.set_level(logging.WARNING, "kenyon.store")
    with kenyon.store.open(through(proxy, url, cluster)):
        proxy.refuse(True)
        servers.until(lambda: "cannot be read" in caplog.text)
        # It goes on trying.
        time.sleep(1)
        proxy.refuse(False)
        servers.until(lambda: "are read again" in caplog.text)
    assert caplog.text.count("cannot be read") == 1
    assert caplog.text.count("are read again") == 1
