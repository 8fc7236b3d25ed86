"""Connections: limits on their number, and on the time and size of the head of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kenyon.server.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    import asyncio

    from kenyon.server.limits import Limits


class Connection(HttpToolsProtocol):
    """A connection that is closed if the head of a request is too long or comes too slowly.

    uvicorn limits neither. Bodies are limited where they are read.
    """

    limits: Limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0
        if len(self.connections) > self.limits.connections:
            self._refuse(Problem(503, "too many connections are open", retry_after="1"))
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        # Bytes since the parser last found the end of a head, a piece of a body or its end.
        self._unread += len(data)
        super().data_received(data)
        if self._unread > self.limits.header_bytes:
            self._refuse(Problem(431, f"the head is longer than {self.limits.header_bytes} bytes"))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._start_timer()

    def on_headers_complete(self) -> None:
        self._unread = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(Problem(400, "the request is not HTTP"))

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.header_seconds, self._end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._refuse(Problem(408, f"no request within {self.limits.header_seconds:g} seconds"))

    def _refuse(self, problem: Problem) -> None:
        """Answer a request that never reaches the application, and close the connection."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            content = problem.document()
            head = [
                b"HTTP/1.1 %d -" % problem.status,
                b"content-type: " + MEDIA_TYPE.encode(),
                b"content-length: %d" % len(content),
                b"connection: close",
            ]
            self.transport.write(b"\r\n".join([*head, b"", content]))
        self.transport.close()


def connection_class(limits: Limits) -> type[Any]:
    """Return the protocol of a server with some limits."""
    return type("Connection", (Connection,), {"limits": limits})
