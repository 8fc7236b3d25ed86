"""What a store needs of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from kenyon.store.reading import Reader
    from kenyon.store.writing import Writer


class Cursor(Protocol):
    """The rows of a statement."""

    def __iter__(self) -> Iterator[Any]: ...
    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return all rows."""


class Connection(Protocol):
    """What executes statements, with a question mark for each value."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Execute a statement."""


class Database(Protocol):
    """Where a store keeps its tables."""

    name: str
    """For messages."""

    def writing(self, models: Sequence[int] = ()) -> AbstractContextManager[Writer]:
        """Give the tables to change; all changes of the block are made, durably, or none.

        Nobody else changes these models meanwhile.
        """

    def reading(self) -> AbstractContextManager[Reader]:
        """Give the tables as they are at the first statement of the block."""

    def check_open(self) -> None:
        """Raise StoreFailed if the store is closed, or was opened before a fork."""

    def clean(self) -> bool:
        """Remove what was erased from the files; return False if that is not possible yet."""

    def until_compaction(self) -> float | None:
        """Return the seconds after which `clean` has more to do; None: nothing was erased."""

    def compact(self) -> None:
        """Rewrite the files without the space that is free."""

    def size(self) -> int:
        """Return the bytes of the database."""

    def check(self) -> list[str]:
        """Return what is wrong with the files."""

    def close(self) -> None:
        """Close all connections."""
