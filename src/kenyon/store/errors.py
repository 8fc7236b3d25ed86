"""The errors of a store; invalid arguments raise ValueError and TypeError as everywhere."""

from __future__ import annotations


class StoreInUse(OSError):
    """Another process has opened the store."""


class StoreFailed(OSError):
    """The store could not be written or read; a change that raises this did not happen."""


class _Missing(KeyError):
    # KeyError shows the repr of its argument, which is a sentence here.
    def __str__(self) -> str:
        return str(self.args[0])


class NoSuchModel(_Missing):
    """The store has no model of this name."""


class NoSuchEvent(_Missing):
    """The model has no event of this number."""


class NoSuchSample(_Missing):
    """The model has no sample with this id."""


class NoSuchKey(_Missing):
    """The store has no key of this number."""


class Conflict(ValueError):
    """The change contradicts the present state: a name or an id is taken, or an undo impossible."""


class QueueFull(RuntimeError):
    """Too many changes wait to be written or learned; try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
