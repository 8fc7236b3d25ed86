"""What all requests of a server share."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from kenyon.server.limits import Limits, Load
from kenyon.server.logs import logger
from kenyon.server.metrics import Metrics, StoreCollector
from kenyon.server.pool import Pool
from kenyon.server.serving import Serving
from kenyon.store.errors import NoSuchModel

if TYPE_CHECKING:
    from kenyon.store import Store


class Service:
    """A store with what is needed to serve it. Used by the event loop alone.

    Parameters
    ----------
    store : Store
        An open store; `close` does not close it.
    limits : Limits, default=None

    Attributes
    ----------
    closing : asyncio.Event
        Set when the server is about to stop.
    loaded : asyncio.Event
        Set when all models that were there at the start are loaded, or could not be.
    """

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.store = store
        self.limits = limits or Limits()
        self.load = Load(self.limits)
        self.pool = Pool()
        self.metrics = Metrics()
        self.metrics.registry.register(StoreCollector(self))
        self.closing = asyncio.Event()
        self.loaded = asyncio.Event()
        self._serving: dict[str, Serving] = {}

    def serving(self, name: str) -> Serving:
        """Return a model, or raise NoSuchModel."""
        model = self.store[name]
        found = self._serving.get(name)
        # A model may have been deleted and created again.
        if found is None or found.model is not model:
            found = self._serving[name] = Serving(model, self.metrics)
        return found

    async def load_models(self) -> None:
        """Load all models, one after the other, so that the first requests need not wait."""
        for name in self.store.names():
            await self._load(name)
        self.loaded.set()

    async def _load(self, name: str) -> None:
        try:
            with suppress(NoSuchModel):  # deleted meanwhile
                await self.serving(name).load(self.pool)
        except Exception:
            # The others are served. Requests for this one try again, and say why they fail.
            logger.error("a model could not be loaded", exc_info=True)

    def forget(self, name: str) -> None:
        """Forget a model that was deleted."""
        self._serving.pop(name, None)

    def close(self) -> None:
        """Wait for calls in threads."""
        self.pool.close()
