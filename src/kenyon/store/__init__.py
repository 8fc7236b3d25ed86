"""Models whose changes are never lost: a durable log of events, and its snapshots."""

from kenyon.store.errors import (
    Conflict,
    NoSuchEvent,
    NoSuchKey,
    NoSuchModel,
    NoSuchSample,
    QueueFull,
    StoreFailed,
    StoreInUse,
)
from kenyon.store.history import Sample
from kenyon.store.keys import Key, KeyRing
from kenyon.store.model import StoredModel
from kenyon.store.published import Published
from kenyon.store.requests import (
    Drop,
    Event,
    Learn,
    Merge,
    Receipt,
    Rename,
    Request,
    Settings,
    Undo,
    Unlearn,
)
from kenyon.store.store import Store, open  # noqa: A004
from kenyon.store.verifying import Finding

__all__ = [
    "Conflict",
    "Drop",
    "Event",
    "Finding",
    "Key",
    "KeyRing",
    "Learn",
    "Merge",
    "NoSuchEvent",
    "NoSuchKey",
    "NoSuchModel",
    "NoSuchSample",
    "Published",
    "QueueFull",
    "Receipt",
    "Rename",
    "Request",
    "Sample",
    "Settings",
    "Store",
    "StoreFailed",
    "StoreInUse",
    "StoredModel",
    "Undo",
    "Unlearn",
    "open",
]
