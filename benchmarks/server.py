"""The server under load, beside the same API with other classifiers behind it.

Run as `make server`; `--quick` only shows that it runs. Clients, servers and a PostgreSQL that this
starts share this machine, and talk over 127.0.0.1 for a bounded time. Writes
benchmarks/results/server.md.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import report
import server_scaling
from http_load import Answers, Load, drive
from http_servers import N_CLASSES, NPY, Samples, Server, kenyon_server, other_server
from problem import N_FEATURES, SEED

from kenyon import FlyClassifier
from tests.postgres.cluster import Cluster, temporary_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

N_TAUGHT = 2_000
"""Samples that every model has learned before its answers are measured."""
BATCH, BATCH_CLIENTS = 64, 8
SINGLE_CLIENTS = 32
PREDICT_RATE, LEARN_RATE, PREDICT_CLIENTS = 2_000, 200, 32
N_ROWS = 1_000
SECONDS, ROUNDS = 8.0, 3
READOUTS = "ridge", "fly"
OTHERS = {"SGD": "sgd", "neighbours": "neighbours"}


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


def measure(server: Server, taught: Samples, held_out: Samples, seconds: float) -> Figures:
    """Measure one server that has just started."""
    n = len(taught.y)
    bodies = [taught.body(first, BATCH, labels=True) for first in range(0, n, BATCH)]
    accuracy = _teach(server, bodies, held_out)
    batches = [server.request("learn", body) for body in bodies]
    (learned,) = drive([server.url], seconds, Load(batches, BATCH_CLIENTS))
    _check(learned)
    singles = [server.request("learn", taught.body(i, 1, labels=True)) for i in range(0, n, 7)]
    (single,) = drive([server.url], seconds, Load(singles, SINGLE_CLIENTS))
    _check(single)
    questions = [
        server.request("predict", held_out.body(i, 1, labels=False)) for i in range(len(held_out.y))
    ]
    answered, taught_meanwhile = drive(
        [server.url],
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
    with server.client() as client:
        for body in bodies:
            learned = client.post("/v1/models/m/learn", content=body).raise_for_status()
    # The others have learned when they answer.
    after = learned.json().get("event", 0)
    labels = server.ask(held_out.body(0, len(held_out.y), labels=False, after=after))
    return float(np.mean([a == b for a, b in zip(labels, held_out.y, strict=True)]))


def _measure_rows(server: Server, taught: Samples, held_out: Samples) -> tuple[float, float]:
    """Return the rate of rows in `.npy` bodies, and its ratio to the library's."""
    X, body = np.resize(held_out.X, (N_ROWS, N_FEATURES)), held_out.array(N_ROWS)
    model = FlyClassifier().fit(taught.X, taught.y)
    times, own = [], []
    with server.client(NPY) as client:
        for _ in range(10):
            start = perf_counter()
            answer = client.post("/v1/models/m/predict", content=body)
            times.append(perf_counter() - start)
            answer.raise_for_status()
            start = perf_counter()
            model.predict_top(X, 1)
            own.append(perf_counter() - start)
    return N_ROWS / min(times), min(own) / min(times)


def _check(answers: Answers) -> None:
    if answers.n_errors:
        print(f"{answers.n_errors} of {len(answers.seconds)} failed: {answers.first_error}")


@contextmanager
def new_server(readout: str, cluster: Cluster | None) -> Iterator[Server]:
    """Run Kenyon on a new store, in a folder or in a database."""
    with TemporaryDirectory() as folder:
        place = f"{folder}/store" if cluster is None else cluster.create(f"server{next(_numbers)}")
        with kenyon_server(place) as server:
            server.create({"readout": readout})
            yield server


_numbers = count(1)


def run(cluster: Cluster, taught: Samples, held_out: Samples, seconds: float) -> dict[str, Figures]:
    """Measure all servers, one after the other."""
    contexts = {}
    for readout in READOUTS:
        contexts[f"kenyon, {readout}"] = new_server(readout, None)
        contexts[f"kenyon, {readout}, PostgreSQL"] = new_server(readout, cluster)
    contexts |= {name: other_server(kind) for name, kind in OTHERS.items()}
    found = {}
    for name, context in contexts.items():
        with context as server:
            found[name] = measure(server, taught, held_out, seconds)
        print(name, found[name], flush=True)
    return found


def main() -> None:
    """Measure, and write the page."""
    is_quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "starlette", "uvicorn"))
    seconds, rounds = (1.0, 1) if is_quick else (SECONDS, ROUNDS)
    rng = np.random.default_rng(SEED)
    taught, held_out = Samples(N_TAUGHT // BATCH * BATCH, rng), Samples(500, rng)
    found: dict[str, Figures] = {}
    tails: dict[str, list[float]] = {}
    with temporary_cluster() as cluster:
        for _ in range(rounds):
            for name, figures in run(cluster, taught, held_out, seconds).items():
                found[name] = figures.best(found.get(name, Figures()))
                tails.setdefault(name, []).append(figures.p99)
        scaling = server_scaling.run(cluster, READOUTS, taught, held_out, seconds, rounds)
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
the disk, the others when they are in memory. Kenyon's store is a folder, or a database of a
PostgreSQL with its own settings on the same machine and disk. "predict/s", p50 and p99 are those of
{PREDICT_RATE:,} single predictions a second, over {PREDICT_CLIENTS} connections, while {LEARN_RATE}
samples a second are learned one by one; a request counts from the moment at which it was due.
".npy" sends {N_ROWS:,} vectors at a time; its share is that of `FlyClassifier.predict_top` with the
default readout in this process, in the same round. "SGD" is scikit-learn's SGDClassifier, which is
told all classes at the beginning; "neighbours" is hnswlib with {N_NEIGHBOURS} neighbours. The
accuracy is that on 500 other samples in the end."""
    tables = report.table(header, rows), ROUND_BY_ROUND, rounds_table(tails)
    sections = ["# The server", environment, text, *tables, *scaling]
    report.publish("server.md", *sections, saved=not is_quick)


def rounds_table(tails: dict[str, list[float]]) -> str:
    """Return the p99 of predictions in each round as a table."""
    n_rounds = len(next(iter(tails.values())))
    header = ["p99, ms", *(f"round {i + 1}" for i in range(n_rounds))]
    return report.table(header, [[n, *(f"{p99:.1f}" for p99 in each)] for n, each in tails.items()])


ROUND_BY_ROUND = "The slowest of a hundred predictions differ most from round to round:"
N_NEIGHBOURS = 10


if __name__ == "__main__":
    main()
