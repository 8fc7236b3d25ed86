"""The application: routes with keys, limits, problem documents, metrics and logs."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette import convertors, routing

from kenyon.server.access import authorise
from kenyon.server.bodies import JSON, drain
from kenyon.server.call import Call, Reply, encode
from kenyon.server.logs import log_request, logger
from kenyon.server.problems import MEDIA_TYPE, Problem, problem_of
from kenyon.server.routes import ROUTES, Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from kenyon.server.service import Service

# Of every answer; those of the page have more.
_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_NO_STORE = (b"cache-control", b"no-store")


class _Label(convertors.StringConvertor):
    """The rest of a path: a label may have slashes and line breaks."""

    regex = "(?s:.*)"


convertors.register_url_convertor("label", _Label())


def make_app(service: Service) -> ASGIApp:
    """Return the application of a service, in the form that ASGI servers run.

    Parameters
    ----------
    service : Service
        Its store stays open when the application ends.
    """
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    endpoints = [
        routing.Route(path.replace("{label}", "{label:label}"), _Endpoint(service, methods))
        for path, methods in by_path.items()
    ]

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        loading = asyncio.ensure_future(service.load_models())
        yield
        service.closing.set()
        loading.cancel()
        service.close()

    unknown = _Endpoint(service, {})
    return routing.Router(endpoints, redirect_slashes=False, default=unknown, lifespan=lifespan)


async def _refuse(call: Call) -> Reply:
    if not call.route.path:
        raise Problem(404, f"there is nothing at {call.scope['path']!r:.120}")
    raise Problem(
        405,
        f"{call.scope['method']} is not possible here",
        allow=call.route.gives,  # type: ignore[arg-type]
    )


class _Endpoint:
    """All methods of a path: each request goes through `__call__`."""

    def __init__(self, service: Service, methods: dict[str, Route]) -> None:
        self._service = service
        self._methods = dict(methods)
        if "GET" in methods:
            self._methods["HEAD"] = methods["GET"]
        path = next((route.path for route in methods.values()), "")
        self._refused = Route("-", path, None, _refuse, ", ".join(sorted(self._methods)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = time.perf_counter()
        service, route = self._service, self._methods.get(scope["method"], self._refused)
        scope.setdefault("path_params", {})
        call = Call(service, route, scope, receive)
        status = 500
        try:
            reply = await self._answer(call)
            status = reply.status or route.status
            await _send(call, reply, status, send)
        finally:
            call.release()
            service.metrics.count(route, status, time.perf_counter() - started)
            log_request(call, status, started)

    async def _answer(self, call: Call) -> Reply:
        route = call.route
        try:
            if route.scope is not None:
                call.enter()
                call.key = authorise(call, route.scope)
            result = await route.handler(call)
            if type(result) is Reply:
                return result
            return Reply(encode(result), JSON)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                logger.error("an error of the server", exc_info=True)
                problem = Problem(500, "the server failed; its log says where")
            return Reply(problem.document(), MEDIA_TYPE, problem.status, problem.headers)


async def _send(call: Call, reply: Reply, status: int, send: Send) -> None:
    headers = [*_HEADERS]
    if "cache-control" not in reply.headers:
        headers.append(_NO_STORE)
    if reply.media_type:
        headers.append((b"content-type", reply.media_type.encode()))
    for name, value in reply.headers.items():
        headers.append((name.encode(), value.encode("latin-1", "replace")))
    body = reply.body
    if isinstance(body, bytes):
        if status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if call.drain:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            await drain(call)
            body = b""
        await send({"type": "http.response.body", "body": body})
        return
    await send({"type": "http.response.start", "status": status, "headers": headers})
    try:
        if call.scope["method"] != "HEAD":
            async for piece in body:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    finally:
        await body.aclose()
        if reply.on_close is not None:
            reply.on_close()
    await send({"type": "http.response.body", "body": b""})
