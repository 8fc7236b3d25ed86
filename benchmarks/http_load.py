"""Load for HTTP servers on this machine: prepared requests, and the time of each answer.

`drive` runs in a process of its own, so that it does not share an interpreter with a server.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SECONDS = 60
"""No load lasts longer."""
HEADERS_END = b"\r\n\r\n"


@dataclass
class Load:
    """Requests that are sent over some connections, again and again.

    Parameters
    ----------
    requests : sequence of bytes
        Whole HTTP requests; each connection begins at another one.
    n_connections : int
    rate : float or None
        Requests a second, of all connections together. A request that had to wait for a free
        connection counts from the moment at which it was due. None: each connection sends its
        next request when the last one is answered.
    """

    requests: Sequence[bytes]
    n_connections: int
    rate: float | None = None


@dataclass
class Answers:
    """The seconds that each request took, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    n_errors: int = 0
    first_error: str = ""
    duration: float = 0.0
    cores: float = 0.0
    """Seconds of CPU a second that the process took which sent all loads."""

    @property
    def rate(self) -> float:
        """Answers a second that were no errors."""
        return (len(self.seconds) - self.n_errors) / self.duration

    def quantile(self, share: float) -> float:
        """Return the time that a share of the requests did not exceed, in milliseconds."""
        return float(np.quantile(self.seconds, share) * 1000)


def request(
    url: str, method: str, path: str, key: str, body: bytes, kind: str = "application/json"
) -> bytes:
    """Return a whole HTTP request."""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {urlsplit(url).netloc}",
        f"Authorization: Bearer {key}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + HEADERS_END + body


def drive(urls: Sequence[str], seconds: float, *loads: Load) -> list[Answers]:
    """Send all loads at once for some seconds, and return what became of each.

    The connections of each load lead to the servers in turns.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_drive, (urls, min(seconds, MAX_SECONDS), loads))


def _drive(urls: Sequence[str], seconds: float, loads: Sequence[Load]) -> list[Answers]:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_send_all(urls, seconds, loads))


async def _send_all(urls: Sequence[str], seconds: float, loads: Sequence[Load]) -> list[Answers]:
    start, before = perf_counter(), process_time()
    found = await asyncio.gather(*(_send(urls, seconds, load) for load in loads))
    for answers in found:
        answers.cores = (process_time() - before) / (perf_counter() - start)
    return found


async def _send(urls: Sequence[str], seconds: float, load: Load) -> Answers:
    addresses = [(urlsplit(url).hostname, urlsplit(url).port) for url in urls]
    answers, n_sent = Answers(), 0
    connections = [
        await asyncio.open_connection(*addresses[i % len(addresses)], limit=2**26)
        for i in range(load.n_connections)
    ]
    start = perf_counter()
    end = start + seconds

    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal n_sent
        while True:
            number = n_sent
            n_sent += 1
            due = perf_counter() if load.rate is None else start + number / load.rate
            if due >= end:
                return
            if (wait := due - perf_counter()) > 0:
                await asyncio.sleep(wait)
            elif perf_counter() >= end:
                return
            writer.write(load.requests[number % len(load.requests)])
            status, body = await _receive(reader)
            answers.seconds.append(perf_counter() - due)
            if not 200 <= status < 300:
                answers.n_errors += 1
                answers.first_error = answers.first_error or f"{status} {body[:200]!r}"

    await asyncio.gather(*(work(*connection) for connection in connections))
    answers.duration = perf_counter() - start
    for _, writer in connections:
        writer.close()
    return answers


async def _receive(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(HEADERS_END)
    status = int(head[9:12])
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return status, await reader.readexactly(int(line.partition(b":")[2]))
    return status, b""
