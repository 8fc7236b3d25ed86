""".npz files: features in the array X, labels in the array y. Nothing is unpickled.

The header of an array is read first; its rows are decompressed piece by piece.
"""

from __future__ import annotations

import math
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.lib import format as npy

from kenyon.cli.tables.byte_source import MAX_RECORD
from kenyon.cli.tables.piece import Piece, row_place, skipped_piece
from kenyon.cli.tables.selection import Selection, match_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon.cli.tables.samples import Columns, Progress

    Rows = Callable[[int, int], NDArray[Any]]

# NumPy and zipfile raise these for corrupt bytes.
_CORRUPT = (
    *(EOFError, MemoryError, OSError, OverflowError, RuntimeError, ValueError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error),
)
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAX_HEADER = 10_000  # As in `numpy.load`.
_MAX_BEGINNING = npy.MAGIC_LEN + 4 + _MAX_HEADER
_COPY_BYTES = 2**20
_PIECE_BYTES = 2**24


class _Header(NamedTuple):
    """The beginning of a member: its length, and the array that it declares."""

    length: int
    shape: tuple[int, ...]
    in_columns: bool
    dtype: np.dtype[Any]

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape[1:]) * self.dtype.itemsize


def read_npz(
    path: Path, name: str, columns: Columns, skip_rows: int, progress: Progress
) -> Iterator[tuple[Piece, Selection]]:
    """Yield pieces of an .npz file, after the rows to skip.

    The features are named x0, x1, ...; `columns.features` selects some of them. Labels are read
    from y if `columns.label` is not None.
    """
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        with _described(name):
            archive = stack.enter_context(zipfile.ZipFile(file))
            header = _read_header(archive, "X", "biuf", 2)
            rows = stack.enter_context(_open_rows(archive, "X", header))
            labels = None
            if columns.label is not None:
                label_header = _read_header(archive, "y", "biufU", 1)
                if label_header.shape[0] != header.shape[0]:
                    raise ValueError(
                        f"its array 'X' has {header.shape[0]} rows, and 'y' {label_header.shape[0]}"
                    )
                labels = stack.enter_context(_open_rows(archive, "y", label_header))
        n_rows, n_features = header.shape
        names = [f"x{i}" for i in range(n_features)]
        chosen = names
        if columns.features is not None:
            chosen = match_features(name, names, columns.features)
        selection = Selection(None, chosen, None if labels is None else "y")
        progress.unit, progress.total = "rows", n_rows
        yield skipped_piece(min(skip_rows, n_rows)), selection
        at = [int(column[1:]) for column in chosen] if len(chosen) < n_features else None
        size = max(_PIECE_BYTES // max(header.row_bytes, 1), 1)
        for start in range(skip_rows, n_rows, size):
            stop = min(start + size, n_rows)
            with _described(name):
                piece = _to_piece(rows, labels, at, start, stop)
            progress.done = stop
            yield piece, selection


def _to_piece(
    rows: Rows, labels: Rows | None, at: list[int] | None, start: int, stop: int
) -> Piece:
    X = rows(start, stop)
    single = X.dtype.kind == "f" and X.dtype.itemsize <= 4
    matrix = X.astype(np.float32 if single else np.float64, order="C")
    index = np.arange(start, stop)
    table = pl.DataFrame({"row": index + 1})
    if labels is not None:
        y = labels(start, stop)
        if y.dtype.kind == "f":
            y = y.astype(np.float64)
        native = y.astype(y.dtype.newbyteorder("="))
        # NumPy's strings come one by one: polars reads no arrays of them.
        values = native.tolist() if native.dtype.kind == "U" else native
        table = table.with_columns(pl.Series("y", values))
    matrix = matrix if at is None else np.ascontiguousarray(matrix[:, at])
    return Piece(table, index, stop, row_place(index), matrix=matrix)


@contextmanager
def _described(name: str) -> Iterator[None]:
    try:
        yield
    except _CORRUPT as error:
        raise ValueError(
            f"{name} is damaged or not an .npz file of plain arrays X and y: {error}"
        ) from error


def _read_header(archive: zipfile.ZipFile, key: str, kinds: str, n_dimensions: int) -> _Header:
    members = [info for info in archive.infolist() if info.filename == f"{key}.npy"]
    if len(members) != 1:
        names = ", ".join(info.filename.removesuffix(".npy") for info in archive.infolist()[:10])
        raise ValueError(f"it has {len(members)} arrays {key!r}; its arrays are {names or 'none'}")
    member = members[0]
    # NumPy writes no others, and a few bytes of bzip2 or LZMA may stand for gigabytes.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its array {key!r} is compressed by another method than deflate")
    with archive.open(member) as file:
        beginning = BytesIO(file.read(_MAX_BEGINNING))
    if not beginning.getvalue().startswith(npy.MAGIC_PREFIX):
        raise ValueError(f"its member {key!r} is not an array")
    version = npy.read_magic(beginning)
    if version not in _READERS:
        raise ValueError(f"its array {key!r} has the format {version}; expected (1, 0) or (2, 0)")
    shape, in_columns, dtype = _READERS[version](beginning, max_header_size=_MAX_HEADER)
    header = _Header(beginning.tell(), shape, in_columns, dtype)
    if dtype.hasobject:
        raise ValueError(
            f"object arrays are not loaded, and {key!r} is one (save text with astype(str))"
        )
    if dtype.kind not in kinds or len(shape) != n_dimensions:
        raise ValueError(
            f"its array {key!r} is {dtype} of shape {shape}; expected {n_dimensions} dimensions "
            f"of {'numbers or strings' if 'U' in kinds else 'numbers'}"
        )
    if not all(0 <= size < 2**63 for size in shape) or header.row_bytes > MAX_RECORD:
        raise ValueError(f"its array {key!r} has rows of more than {MAX_RECORD:,} bytes")
    declared = header.length + math.prod(shape) * dtype.itemsize
    # Otherwise bytes after the array would not be noticed, nor would their checksum.
    if member.file_size != declared:
        raise ValueError(
            f"its array {key!r} has {member.file_size} bytes; its header declares {declared}"
        )
    return header


@contextmanager
def _open_rows(archive: zipfile.ZipFile, key: str, header: _Header) -> Iterator[Rows]:
    """Yield a function that returns the rows from `start` to `stop`, in ascending order."""
    with archive.open(f"{key}.npy") as file:
        skip = header.length
        if header.in_columns and len(header.shape) == 2:
            with _spool_columns(file, header) as columns:
                yield lambda start, stop: columns[:, start:stop].T
            return

        def rows(start: int, stop: int) -> NDArray[Any]:
            nonlocal skip
            # The first call also passes the header and the rows to skip.
            _copy(file, skip + start * header.row_bytes if skip else 0, None)
            skip = 0
            n_bytes = (stop - start) * header.row_bytes
            data = file.read(n_bytes)
            if len(data) != n_bytes:
                raise EOFError(f"its array {key!r} ends early")
            if stop == header.shape[0]:
                # The checksum is compared at the end of the member.
                file.read(1)
            return np.frombuffer(data, header.dtype).reshape(stop - start, *header.shape[1:])

        yield rows


@contextmanager
def _spool_columns(file: IO[bytes], header: _Header) -> Iterator[NDArray[Any]]:
    """Yield an array that was saved by columns, from a temporary file."""
    with tempfile.TemporaryFile() as spool:
        _copy(file, header.length, None)
        _copy(file, math.prod(header.shape) * header.dtype.itemsize, spool)
        file.read(1)
        spool.flush()
        shape = header.shape[::-1]
        if not math.prod(shape):
            yield np.empty(shape, header.dtype)
            return
        yield np.memmap(spool, header.dtype, mode="r", shape=shape)


def _copy(file: IO[bytes], n_bytes: int, target: IO[bytes] | None) -> None:
    """Copy bytes, or pass them if there is no target."""
    while n_bytes:
        data = file.read(min(n_bytes, _COPY_BYTES))
        if not data:
            raise EOFError("an array ends early")
        n_bytes -= len(data)
        if target is not None:
            target.write(data)
