"""Rows of a table in temporary files, for the formats whose beginning needs to know the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PART_ROWS = 2**16
_PART_BYTES = 2**25


class Spool:
    """Collects rows, and keeps them in files of a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[Path] = []
        self._held: list[pl.DataFrame] = []
        self.schema = pl.Schema()
        self.n_rows = 0
        # polars may return a float.
        self.n_bytes: float = 0

    def write(self, table: pl.DataFrame) -> None:
        """Add rows."""
        self.schema = table.schema
        self._held.append(table)
        self.n_rows += table.height
        self.n_bytes += int(table.estimated_size())
        n_rows = sum(part.height for part in self._held)
        n_bytes = sum(part.estimated_size() for part in self._held)
        if n_rows >= _PART_ROWS or n_bytes >= _PART_BYTES:
            self._store()

    def _store(self) -> None:
        file = self._folder / f"{len(self._files):09d}.arrow"
        pl.concat(self._held).write_ipc(file, compression="lz4")
        self._files.append(file)
        self._held.clear()

    def scan(self) -> pl.LazyFrame:
        """Return all rows, as a query that reads them piece by piece."""
        if self._held:
            self._store()
        if not self._files:
            return pl.DataFrame().lazy()
        return pl.scan_ipc(self._files, glob=False)

    def read(self, column: str) -> Iterator[pl.Series]:
        """Yield a column piece by piece."""
        if self._held:
            self._store()
        for file in self._files:
            yield pl.scan_ipc(file, glob=False).select(column).collect()[column]


def sink_parquet(spool: Spool, target: Path) -> None:
    """Write a Parquet file; its row groups are small enough to be read in little memory."""
    most = int(_PART_BYTES * spool.n_rows // max(spool.n_bytes, 1))
    spool.scan().sink_parquet(target, row_group_size=max(min(most, _PART_ROWS), 1))


def sink_arrow(spool: Spool, target: Path) -> None:
    """Write an Arrow IPC file."""
    # Compressed, polars would hold more and more of it in memory.
    spool.scan().sink_ipc(target, compression="uncompressed")
