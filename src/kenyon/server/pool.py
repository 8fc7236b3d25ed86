"""Threads for what would hold up the event loop."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from kenyon.server.problems import busy

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    T = TypeVar("T")

MAX_WAITING = 128


async def result(future: Future[T]) -> T:
    """Return the result of a future of a thread.

    Unlike `asyncio.wrap_future`, it does not cancel the future when the client of a request has
    gone: the store makes the change all the same.
    """
    loop = asyncio.get_running_loop()
    mine: asyncio.Future[T] = loop.create_future()

    def take() -> None:
        if mine.done():
            return
        error = future.exception()
        if error is None:
            mine.set_result(future.result())
        else:
            mine.set_exception(error)

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(take)

    if future.done():
        return future.result()
    future.add_done_callback(wake)
    return await mine


class Pool:
    """A few threads, and a bounded number of calls that wait for them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "kenyon-server")
        self.waiting = 0

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a call in a thread, or raise the problem that too many wait.

        A request that is cancelled leaves its call running, which counts until it has ended.
        """
        if self.waiting >= MAX_WAITING:
            raise busy(f"{self.waiting} requests wait for a thread, the limit of this server")
        self.waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        future.add_done_callback(self._end)
        return await future

    def close(self) -> None:
        """Wait for the calls in progress, and end the threads."""
        self._threads.shutdown(cancel_futures=True)

    def _end(self, _: Any) -> None:
        self.waiting -= 1
