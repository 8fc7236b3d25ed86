"""A server for tests: the real application in a thread, on a real store and a real socket."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import httpx
import numpy as np

import kenyon.store
from kenyon.server.limits import Limits
from kenyon.server.run import listen, make_server

WAIT = 60
"""Seconds that nothing takes, even while other tests take the processors."""
JSON = "application/json"


class Running:
    """A server that runs.

    Attributes
    ----------
    store : Store
    server : Server
    url : str
    port : int
    admin : str
        A key for everything.
    http : httpx.Client
        Sends this key.
    """

    def __init__(self, store, server, port):
        self.store, self.server, self.port = store, server, port
        self.url = f"http://127.0.0.1:{port}"
        _, self.admin = store.keys.create("tests", {"admin"})
        self.clients = ExitStack()
        self.http = self.client(self.admin)

    def client(self, key):
        """Return a client with a key, which is closed with the server."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=WAIT)
        return self.clients.enter_context(client)

    def key(self, *scopes, models=None, name="someone"):
        return self.store.keys.create(name, scopes, models)[1]

    def ask(self, method, path, body=None, status=200, **options):
        """Send a request, check the status, and return the JSON of the answer."""
        answer = self.http.request(method, path, json=body, **options)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def learn(self, model, *samples, **more):
        """Learn pairs of a vector or text and a label."""
        return self.ask("POST", f"/v1/models/{model}/learn", {"samples": wire(samples), **more})

    def new_model(self, name, *samples, **body):
        """Create a model, again if it is there, and learn."""
        self.http.delete(f"/v1/models/{name}")
        self.ask("PUT", f"/v1/models/{name}", body or {"features": 3}, status=201)
        if samples:
            self.learn(name, *samples)
        return f"/v1/models/{name}"

    def limit(self, **limits):
        """Change limits of requests from now on, such as times too short to load a model."""
        service = self.server.service
        service.limits = replace(service.limits, **limits)

    def metric(self, name):
        """Return the present value of a metric."""
        (line,) = (
            line
            for line in self.http.get("/metrics").text.splitlines()
            if line.startswith(f"{name} ")
        )
        return float(line.split()[1])

    def raw(self):
        """Return a socket that is connected to the server."""
        return closing(socket.create_connection(("127.0.0.1", self.port), timeout=WAIT))


def wire(samples):
    """Return pairs of a sample and a label, and perhaps an id, as the wire has them."""
    found = []
    for x, label, *rest in samples:
        kind = "text" if isinstance(x, str) else "vector"
        found.append({kind: x, "label": label} | ({"id": rest[0]} if rest else {}))
    return found


@contextmanager
def serving(folder, **limits):
    """Serve a store in a folder for a block."""
    limits = {"wait_seconds": WAIT, **limits}
    with kenyon.store.open(folder) as store, listen("127.0.0.1", 0) as listener:
        started = threading.Event()
        server = make_server(store, Limits(**limits), on_start=started.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert started.wait(WAIT)
            running = Running(store, server, listener.getsockname()[1])
            with running.clients:
                yield running
        finally:
            server.should_exit = True
            thread.join(WAIT)
            assert not thread.is_alive()


@contextmanager
def program(folder, *arguments, port=0, **options):
    """Run `kenyon serve` for a block, with the address and the key that it prints."""
    command = [sys.executable, "-c", "from kenyon.cli import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, "--store", str(folder), "--port", str(port), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Other tests have the other processors, for which threads of BLAS would wait.
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **options,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Kenyon serves at "), (line, process.communicate(timeout=WAIT))
        process.url = line.split()[-1]
        yield process
    finally:
        process.kill()
        process.communicate()


def first_key(process):
    """Return the key that a process prints when its store has none."""
    line = process.stdout.readline()
    assert line.startswith("key: kenyon_")
    return line.split()[1]


def npy(array):
    """Return an array as the body of a request."""
    import io

    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def until(condition):
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + WAIT
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def problem(answer, status, words=""):
    """Check that an answer is a problem document with some words, and return its sentence."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    assert answer.headers["content-type"] == "application/problem+json"
    found = json.loads(answer.text)
    assert set(found) == {"type", "title", "status", "detail"}
    assert found["status"] == status
    assert words in found["detail"], found["detail"]
    assert "Traceback" not in answer.text
    assert "\n" not in found["detail"]
    return found["detail"]
