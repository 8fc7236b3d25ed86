"""One request, and what is sent back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kenyon.server.bodies import (
    JSON,
    decode_json,
    decode_query,
    media_type,
    read_body,
    wrong_type,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.types import Receive, Scope

    from kenyon.server.routes import Route
    from kenyon.server.service import Service
    from kenyon.server.serving import Serving
    from kenyon.store import Key

encode = msgspec.json.Encoder().encode


class Reply:
    """An answer that is no JSON, or has another status than its route.

    Parameters
    ----------
    body : bytes or asynchronous generator of bytes
    media_type : str
    status : int, default=None
        None: that of the route.
    headers : dict, default=None
    on_close : callable, default=None
        Called when the pieces of the body have been sent, or the client has gone.
    """

    __slots__ = "body", "headers", "media_type", "on_close", "status"

    def __init__(
        self,
        body: bytes | AsyncGenerator[bytes, None],
        media_type: str,
        status: int | None = None,
        headers: dict[str, str] | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self.body = body
        self.media_type = media_type
        self.status = status
        self.headers = headers or {}
        self.on_close = on_close


class Call:
    """A request: its route, its key and its body.

    Attributes
    ----------
    key : Key or None
        Who asks; None for routes without a key.
    drain : float
        Seconds for which the rest of the body is read after the answer.
    event : int or None
        The event that the request became, for the log.
    """

    __slots__ = (
        *("drain", "event", "headers", "is_counted", "key", "params", "receive", "reserved"),
        *("route", "scope", "service"),
    )

    def __init__(self, service: Service, route: Route, scope: Scope, receive: Receive) -> None:
        self.service = service
        self.route = route
        self.scope = scope
        self.receive = receive
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.params: dict[str, str] = scope["path_params"]
        self.key: Key | None = None
        self.reserved = 0
        self.is_counted = False
        self.drain: float = 0
        self.event: int | None = None

    @property
    def who(self) -> str:
        """The name of the key."""
        return self.key.name if self.key is not None else ""

    @property
    def serving(self) -> Serving:
        """The model that the path names."""
        return self.service.serving(self.params["name"])

    @property
    def idempotency_key(self) -> str | None:
        """The header `Idempotency-Key`."""
        value = self.headers.get(b"idempotency-key")
        return None if value is None else value.decode("latin-1")

    def enter(self) -> None:
        """Count the request as in progress; `release` ends that."""
        self.service.load.enter()
        self.is_counted = True

    def reserve(self, n_bytes: int) -> None:
        """Count bytes of the body; `release` gives them back."""
        self.service.load.reserve(n_bytes)
        self.reserved += n_bytes

    def release(self) -> None:
        """End what `enter` and `reserve` have counted."""
        self.service.load.bytes -= self.reserved
        self.service.load.requests -= self.is_counted
        self.reserved, self.is_counted = 0, False

    async def body(self) -> bytes:
        """Return the body."""
        return await read_body(self, self.service.limits.body)

    async def file(self) -> bytes:
        """Return the body, which may be as long as a model."""
        return await read_body(self, self.service.limits.file)

    async def json(self) -> Any:
        """Return the body as the type that the route takes."""
        if media_type(self) != JSON:
            raise wrong_type(self, JSON)
        assert self.route.decoder is not None
        return decode_json(await self.body(), self.route.decoder)

    def query(self) -> Any:
        """Return the query as the type that the route takes."""
        assert self.route.query is not None
        return decode_query(self, self.route.query)
