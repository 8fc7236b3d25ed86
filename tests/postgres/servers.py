"""Processes that have the same database open, and do what they are told."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path

import numpy as np

import kenyon.store
from kenyon.store import QueueFull, StoreFailed
from tests.forking import untraced
from tests.store.data import SMALL

N_FEATURES = 6
LABELS = "red", "green", "blue"
SECONDS = 60
"""How long a call may take."""


class Server:
    """A forked process with an open store. Nothing in this process may have one open then.

    Parameters
    ----------
    url : str
    """

    def __init__(self, url):
        self._pipe, theirs = Pipe()
        with untraced():
            self.pid = os.fork()
        if self.pid == 0:
            try:
                self._pipe.close()
                _serve(url, theirs)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
            finally:
                os._exit(1)
        theirs.close()
        self._is_ready = False

    def __call__(self, function, *arguments):
        """Call a function of this module in the process, with the store first."""
        self.begin(function, *arguments)
        return self.result()

    def begin(self, function, *arguments):
        """Call a function, but do not wait for it."""
        if not self._is_ready:
            assert self.result() == "ready"
            self._is_ready = True
        self._pipe.send((function, arguments))

    def result(self, seconds=SECONDS):
        """Wait for what was begun."""
        assert self._pipe.poll(seconds), "the server does not answer"
        is_right, value = self._pipe.recv()
        if not is_right:
            raise value
        return value

    def error(self):
        """Wait for what was begun, and return its error or None."""
        try:
            self.result()
        except Exception as error:
            return error
        return None

    def send(self, number):
        os.kill(self.pid, number)

    def kill(self):
        """End the process at once, as often as it is called."""
        if self.pid:
            self.send(signal.SIGCONT)
            self.send(signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._pipe.close()
            self.pid = 0

    def close(self):
        """Let the process close its store and end."""
        self._pipe.send(None)
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        assert os.waitstatus_to_exitcode(status) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def _serve(url, pipe):
    with kenyon.store.open(url) as store:
        pipe.send((True, "ready"))
        while (message := pipe.recv()) is not None:
            function, arguments = message
            try:
                pipe.send((True, function(store, *arguments)))
            except Exception as error:
                # Only the text: not all causes can be pickled.
                pipe.send((False, type(error)(str(error))))
    os._exit(0)


def until(is_true, seconds=20):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.01)


def vector_of(id_):
    """Return the features of a sample, which follow from its id."""
    seed = int.from_bytes(id_.encode(), "little") % (1 << 63)
    return np.random.default_rng(seed).standard_normal(N_FEATURES)


def label_of(id_):
    return LABELS[sum(id_.encode()) % len(LABELS)]


# What a server can be told.


def create(store, name="m", **settings):
    store.create(name, N_FEATURES, {**SMALL, **settings})


def wait_for_model(store):
    until(lambda: "m" in store.names())


def delete(store, name):
    store.delete(name)


def names(store):
    return store.names()


def learn(store, *ids, name="m"):
    vectors, labels = [*map(vector_of, ids)], [*map(label_of, ids)]
    return store[name].learn(vectors, labels, ids).event


def unlearn(store, *ids):
    return store["m"].unlearn(ids).event


def learn_each(store, prefix, n):
    """Learn samples one by one, and return the events."""
    return [learn(store, f"{prefix}{i}") for i in range(n)]


def digest_after(store, event):
    """Return the digest of the sums when an event is published."""
    # Reading fails if the process was stopped for longer than PostgreSQL waits.
    published = _insist(lambda: store["m"].wait(event, SECONDS))
    return published.event, store["m"].digest()[1]


def wait_for(store, event):
    return store["m"].wait(event, SECONDS).event


def classes(store):
    return store["m"].classes()


def create_key(store, name):
    return store.keys.create(name, {"predict"})[1]


def revoke_key(store, name):
    (key,) = (key for key in store.keys.all() if key.name == name)
    store.keys.revoke(key.id)


def has_key(store, secret):
    return store.keys.find(secret) is not None


def hold(store, begun, ended):
    """Stop within a transaction that has locked the model, from one file to the other."""
    with store._database.writing([store["m"].replica.number]):
        begun.touch()
        until(ended.exists)


def load(store, folder, prefix, n_threads=3):
    """Begin to learn and unlearn from several threads, and write each receipt to a file."""
    file = os.open(Path(folder, f"{prefix}.receipts"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store.stopping = threading.Event()
    store.threads = [
        threading.Thread(target=_load, args=(store, file, f"{prefix}-{i}"), daemon=True)
        for i in range(n_threads)
    ]
    for thread in store.threads:
        thread.start()


def stop_load(store):
    """Let the threads end when their present request is acknowledged."""
    store.stopping.set()
    for thread in store.threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


def _load(store, file, name):
    model, n = store["m"], 0
    while not store.stopping.is_set():
        n += 1
        id_ = f"{name}-{n}"
        receipt = _insist(
            lambda id_=id_: model.learn([vector_of(id_)], [label_of(id_)], [id_], key=id_)
        )
        # The kernel has the line, so that it is there when this process is killed.
        os.write(file, f"{receipt.event} {id_}\n".encode())
        if n % 7 == 0:
            receipt = _insist(lambda id_=id_: model.unlearn([id_], key=f"-{id_}"))
            os.write(file, f"{receipt.event} -{id_}\n".encode())


def _insist(call):
    """Repeat a request until it is acknowledged, as clients do that use idempotency keys."""
    while True:
        with suppress(StoreFailed, QueueFull):
            return call()
        time.sleep(0.02)


def receipts(folder):
    """Return the acknowledged events with what they learned ("id") or unlearned ("-id")."""
    # The last line of a file may be torn.
    texts = [path.read_text().rpartition("\n")[0] for path in Path(folder).glob("*.receipts")]
    pairs = [line.split() for text in texts for line in text.splitlines()]
    found = {int(event): what for event, what in pairs}
    assert len(found) == len(pairs), "two requests have one event"
    return found


def check(url, acknowledged):
    """Compare a database with receipts, and with a replay; return its digest."""
    unlearned = {what[1:] for what in acknowledged.values() if what.startswith("-")}
    with kenyon.store.open(url) as store:
        model = store["m"]
        events = model.events(limit=1 << 30)
        assert [event.event for event in events] == [*range(1, len(events) + 1)]
        for number, what in acknowledged.items():
            event = events[number - 1]
            if what.startswith("-"):
                assert event.what == "unlearn", (event, what)
            elif what not in unlearned:
                # The receipt of a later erasure may be lost.
                assert event.ids in ([what], [None]), (event, what)
        ids = [id_ for event in events for id_ in event.ids if id_ is not None]
        assert len({*ids}) == len(ids), "a sample is there twice"
        assert not unlearned & {*ids}
        n_learned = len([what for what in acknowledged.values() if not what.startswith("-")])
        assert len(events) >= len(acknowledged)
        assert n_learned >= 1
        assert all(finding.is_right for finding in store.verify()), store.verify()
        return model.digest()
