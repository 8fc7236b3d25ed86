"""The limits of the server, and how many requests and bytes are in progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kenyon.server.problems import Problem, busy

if TYPE_CHECKING:
    from collections.abc import Iterable

MEGABYTE = 2**20
MAX_NAMED = 100_000
"""Classes that an answer may name, for all samples together: 5 MB of JSON with labels of ten
characters."""
MAX_LABEL = 1000
"""Characters of a label: every list of classes has all labels."""


@dataclass(frozen=True)
class Limits:
    """What one request may take, and all requests together.

    Attributes
    ----------
    body : int
        Bytes of a request.
    file : int
        Bytes of an imported or merged model.
    memory : int
        Bytes of all requests in progress; at least `file`.
    batch : int
        Samples of a request.
    classes : int
        Classes of a model. They are counted in the published state, which may be 100 ms old.
    requests : int
        Requests in progress.
    live : int
        Open streams of live counts.
    connections : int
        Open connections.
    read_seconds : float
        Time to send a body; a long one has a second more for each megabyte.
    header_seconds : float
        Time to send the head of a request.
    header_bytes : int
        Bytes of the head of a request.
    wait_seconds : float
        Time that "after" waits for an event.
    stop_seconds : float
        Time for requests in progress when the server stops.
    """

    body: int = 16 * MEGABYTE
    file: int = 256 * MEGABYTE
    memory: int = 512 * MEGABYTE
    batch: int = 10_000
    classes: int = 10_000
    requests: int = 512
    live: int = 100
    connections: int = 2_000
    read_seconds: float = 30
    header_seconds: float = 10
    header_bytes: int = 64 * 2**10
    wait_seconds: float = 20
    stop_seconds: float = 20


class Load:
    """Requests, bytes and streams in progress. Used by the event loop alone."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.requests = 0
        self.bytes = 0
        self.live = 0

    def enter(self) -> None:
        """Count a request, or raise the problem that there are too many."""
        if self.requests >= self.limits.requests:
            raise busy(f"{self.requests} requests are in progress, the limit of this server")
        self.requests += 1

    def reserve(self, n_bytes: int) -> None:
        """Count bytes of a body, or raise the problem that there are too many."""
        if self.bytes + n_bytes > self.limits.memory:
            raise busy("the bodies of the requests in progress take all memory set aside for them")
        self.bytes += n_bytes

    def open_stream(self) -> None:
        """Count a stream, or raise the problem that there are too many."""
        if self.live >= self.limits.live:
            raise busy(f"{self.live} streams are open, the limit of this server", 10)
        self.live += 1

    def close_stream(self) -> None:
        """Stop counting a stream."""
        self.live -= 1


def check_batch(n_samples: int, limits: Limits) -> None:
    """Raise the problem that a request has too many samples."""
    if n_samples > limits.batch:
        raise Problem(
            413, f"samples has {n_samples} samples, but a request may have {limits.batch} at most"
        )


def check_named(n_samples: int, top: int) -> None:
    """Raise the problem that an answer would name too many classes."""
    n_named = n_samples * top
    if n_named > MAX_NAMED:
        raise Problem(
            413,
            f"the best {top} classes of {n_samples} samples are {n_named} classes, but a request "
            f"may ask for {MAX_NAMED}",
        )


def check_labels(labels: Iterable[Any]) -> None:
    """Raise the problem that a label is too long."""
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if longest > MAX_LABEL:
        raise Problem(
            422, f"a label may have {MAX_LABEL} characters at most, but one has {longest}"
        )
