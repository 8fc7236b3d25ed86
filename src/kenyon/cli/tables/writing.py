"""Tables to files, piece by piece."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from kenyon._files import replacing
from kenyon.cli.tables.formats import STANDARD, TABLES, find_format
from kenyon.cli.tables.npz_output import sink_npz
from kenyon.cli.tables.polars_errors import POLARS_ERRORS
from kenyon.cli.tables.spool import Spool, sink_arrow, sink_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SINKS = {"parquet": sink_parquet, "arrow": sink_arrow, "npz": sink_npz}
"""The formats that are written from a spool when all rows are known."""
_FLAT = ("csv", "tsv", "npz")
"""The formats without lists, structures and bytes."""


class TableWriter:
    """Writes a table piece by piece.

    Parameters
    ----------
    write : function
        Writes one piece.
    flat : str or None
        The format, if it cannot hold nested columns.

    Attributes
    ----------
    error : OSError or None
        The error of a failed write.
    """

    def __init__(self, write: Callable[[pl.DataFrame], None], flat: str | None) -> None:
        self._write = write
        self._flat = flat
        self._schema: pl.Schema | None = None
        self.error: OSError | None = None

    def write(self, table: pl.DataFrame) -> None:
        """Write rows.

        Raises
        ------
        ValueError
            If the columns differ from those of the first piece, or the format cannot hold them.
        """
        if self._schema is None:
            self._check_flat(table.schema)
            self._schema = table.schema
        if table.columns != list(self._schema):
            raise ValueError(
                f"all pieces of a table must have the columns {list(self._schema)}; got "
                f"{table.columns}"
            )
        try:
            self._write(table.cast(self._schema))
        except OSError as error:
            self.error = error
            raise
        except POLARS_ERRORS as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"a piece of the table cannot be written: {reason}") from error

    def _check_flat(self, schema: pl.Schema) -> None:
        if self._flat is None:
            return
        for name, kind in schema.items():
            if kind.is_nested() or kind in (pl.Binary, pl.Object):
                raise ValueError(
                    f"column {name!r} holds {kind}, which the format {self._flat} cannot hold: "
                    "choose parquet or arrow"
                )


@contextmanager
def write_table(
    path: str,
    format: str | None = None,  # noqa: A002
) -> Iterator[TableWriter]:
    """Yield a writer of a table; the file is replaced when the block ends without an error.

    Memory does not grow with the table. Parquet, Arrow and .npz files are collected in the folder
    of temporary files first.

    Parameters
    ----------
    path : str
        The file, or "-" for standard output.
    format : str, optional
        One of `TABLES`; by default it follows from the suffix, and is "csv" for standard output.

    Raises
    ------
    ValueError
        If the format is unknown, or a binary one would be written to a terminal.
    OSError
        If the file cannot be written; the old one is then unchanged. BrokenPipeError if nobody
        reads standard output any more.
    """
    found = find_format(path, format, TABLES, "--output-format")
    if found in _SINKS and path == STANDARD and sys.stdout.isatty():
        raise ValueError(f"the format {found} is binary, and standard output is a terminal")
    try:
        with _write(path, found) as writer, _marked_errors(writer):
            yield writer
    except _BlockError as marked:
        raise marked.error from marked.error.__cause__


class _BlockError(Exception):
    """Carries an error of the block, which tells of another file, past `replacing`."""

    def __init__(self, error: OSError) -> None:
        self.error = error


@contextmanager
def _marked_errors(writer: TableWriter) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error is writer.error:
            raise
        raise _BlockError(error) from error


@contextmanager
def _write(path: str, found: str) -> Iterator[TableWriter]:
    flat = found if found in _FLAT else None
    if found not in _SINKS:
        with _open(path) as file:
            yield TableWriter(_text_writer(file, found), flat)
        return
    with tempfile.TemporaryDirectory(prefix="kenyon-") as folder:
        spool = Spool(Path(folder))
        with _target(path, Path(folder)) as target:
            yield TableWriter(spool.write, flat)
            try:
                _SINKS[found](spool, target)
            except POLARS_ERRORS as error:
                reason = str(error).partition("\n")[0]
                raise OSError(f"{path} could not be written: {reason}") from error


def _text_writer(file: BinaryIO, found: str) -> Callable[[pl.DataFrame], None]:
    has_header = False

    def write(table: pl.DataFrame) -> None:
        nonlocal has_header
        # Through memory: polars would write to the descriptor of the file.
        text = BytesIO()
        if found == "jsonl":
            table.write_ndjson(text)
        else:
            separator = "\t" if found == "tsv" else ","
            table.write_csv(text, separator=separator, include_header=not has_header)
            has_header = True
        file.write(text.getbuffer())

    return write


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(Path(path)) as beside, beside.open("wb") as file:
        yield file


@contextmanager
def _target(path: str, folder: Path) -> Iterator[Path]:
    """Yield the file for a sink, which becomes `path` or goes to standard output."""
    if path != STANDARD:
        with replacing(Path(path)) as beside:
            yield beside
        return
    target = folder / "table"
    yield target
    with target.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
