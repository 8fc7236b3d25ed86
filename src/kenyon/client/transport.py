"""Requests of the client: sent again until the server has answered them, once each."""

from __future__ import annotations

import random
import time
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import msgspec

from kenyon.client.errors import ServerError, Unreachable
from kenyon.server.wire import ProblemDocument

if TYPE_CHECKING:
    T = TypeVar("T")

JSON, NPY, MODEL_FILE = "application/json", "application/x-npy", "application/octet-stream"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
_encode = msgspec.json.Encoder().encode


class Transport:
    """Sends requests, again after connection errors, 429 and 503.

    Parameters
    ----------
    url, key : str
    timeout : float
        Seconds without a byte from the server.
    retries : int
        How often a request is sent again.
    verify : bool or ssl.SSLContext
        As for httpx.
    """

    def __init__(self, url: str, key: str, timeout: float, retries: int, verify: Any) -> None:
        self.retries = retries
        self.http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
            verify=verify,
        )

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: bytes | None = None,
        media_type: str = JSON,
        query: dict[str, Any] | None = None,
        is_change: bool = False,
        is_repeatable: bool = True,
        key: str | None = None,
    ) -> httpx.Response:
        """Return the answer of the server, or raise its problem.

        Parameters
        ----------
        method, path : str
        body : struct, default=None
            Sent as JSON.
        content : bytes, default=None
            Sent as it is.
        media_type : str
        query : dict, default=None
            Entries of None are left out.
        is_change : bool
            Send an idempotency key, so that a request that is sent again is done once.
        is_repeatable : bool
            Whether a request whose answer was lost may be sent again.
        key : str, default=None
            The idempotency key. None: a random one.
        """
        headers = {}
        if body is not None:
            content = _encode(body)
        if content is not None:
            headers["Content-Type"] = media_type
        if is_change:
            headers["Idempotency-Key"] = key or uuid.uuid4().hex
        request = self.http.build_request(
            method,
            path,
            content=content,
            headers=headers,
            params={k: _plain(v) for k, v in (query or {}).items() if v is not None},
        )
        for attempt in range(self.retries + 1):
            is_last = attempt == self.retries
            try:
                answer = self.http.send(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if is_last:
                    raise Unreachable(f"{self.http.base_url} cannot be reached: {error}") from error
                pause = _pause(attempt)
            except httpx.TransportError as error:
                if is_last or not is_repeatable:
                    raise Unreachable(f"{self.http.base_url} did not answer: {error}") from error
                pause = _pause(attempt)
            else:
                if answer.is_success:
                    return answer
                if is_last or answer.status_code not in (429, 503):
                    problem = problem_of(answer)
                    problem.was_repeated = attempt > 0
                    raise problem
                pause = max(_pause(attempt), _retry_after(answer))
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def ask(self, kind: type[T], method: str, path: str, body: Any = None, **options: Any) -> T:
        """Return the answer of the server as a struct."""
        return msgspec.json.decode(self.send(method, path, body, **options).content, type=kind)


def problem_of(answer: httpx.Response) -> ServerError:
    """Return the problem that the server answered with."""
    status, phrase = answer.status_code, answer.reason_phrase
    try:
        document = msgspec.json.decode(answer.content, type=ProblemDocument)
    except (msgspec.DecodeError, ValueError):  # of a proxy, perhaps
        return ServerError(status, phrase, "the server answered with an error")
    return ServerError(status, document.title, document.detail)


def _pause(attempt: int) -> float:
    """Return a random time that doubles, so that many clients do not come back at once."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1))


def _retry_after(answer: httpx.Response) -> float:
    value = answer.headers.get("retry-after", "")
    return min(LONGEST_PAUSE, float(value)) if value.isdigit() else 0.0


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
