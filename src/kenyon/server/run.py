"""A server that runs: sockets, TLS, logs, the first key, and a shutdown that loses nothing."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import socket
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import uvicorn

from kenyon.server.app import make_app
from kenyon.server.connection import connection_class
from kenyon.server.logs import configure, logger
from kenyon.server.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kenyon.server.limits import Limits
    from kenyon.store import Store

SWITCH_SECONDS = 0.0005
"""How long a thread that learns may keep the interpreter while the event loop waits for it."""
FIRST_KEY = "first"
KEEP_ALIVE_SECONDS = 30
"""Longer than clients keep idle connections, so that they do not send into a closed one."""


class Tls(NamedTuple):
    """The files of a certificate chain and of its key."""

    certificate: Path
    key: Path


class Server(uvicorn.Server):
    """A server that tells when it accepts connections, and when it is about to stop."""

    def __init__(
        self, config: uvicorn.Config, service: Service, on_start: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.service = service
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        logger.info("started")
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logger.info("stopping")
        # Streams end, and load balancers see it.
        self.service.closing.set()
        await super().shutdown(sockets)
        logger.info("stopped")


def make_server(
    store: Store,
    limits: Limits | None = None,
    tls: Tls | None = None,
    on_start: Callable[[], None] = lambda: None,
) -> Server:
    """Return a server of an open store; `run(sockets=[...])` runs it.

    Parameters
    ----------
    store : Store
        It stays open when the server ends.
    limits : Limits, default=None
    tls : Tls, default=None
    on_start : callable, default=None
        Called when the server accepts connections.
    """
    service = Service(store, limits)
    config = uvicorn.Config(
        make_app(service),
        http=connection_class(service.limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(service.limits.stop_seconds),
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    return Server(config, service, on_start)


def serve(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    tls: Tls | None = None,
    log_level: str = "info",
) -> None:
    """Serve a store until a signal ends the process, and print the address.

    The first time, when the store has no keys, it prints a key with the scope admin, too.

    Parameters
    ----------
    store : Store
    host : str, default="127.0.0.1"
        A store without keys is served on this machine alone.
    port : int, default=8000
        0: any that is free.
    limits : Limits, default=None
    tls : Tls, default=None
    log_level : {"debug", "info", "warning", "error"}, default="info"
        "debug" also logs requests that change nothing.
    """
    has_keys = any(key.revoked is None for key in store.keys.all())
    if not has_keys and not is_local(host):
        raise ValueError(
            f"--host {host} is not this machine alone, and the store has no keys: create one with "
            "kenyon keys create, or serve on 127.0.0.1 first"
        )
    listener = listen(host, port)
    configure(log_level)
    sys.setswitchinterval(SWITCH_SECONDS)

    def announce() -> None:
        freezing.append(asyncio.ensure_future(_freeze(server.service)))
        scheme = "http" if tls is None else "https"
        print(f"Kenyon serves at {scheme}://{_address(listener)}", flush=True)
        if not has_keys:
            _, secret = store.keys.create(FIRST_KEY, {"admin"})
            print(f"key: {secret}", flush=True)

    freezing: list[asyncio.Future[None]] = []
    server = make_server(store, limits, tls, announce)
    with listener:
        server.run(sockets=[listener])


async def _freeze(service: Service) -> None:
    """Exempt what is there from garbage collection, when all models and encoders are loaded.

    A full collection would look at all objects of all modules, and requests would wait meanwhile:
    50 ms, and longer with PyTorch.
    """
    await service.loaded.wait()
    gc.collect()
    gc.freeze()


def is_local(host: str) -> bool:
    """Return whether an address is reached from this machine alone.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0"), is_local("example.org")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise OSError(f"--host {host} is no address: {error.strerror}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise OSError(f"{host} port {port} cannot be used: {error.strerror or error}") from error
    return listener


def _address(listener: Any) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
