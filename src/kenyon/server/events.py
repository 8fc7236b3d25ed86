"""The routes of events: the log of a model, and its counts as they change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kenyon.server.access import authorise
from kenyon.server.call import Reply, encode
from kenyon.server.learning import class_infos
from kenyon.server.problems import Problem
from kenyon.server.wire import ClassList, EventInfo, EventList
from kenyon.store.errors import NoSuchModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from kenyon.server.call import Call
    from kenyon.store import Event, StoredModel

EVENT_STREAM = "text/event-stream"
MAX_ROWS = 100_000
"""Samples in a list of events; events after that are left to the next request."""
_AT_ONCE = 50
_INTERVAL = 0.25
HEARTBEAT = 15


async def list_events(call: Call) -> EventList:
    """List the events after one, in their order."""
    query = call.query()
    return await call.service.pool.run(_list, call.serving.model, query.after, query.limit)


def _list(model: StoredModel, after: int, limit: int) -> EventList:
    events: list[EventInfo] = []
    n_rows = 0
    while len(events) < limit and n_rows < MAX_ROWS:
        found = model.events(after, min(_AT_ONCE, limit - len(events)))
        events += [_describe(event) for event in found]
        n_rows += sum(len(event.ids or ()) for event in found)
        if len(found) < _AT_ONCE:
            break
        after = found[-1].event
    return EventList(events=events)


def _describe(event: Event) -> EventInfo:
    is_learn = event.what == "learn"
    return EventInfo(
        event=event.event,
        time=event.time,
        who=event.who,
        what=event.what,
        samples=event.n,
        undone=event.undone,
        ids=event.ids if is_learn else UNSET,
        labels=event.labels if is_learn else UNSET,
        detail=event.detail or UNSET,
    )


async def watch(call: Call) -> Reply:
    """Send the counts of the classes now, and whenever they change."""
    load, model = call.service.load, call.serving.model
    await call.serving.loaded(call.service)
    load.open_stream()
    return Reply(_counts(call, model), EVENT_STREAM, on_close=load.close_stream)


async def _counts(call: Call, model: StoredModel) -> AsyncGenerator[bytes, None]:
    """Yield server-sent events, until the client goes, the key is revoked or the server stops."""
    service, changed, loop = call.service, asyncio.Event(), asyncio.get_running_loop()

    def notice(_: Any = None) -> None:
        loop.call_soon_threadsafe(changed.set)

    stop = model.listen(notice)
    gone = asyncio.ensure_future(_until_gone(call))
    closing = asyncio.ensure_future(service.closing.wait())
    try:
        while _may_go_on(call, model):
            changed.clear()
            yield _state(model)
            waiting = asyncio.ensure_future(changed.wait())
            while not waiting.done():
                await asyncio.wait(
                    {waiting, gone, closing},
                    timeout=HEARTBEAT,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if gone.done() or closing.done() or not _may_go_on(call, model):
                    waiting.cancel()
                    return
                if not waiting.done():
                    yield b":\n\n"
            # A model that learns fast publishes more often than readers need to know.
            await asyncio.sleep(_INTERVAL)
    finally:
        stop()
        gone.cancel()
        closing.cancel()


def _may_go_on(call: Call, model: StoredModel) -> bool:
    try:
        authorise(call, call.route.scope or "")
        return call.serving.model is model
    except (Problem, NoSuchModel):
        return False


def _state(model: StoredModel) -> bytes:
    event, counts = model.event, model.classes()
    data = encode(ClassList(event=event, classes=class_infos(counts)))
    return b"id: %d\nevent: counts\ndata: %b\n\n" % (event, data)


async def _until_gone(call: Call) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass
