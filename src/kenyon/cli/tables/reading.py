"""Samples from files of every format, piece by piece."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from kenyon.cli.tables.byte_source import BLOCK_SIZE, ByteSource
from kenyon.cli.tables.csv_file import CsvReader, read_header
from kenyon.cli.tables.formats import FORMATS, STANDARD, find_format
from kenyon.cli.tables.images import read_images
from kenyon.cli.tables.json_lines import JsonLinesReader
from kenyon.cli.tables.npz import read_npz
from kenyon.cli.tables.piece import Piece, to_samples
from kenyon.cli.tables.samples import BadRows, Columns, Progress, Samples
from kenyon.cli.tables.selection import Selection, select_columns
from kenyon.cli.tables.typed_file import read_typed

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ROWS = 8192
"""Default number of rows of a piece."""


def read_samples(
    path: str,
    columns: Columns,
    *,
    format: str | None = None,  # noqa: A002
    skip_rows: int = 0,
    bad: BadRows | None = None,
    max_rows: int = MAX_ROWS,
    progress: Progress | None = None,
    block_size: int = BLOCK_SIZE,
) -> Iterator[Samples]:
    """Yield the samples of a file in pieces; memory does not grow with the file.

    Parameters
    ----------
    path : str
        A file, a folder of images, or "-" for standard input.
    columns : Columns
    format : str, optional
        One of `FORMATS`; by default it follows from the suffix, and is "csv" for standard input.
    skip_rows : int, default 0
        Number of rows at the beginning that are not read.
    bad : BadRows, optional
        Counts the bad rows. Without it the first bad row raises ValueError.
    max_rows : int
        Largest number of samples in a piece. A piece has at least one sample.
    progress : Progress, optional
        How much of the file the samples so far hold.
    block_size : int
        Bytes of a text file that are parsed at once.

    Raises
    ------
    ValueError
        If the file is damaged, lacks a column, has no rows or fewer rows than are skipped, or has
        a bad row: one sentence with file, line or row, and column.
    OSError
        If the file cannot be read.
    """
    progress = Progress() if progress is None else progress
    name = "standard input" if path == STANDARD else path
    found = find_format(path, format, FORMATS)
    reading = Progress()
    end = 0
    for piece, selection in _read(path, name, found, columns, skip_rows, reading, block_size):
        progress.unit, progress.total = reading.unit, reading.total
        done, first, end = progress.done, end, piece.end
        if end <= skip_rows:
            progress.done = reading.done
            continue
        for part in piece.parts(max_rows, skip_rows):
            # Many parts are learned after one piece was read: the bar must not wait for its end.
            share = (part.end - first) / max(end - first, 1)
            progress.done = done + round(share * (reading.done - done))
            samples = to_samples(name, part, selection, bad)
            if not len(samples.inputs):
                continue
            if found == "images":
                samples = samples._replace(inputs=list(map(Path, samples.table["file"])))
            yield samples
    progress.done = reading.done
    if not end:
        raise ValueError(f"{name} has no rows")
    if end < skip_rows:
        raise ValueError(f"{name} has {end:,} rows, but {skip_rows:,} rows were to be skipped")


def _read(
    path: str,
    name: str,
    file_format: str,
    columns: Columns,
    skip_rows: int,
    progress: Progress,
    block_size: int,
) -> Iterator[tuple[Piece, Selection]]:
    """Yield pieces and their columns; rows to skip may be among the first pieces."""
    if file_format == "images":
        with _described_errors(name):
            yield from read_images(Path(path), columns, skip_rows, progress)
    elif file_format in ("csv", "tsv", "jsonl"):
        with _described_errors(name), _open(path, progress) as file:
            source = ByteSource(file, name, progress, block_size)
            yield from _read_text(source, file_format, columns, skip_rows)
    else:
        with _described_errors(name), _on_disk(path) as stored:
            if file_format == "npz":
                yield from read_npz(stored, name, columns, skip_rows, progress)
            else:
                yield from read_typed(stored, name, file_format, columns, skip_rows, progress)


def _read_text(
    source: ByteSource, file_format: str, columns: Columns, skip_rows: int
) -> Iterator[tuple[Piece, Selection]]:
    if file_format == "jsonl":
        objects = JsonLinesReader(source)
        names = objects.find_names()
        selection = select_columns(source.name, names, columns)
        pieces = objects.pieces(names, selection, skip_rows)
    else:
        separator = "\t" if file_format == "tsv" else ","
        names = read_header(source, separator)
        selection = select_columns(source.name, names, columns)
        pieces = CsvReader(source, separator, names, selection).pieces(skip_rows)
    for piece in pieces:
        yield piece, selection


@contextmanager
def _described_errors(name: str) -> Iterator[None]:
    """Turn the errors of the operating system into sentences."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {name}") from None
    except OSError as error:
        raise type(error)(f"{name} cannot be read: {error.strerror or error}") from error


@contextmanager
def _open(path: str, progress: Progress) -> Iterator[BinaryIO]:
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    with Path(path).open("rb") as file:
        if Path(path).is_file():
            progress.total = Path(path).stat().st_size
        yield file


@contextmanager
def _on_disk(path: str) -> Iterator[Path]:
    """Yield the path of a file that can be read anywhere; a stream is copied to one first."""
    if path != STANDARD and not Path(path).is_fifo():
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="kenyon-") as spool:
        with _open(path, Progress()) as file:
            shutil.copyfileobj(file, spool)
        spool.flush()
        yield Path(spool.name)
