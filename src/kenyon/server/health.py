"""The routes of health, for load balancers and supervisors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.server.problems import unavailable
from kenyon.server.wire import Health

if TYPE_CHECKING:
    from kenyon.server.call import Call


async def alive(call: Call) -> Health:
    """Say that the server answers."""
    return Health(status="ok")


async def ready(call: Call) -> Health:
    """Say that the server takes requests: it has loaded its models, and is not about to stop."""
    if call.service.closing.is_set():
        raise unavailable("the server is stopping")
    if not call.service.loaded.is_set():
        raise unavailable("the models are being loaded")
    return Health(status="ready")
