"""A server that is killed again and again under load, and what its clients know of it."""

import http.client
import json
import os
import random
import signal
import threading
import time
from contextlib import closing, suppress

import kenyon.store
from kenyon.server.run import listen, serve

N_FEATURES = 6
N_CLIENTS = 4
LABELS = [f"label {i}" for i in range(8)]
MODEL = "/v1/models/m"
PATIENCE = 30


class Client(threading.Thread):
    """Changes the model in a loop, and remembers what was acknowledged.

    Every sample has an id and every request an idempotency key. A request whose answer did not
    come is sent again to the next server, with the same key: it may have been done or not.
    """

    def __init__(self, number, port, key, past=None):
        super().__init__(daemon=True)
        self.number, self.port, self.key = number, port, key
        self.random = random.Random(f"{number} {port} {time.monotonic_ns()}")
        self.stopped = threading.Event()
        self.n_requests = past.n_requests if past else 0
        self.pending = past.pending if past else None
        self.learned = past.learned if past else {}  # the event of each id that is learned
        self.unlearned = past.unlearned if past else set()
        self.error = None

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            while not self.stopped.is_set():
                if self.pending is None:
                    self.pending = self.choose()
                self.send(connection, *self.pending)
                self.pending = None
        except (OSError, http.client.HTTPException):
            pass  # The server was killed.
        except Exception as error:
            self.error = error
        finally:
            connection.close()

    def choose(self):
        self.n_requests += 1
        key = f"{self.number}-{self.n_requests}"
        if self.learned and self.random.random() < 0.2:
            ids = self.random.sample(sorted(self.learned), 1)
            return "unlearn", key, {"ids": ids}
        samples = [
            {
                "id": f"{key}-{i}",
                "label": self.random.choice(LABELS),
                "vector": [self.random.random() for _ in range(N_FEATURES)],
            }
            for i in range(self.random.choice([1, 1, 1, 8]))
        ]
        return "learn", key, {"samples": samples}

    def send(self, connection, route, key, body):
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        connection.request("POST", f"{MODEL}/{route}", json.dumps(body), headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status == 200, found
        if route == "learn":
            self.learned.update(dict.fromkeys(found["ids"], found["event"]))
            assert found["ids"] == [sample["id"] for sample in body["samples"]]
        else:
            for id_ in body["ids"]:
                del self.learned[id_]
                self.unlearned.add(id_)


def run_server(folder, port):
    """Serve in a forked process, which has all modules already; return its number."""
    child = os.fork()
    if child:
        return child
    try:
        # A killed server must leave no trace of its own choice.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with kenyon.store.open(folder) as store:
            serve(store, port=port, log_level="error")
    finally:
        os._exit(1)


def wait_for(port):
    end = time.monotonic() + PATIENCE
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        assert time.monotonic() < end, "the server did not start"
        time.sleep(0.01)


def free_port():
    with listen("127.0.0.1", 0) as socket:
        return socket.getsockname()[1]


def prepare(folder, readout):
    """Make a store with a model and a key, and return the key."""
    with kenyon.store.open(folder) as store:
        settings = {"readout": readout, "n_cells": 120, "random_state": 1}
        store.create("m", features=N_FEATURES, settings=settings)
        return store.keys.create("clients", {"admin"})[1]


def check(folder, clients):
    """Compare the store with what clients know, and its sums with a replay; return its size."""
    with kenyon.store.open(folder) as store:
        model = store["m"]
        events = model.events(limit=1 << 30)
        assert [event.event for event in events] == list(range(1, len(events) + 1))
        there = {}
        for event in events:
            for id_ in event.ids:
                if id_ is not None:
                    assert id_ not in there, f"{id_} was learned twice"
                    there[id_] = event.event
        for client in clients:
            assert client.error is None, client.error
            pending = set()
            if client.pending is not None:
                route, _, body = client.pending
                pending = set(body["ids"]) if route == "unlearn" else set()
            for id_, event in client.learned.items():
                assert there.get(id_) == event or id_ in pending, f"{id_} is lost"
            assert not client.unlearned & there.keys(), "something unlearned is there"
        findings = store.verify()
        assert all(finding.is_right for finding in findings), findings
        assert sum(model.classes().values()) == len(there)
        return len(events), len(there)


def kill_again_and_again(folder, n_kills, seed, readout="fly", every=10, longest=0.4):
    """Kill a server at random moments under load; return the events and samples that are left.

    The store is compared with what clients know after every tenth kill, and in the end.
    """
    key, chance = prepare(folder, readout), random.Random(seed)
    clients = [None] * N_CLIENTS
    size = 0, 0
    for n in range(1, n_kills + 1):
        port = free_port()
        child = run_server(folder, port)
        try:
            wait_for(port)
            clients = [Client(i, port, key, past) for i, past in enumerate(clients)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.0, longest))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for client in clients:
            client.stopped.set()
            client.join(PATIENCE)
            assert not client.is_alive()
        if n % every == 0 or n == n_kills:
            size = check(folder, clients)
    return size
