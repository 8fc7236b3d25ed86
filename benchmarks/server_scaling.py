"""Predictions of one and of two servers on one PostgreSQL, for server.py."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import report
from http_load import Load, drive
from http_servers import NPY, Samples, Server, kenyon_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.postgres.cluster import Cluster

SINGLE_CLIENTS, ARRAY_CLIENTS, ARRAY_ROWS = 32, 4, 1_000
HEADER = (
    "load",
    "servers",
    "predictions/s",
    "p50, ms",
    "p99, ms",
    "cores of clients",
    "cores of servers",
)


class Scaled(NamedTuple):
    """What some servers did under one load."""

    rate: float
    """Predictions a second."""
    median: float
    """Milliseconds of a request."""
    p99: float
    clients: float
    """Cores that the process took which sends the load."""
    servers: float
    """Cores that the servers took."""


def run(
    cluster: Cluster,
    readouts: Sequence[str],
    taught: Samples,
    held_out: Samples,
    seconds: float,
    rounds: int,
) -> list[str]:
    """Measure one and two servers in turns, and return the sections of the page."""
    rows = []
    for readout in readouts:
        with ExitStack() as stack:
            servers = _start_two(stack, cluster.create(f"scaling_{readout}"), readout, taught)
            for load, (requests, n_rows) in _loads(servers[0], held_out).items():
                found = {1: [], 2: []}
                for _ in range(rounds):
                    for n, scaled in found.items():
                        scaled.append(_measure(servers[:n], seconds, requests, n_rows))
                        print(readout, load, n, scaled[-1], flush=True)
                rows += [_row(f"{readout}, {load}", n, max(all_)) for n, all_ in found.items()]
    text = f"""\
Two servers share a database of PostgreSQL and one model that has learned the samples above. The
clients are one process: {SINGLE_CLIENTS} connections that ask for one vector at a time, or
{ARRAY_CLIENTS} that send `.npy` bodies of {ARRAY_ROWS:,}; each sends its next request when the last
one is answered. With two servers, half of the connections lead to each; with one, the other is
idle. Both loads take turns, {rounds} rounds of {seconds:g} s, and the round with the most
predictions counts. Clients and servers share all cores, so the last columns say how many each
took."""
    return ["## Predictions with a second server", text, report.table(HEADER, rows)]


def _start_two(stack: ExitStack, place: str, readout: str, taught: Samples) -> list[Server]:
    """Start two servers, and let one of them teach what both then know."""
    first = stack.enter_context(kenyon_server(place))
    first.create({"readout": readout})
    with first.client() as client:
        body = taught.body(0, len(taught.y), labels=True)
        learned = client.post("/v1/models/m/learn", content=body).raise_for_status()
    question = taught.body(0, 1, labels=False, after=learned.json()["event"])
    servers = [first, stack.enter_context(kenyon_server(place, first.key))]
    for server in servers:
        server.ask(question)
    return servers


def _loads(server: Server, held_out: Samples) -> dict[str, tuple[Load, int]]:
    """Return each load with the number of vectors in a request."""
    singles = [
        server.request("predict", held_out.body(i, 1, labels=False)) for i in range(len(held_out.y))
    ]
    arrays = [server.request("predict", held_out.array(ARRAY_ROWS), NPY)]
    return {
        "single": (Load(singles, SINGLE_CLIENTS), 1),
        ".npy": (Load(arrays, ARRAY_CLIENTS), ARRAY_ROWS),
    }


def _measure(servers: Sequence[Server], seconds: float, load: Load, n_rows: int) -> Scaled:
    before = sum(server.cpu_seconds() for server in servers)
    (answers,) = drive([server.url for server in servers], seconds, load)
    took = sum(server.cpu_seconds() for server in servers) - before
    if answers.n_errors:
        raise RuntimeError(f"{answers.n_errors} requests failed: {answers.first_error}")
    return Scaled(
        answers.rate * n_rows,
        answers.quantile(0.5),
        answers.quantile(0.99),
        answers.cores,
        took / answers.duration,
    )


def _row(load: str, n: int, scaled: Scaled) -> tuple[str, ...]:
    return (
        load,
        str(n),
        f"{scaled.rate:,.0f}",
        f"{scaled.median:.1f}",
        f"{scaled.p99:.1f}",
        f"{scaled.clients:.2f}",
        f"{scaled.servers:.2f}",
    )
