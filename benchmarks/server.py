"""The server under load, beside the same API with other classifiers behind it.

Run as `python benchmarks/server.py`; `--quick` only shows that it runs. Clients and servers share
this machine, and talk over 127.0.0.1 for a bounded time. Writes benchmarks/results/server.md.
"""

from __future__ import annotations

import io
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import msgspec
import numpy as np
import report
from http_load import Answers, Load, drive, request
from problem import N_FEATURES, SEED, draw_on_sphere

from kenyon import FlyClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

N_CLASSES = 100
N_TAUGHT = 2_000
"""Samples that every model has learned before its answers are measured."""
BATCH, BATCH_CLIENTS = 64, 8
SINGLE_CLIENTS = 32
PREDICT_RATE, LEARN_RATE, PREDICT_CLIENTS = 2_000, 200, 32
N_ROWS = 1_000
SECONDS, ROUNDS = 8.0, 3
KENYON = {"kenyon, ridge": {"readout": "ridge"}, "kenyon, fly": {"readout": "fly"}}
OTHERS = {"SGD": "sgd", "neighbours": "neighbours"}


class Server(NamedTuple):
    """A server that runs."""

    url: str
    key: str
    is_durable: bool

    def request(self, route: str, body: bytes, kind: str = "application/json") -> bytes:
        """Return a request to a route of its model."""
        return request(self.url, "POST", f"/v1/models/m/{route}", self.key, body, kind)


class Figures(NamedTuple):
    """What was measured of one server; the best of all rounds."""

    batches: float = 0.0
    """Samples a second, learned in batches."""
    singles: float = 0.0
    """Samples a second, learned one by one."""
    rate: float = 0.0
    """Predictions a second while samples were learned."""
    median: float = np.inf
    """Milliseconds."""
    p99: float = np.inf
    learn_p99: float = np.inf
    rows: float = 0.0
    """Rows a second of `.npy` bodies."""
    rows_share: float = 0.0
    """Of the rate of the library without a server, in the same round."""
    accuracy: float = 0.0

    def best(self, other: Figures) -> Figures:
        """Return the better of each number."""
        pairs = zip(self._fields, self, other, strict=True)
        smaller = {"median", "p99", "learn_p99"}
        return Figures(*(min(a, b) if name in smaller else max(a, b) for name, a, b in pairs))


class Samples:
    """Prepared bodies of requests."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.X, y = draw_on_sphere(N_CLASSES, n, rng)
        # In the order that users have: class after class.
        order = np.argsort(y, kind="stable")
        self.X, self.y = self.X[order], [f"c{i}" for i in y[order]]

    def body(self, first: int, n: int, *, labels: bool) -> bytes:
        """Return a JSON body with samples."""
        samples: list[dict[str, Any]] = []
        for row in range(first, first + n):
            sample: dict[str, Any] = {"vector": [round(float(x), 6) for x in self.X[row]]}
            samples.append({**sample, "label": self.y[row]} if labels else sample)
        return msgspec.json.encode({"samples": samples})


@contextmanager
def kenyon_server(settings: dict[str, str]) -> Iterator[Server]:
    """Run `kenyon serve` on a new store, with one model."""
    command = [sys.executable, "-c", "from kenyon.cli import main; main()", "serve"]
    with TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--store", f"{folder}/store", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            first, second = process.stdout.readline(), process.stdout.readline()
            found = re.search(r"http://\S+", first)
            assert found is not None, (Path(folder) / "log").read_text()
            server = Server(found[0], second.removeprefix("key: ").strip(), is_durable=True)
            httpx.put(
                f"{server.url}/v1/models/m",
                json={"features": N_FEATURES, "settings": settings},
                headers={"Authorization": f"Bearer {server.key}"},
            ).raise_for_status()
            yield server
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
        yield Server(f"http://127.0.0.1:{port}", "none", is_durable=False)
    finally:
        process.terminate()
        process.wait(60)


def measure(server: Server, taught: Samples, held_out: Samples, seconds: float) -> Figures:
    """Measure one server that has just started."""
    n = len(taught.y)
    bodies = [taught.body(first, BATCH, labels=True) for first in range(0, n, BATCH)]
    accuracy = _teach(server, bodies, held_out)
    batches = [server.request("learn", body) for body in bodies]
    (learned,) = drive(server.url, seconds, Load(batches, BATCH_CLIENTS))
    _check(learned)
    singles = [server.request("learn", taught.body(i, 1, labels=True)) for i in range(0, n, 7)]
    (single,) = drive(server.url, seconds, Load(singles, SINGLE_CLIENTS))
    _check(single)
    questions = [
        server.request("predict", held_out.body(i, 1, labels=False)) for i in range(len(held_out.y))
    ]
    answered, taught_meanwhile = drive(
        server.url,
        seconds,
        Load(questions, PREDICT_CLIENTS, PREDICT_RATE),
        Load(singles, 4, LEARN_RATE),
    )
    _check(answered)
    _check(taught_meanwhile)
    rows, share = _measure_rows(server, taught, held_out)
    return Figures(
        batches=learned.rate * BATCH,
        singles=single.rate,
        rate=answered.rate,
        median=answered.quantile(0.5),
        p99=answered.quantile(0.99),
        learn_p99=taught_meanwhile.quantile(0.99),
        rows=rows,
        rows_share=share,
        accuracy=accuracy,
    )


def _teach(server: Server, bodies: list[bytes], held_out: Samples) -> float:
    """Let a server learn all samples once, class after class; return its accuracy on others."""
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    with httpx.Client(headers=headers, timeout=60) as client:
        for body in bodies:
            client.post(f"{server.url}/v1/models/m/learn", content=body).raise_for_status()
        time.sleep(1)  # The last state is published.
        question = held_out.body(0, len(held_out.y), labels=False)
        answer = client.post(f"{server.url}/v1/models/m/predict", content=question)
        answer.raise_for_status()
    labels = [each["label"] for each in answer.json()["answers"]]
    return float(np.mean([a == b for a, b in zip(labels, held_out.y, strict=True)]))


def _measure_rows(server: Server, taught: Samples, held_out: Samples) -> tuple[float, float]:
    """Return the rate of rows in `.npy` bodies, and its ratio to the library's."""
    X = np.resize(held_out.X, (N_ROWS, N_FEATURES))
    buffer = io.BytesIO()
    np.save(buffer, X)
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/x-npy"}
    model = FlyClassifier().fit(taught.X, taught.y)
    times, own = [], []
    with httpx.Client(headers=headers, timeout=60) as client:
        for _ in range(10):
            start = perf_counter()
            answer = client.post(f"{server.url}/v1/models/m/predict", content=buffer.getvalue())
            times.append(perf_counter() - start)
            answer.raise_for_status()
            start = perf_counter()
            model.predict_top(X, 1)
            own.append(perf_counter() - start)
    return N_ROWS / min(times), min(own) / min(times)


