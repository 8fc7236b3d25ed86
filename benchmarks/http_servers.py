"""Servers on this machine and the bodies of requests, for server.py."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import msgspec
import numpy as np
from http_load import request
from problem import N_FEATURES, draw_on_sphere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

N_CLASSES = 100
NPY = "application/x-npy"


class Server(NamedTuple):
    """A server that runs."""

    url: str
    key: str
    pid: int

    def request(self, route: str, body: bytes, kind: str = "application/json") -> bytes:
        """Return a request to a route of its model."""
        return request(self.url, "POST", f"/v1/models/m/{route}", self.key, body, kind)

    def client(self, kind: str = "application/json") -> httpx.Client:
        """Return a client that sends bodies of one kind."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def create(self, settings: Mapping[str, str]) -> None:
        """Create the model."""
        description = {"features": N_FEATURES, "settings": settings}
        with self.client() as client:
            client.put("/v1/models/m", json=description).raise_for_status()

    def ask(self, question: bytes) -> list[str]:
        """Return the classes of the samples in a body, as soon as there is an answer."""
        end = perf_counter() + 60
        with self.client() as client:
            while True:
                answer = client.post("/v1/models/m/predict", content=question)
                # The state after the event of the question is not published yet.
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE or perf_counter() > end:
                    break
        return [each["label"] for each in answer.raise_for_status().json()["answers"]]

    def cpu_seconds(self) -> float:
        """Return the seconds of CPU that the process has taken."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Samples:
    """Prepared bodies of requests."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.X, y = draw_on_sphere(N_CLASSES, n, rng)
        # In the order that users have: class after class.
        order = np.argsort(y, kind="stable")
        self.X, self.y = self.X[order], [f"c{i}" for i in y[order]]

    def body(self, first: int, n: int, *, labels: bool, after: int = 0) -> bytes:
        """Return a JSON body with samples, for an answer that includes an event."""
        samples: list[dict[str, Any]] = []
        for row in range(first, first + n):
            sample: dict[str, Any] = {"vector": [round(float(x), 6) for x in self.X[row]]}
            samples.append({**sample, "label": self.y[row]} if labels else sample)
        return msgspec.json.encode({"samples": samples, **({"after": after} if after else {})})

    def array(self, n: int) -> bytes:
        """Return a `.npy` body with vectors."""
        buffer = io.BytesIO()
        np.save(buffer, np.resize(self.X, (n, N_FEATURES)))
        return buffer.getvalue()


@contextmanager
def kenyon_server(place: str, key: str = "") -> Iterator[Server]:
    """Run `kenyon serve` on a store; the first server of a store makes its key."""
    command = [sys.executable, "-c", "from kenyon.cli import main; main()", "serve"]
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*command, "--store", place, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                log.seek(0)
                raise RuntimeError(f"the server did not start: {log.read()}")
            key = key or process.stdout.readline().removeprefix("key: ").strip()
            yield Server(found[0], key, process.pid)
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def other_server(kind: str) -> Iterator[Server]:
    """Run a server of other_servers.py."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = Path(__file__).with_name("other_servers.py")
    process = subprocess.Popen(
        [sys.executable, str(script), kind, str(port), str(N_FEATURES), str(N_CLASSES)]
    )
    try:
        end = perf_counter() + 60
        while perf_counter() < end:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield Server(f"http://127.0.0.1:{port}", "none", process.pid)
    finally:
        process.terminate()
        process.wait(60)
