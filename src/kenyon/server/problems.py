"""Errors as problem documents (RFC 9457): one sentence each, and never a stack."""

from __future__ import annotations

import math
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from kenyon.server.wire import ProblemDocument
from kenyon.store.errors import (
    Conflict,
    NoSuchEvent,
    NoSuchKey,
    NoSuchModel,
    NoSuchSample,
    QueueFull,
    StoreFailed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MEDIA_TYPE = "application/problem+json"
MAX_DETAIL = 500


class Problem(Exception):  # noqa: N818
    """An error that a client is told of.

    Parameters
    ----------
    status : int
    detail : str
        One sentence.
    **headers
        Headers of the answer; an underscore stands for a hyphen.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def document(self) -> bytes:
        """Return the problem document."""
        detail = " ".join(self.detail.split())
        if len(detail) > MAX_DETAIL:
            detail = f"{detail[:MAX_DETAIL]} ..."
        # Names and labels may hold lone surrogates, which UTF-8 does not.
        detail = detail.encode("utf-8", "replace").decode()
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode(
            ProblemDocument(type="about:blank", title=title, status=self.status, detail=detail)
        )


def busy(detail: str, seconds: float = 1) -> Problem:
    """Return the problem that a client should try again later."""
    return Problem(429, detail, retry_after=str(max(1, math.ceil(seconds))))


def unavailable(detail: str, seconds: float = 1) -> Problem:
    """Return the problem that the server cannot do this now."""
    return Problem(503, detail, retry_after=str(max(1, math.ceil(seconds))))


def problem_of(error: Exception) -> Problem | None:
    """Return what to tell the client of an error, or None for an error of the server itself.

    A request that cannot be read is 400; one that can be read, but not done, is 422.
    """
    match error:
        case Problem():
            return error
        case NoSuchModel() | NoSuchEvent() | NoSuchSample() | NoSuchKey():
            return Problem(404, str(error))
        case Conflict():
            return Problem(409, str(error))
        case QueueFull():
            return busy(str(error), error.retry_after)
        case StoreFailed():
            return unavailable(str(error), 5)
        case MemoryError():
            return unavailable("there is not enough memory for this request", 5)
    return None


@contextmanager
def refusing() -> Iterator[None]:
    """Make problems of the errors that the store raises for invalid arguments.

    Outside of such blocks a ValueError is an error of the server itself.
    """
    try:
        yield
    except (Conflict, StoreFailed):
        raise
    # OSError: an encoder whose weights are not on this machine.
    except (ValueError, TypeError, OverflowError, ImportError, OSError) as error:
        raise Problem(422, str(error)) from error