def _check(answers: Answers) -> None:
    if answers.n_errors:
        print(f"{answers.n_errors} of {len(answers.seconds)} failed: {answers.first_error}")


def run(seconds: float, rounds: int) -> dict[str, Figures]:
    """Measure all servers in turns."""
    rng = np.random.default_rng(SEED)
    taught, held_out = Samples(N_TAUGHT // BATCH * BATCH, rng), Samples(500, rng)
    found: dict[str, Figures] = {}
    for _ in range(rounds):
        for name, settings in KENYON.items():
            with kenyon_server(settings) as server:
                figures = measure(server, taught, held_out, seconds)
            found[name] = figures.best(found.get(name, Figures()))
            print(name, figures)
        for name, kind in OTHERS.items():
            with other_server(kind) as server:
                figures = measure(server, taught, held_out, seconds)
            found[name] = figures.best(found.get(name, Figures()))
            print(name, figures)
    return found


def main() -> None:
    """Measure, and write the page."""
    is_quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "starlette", "uvicorn"))
    seconds, rounds = (1.0, 1) if is_quick else (SECONDS, ROUNDS)
    found = run(seconds, rounds)
    header = [
        "server",
        f"learn, batches of {BATCH}",
        "learn, single",
        "predict/s",
        "p50, ms",
        "p99, ms",
        "learn p99, ms",
        ".npy rows/s",
        "share of library",
        "accuracy",
    ]
    rows = [
        [
            name,
            f"{one.batches:,.0f}",
            f"{one.singles:,.0f}",
            f"{one.rate:,.0f}",
            f"{one.median:.1f}",
            f"{one.p99:.1f}",
            f"{one.learn_p99:.1f}",
            f"{one.rows:,.0f}",
            f"{one.rows_share:.2f}",
            f"{one.accuracy:.3f}",
        ]
        for name, one in found.items()
    ]
    text = f"""\
Samples have {N_FEATURES} features and come from {N_CLASSES} classes, class after class. Clients and
servers share this machine; each load lasts {seconds:g} s; servers take turns, {rounds} rounds, and
the best of each number counts. "learn" are samples a second that {BATCH_CLIENTS} connections send
in batches of {BATCH} and {SINGLE_CLIENTS} connections one by one; Kenyon answers when they are on
the disk, the others when they are in memory. "predict/s", p50 and p99 are those of {PREDICT_RATE:,}
single predictions a second, over {PREDICT_CLIENTS} connections, while {LEARN_RATE} samples a second
are learned one by one; a request counts from the moment at which it was due. ".npy" sends
{N_ROWS:,} vectors at a time; its share is that of `FlyClassifier.predict_top` with the default
readout in this process, in the same round. "SGD" is scikit-learn's SGDClassifier, which is told all
classes at the beginning; "neighbours" is hnswlib with {N_NEIGHBOURS} neighbours. The accuracy is
that on 500 other samples in the end."""
    sections = ["# The server", environment, text, report.table(header, rows)]
    report.publish("server.md", *sections, saved=not is_quick)


N_NEIGHBOURS = 10


if __name__ == "__main__":
    main()
