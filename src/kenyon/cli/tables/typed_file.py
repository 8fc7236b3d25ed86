"""Parquet and Arrow files.

polars reads a slice of rows at a time. Memory grows with the largest row group or record batch, of
which polars reads all bytes, and not with the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kenyon.cli.tables.arrow_check import MAGIC, check_arrow
from kenyon.cli.tables.piece import Piece, check_types, row_place, skipped_piece
from kenyon.cli.tables.polars_errors import described_errors
from kenyon.cli.tables.selection import Selection, select_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kenyon.cli.tables.samples import Columns, Progress

_WHAT = {"parquet": "a Parquet file", "arrow": "an Arrow IPC file (Feather version 2)"}
_MAGIC = {"parquet": b"PAR1", "arrow": MAGIC}
_STREAM = b"\xff\xff\xff\xff"
_MAX_SLICE_ROWS = 2**16
_MAX_SLICE_VALUES = 2**22
_MAX_SLICE_BYTES = 2**24
"""Bounds of a slice: its rows, its values, and its bytes in the file."""


def read_typed(
    path: Path, name: str, kind: str, columns: Columns, skip_rows: int, progress: Progress
) -> Iterator[tuple[Piece, Selection]]:
    """Yield pieces of a file of the kind "parquet" or "arrow", after the rows to skip."""
    _check_magic(path, name, kind)
    if kind == "arrow":
        check_arrow(path, name)
    # The absolute path cannot look like an address of the internet.
    source = path.absolute()
    with described_errors(name, _WHAT[kind]):
        if kind == "parquet":
            frame = pl.scan_parquet(source, glob=False)
        else:
            frame = pl.scan_ipc(source, glob=False)
        schema = frame.collect_schema()
        n_rows = int(frame.select(pl.len()).collect().item())
    selection = select_columns(name, list(schema), columns)
    check_types(name, dict(schema), selection)
    progress.unit, progress.total = "rows", n_rows
    size = _slice_rows(path.stat().st_size, n_rows, len(schema))
    end = min(skip_rows, n_rows)
    yield skipped_piece(end), selection
    while end < n_rows:
        with described_errors(name, _WHAT[kind]):
            # The row groups may hold more rows than the file declares.
            table = frame.slice(end, min(size, n_rows - end)).collect()
        if table.height != min(size, n_rows - end):
            raise ValueError(f"{name} is damaged: it has not the {n_rows:,} rows that it declares")
        rows = np.arange(end, end + table.height)
        end += table.height
        progress.done = end
        yield Piece(table, rows, end, row_place(rows)), selection


def _check_magic(path: Path, name: str, kind: str) -> None:
    with path.open("rb") as file:
        magic = file.read(len(_MAGIC[kind]))
    if magic == _MAGIC[kind]:
        return
    if not magic:
        raise ValueError(f"{name} is empty")
    if kind == "arrow" and magic.startswith(_STREAM):
        raise ValueError(f"{name} is an Arrow IPC stream; expected an Arrow IPC file")
    raise ValueError(f"{name} is damaged or not {_WHAT[kind]}: its first bytes are {magic!r}")


def _slice_rows(n_bytes: int, n_rows: int, n_columns: int) -> int:
    by_values = _MAX_SLICE_VALUES // max(n_columns, 1)
    by_bytes = _MAX_SLICE_BYTES * n_rows // max(n_bytes, 1)
    return max(min(_MAX_SLICE_ROWS, by_values, by_bytes), 1)
