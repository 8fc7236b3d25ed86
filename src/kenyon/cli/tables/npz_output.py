"""Tables as .npz files: one array for each column."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.lib import format as npy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from kenyon.cli.tables.spool import Spool

_CHARACTER_BYTES = 4
_MAX_TEXT_BYTES = 2**34
"""Largest array of strings: each string takes as much space as the longest one."""
_PIECE_BYTES = 2**24


def sink_npz(spool: Spool, target: Path) -> None:
    """Write an .npz file.

    Numbers with missing values become floats with NaN, missing strings become empty.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for column, kind in spool.schema.items():
            with archive.open(f"{column}.npy", "w", force_zip64=True) as member:
                if kind in (pl.String, pl.Categorical, pl.Enum):
                    _write_texts(spool, column, member)
                else:
                    _write_numbers(spool, column, member)


def _write_numbers(spool: Spool, column: str, member: IO[bytes]) -> None:
    kind = spool.schema[column]
    missing = sum(piece.null_count() for piece in spool.read(column))
    whole = kind.is_integer() or kind == pl.Boolean
    if missing or not (whole or kind in (pl.Float32, pl.Float64)):
        kind = pl.Float64()
    dtype = pl.Series([], dtype=kind).to_numpy().dtype
    _write_header(member, dtype, spool.n_rows)
    for piece in spool.read(column):
        member.write(piece.cast(kind).to_numpy().astype(dtype).data)


def _write_texts(spool: Spool, column: str, member: IO[bytes]) -> None:
    lengths = [piece.cast(pl.String).str.len_chars().max() for piece in spool.read(column)]
    width = max((int(length) for length in lengths if isinstance(length, int)), default=0)
    n_bytes = spool.n_rows * width * _CHARACTER_BYTES
    if n_bytes > _MAX_TEXT_BYTES:
        raise ValueError(
            f"the column {column!r} would take {n_bytes:,} bytes as an array of strings, because "
            f"its longest text has {width:,} characters; write another format than npz"
        )
    _write_header(member, np.dtype(f"<U{width}"), spool.n_rows)
    if width:
        for array in _text_arrays(spool, column, width):
            member.write(array.view(np.uint8).data)


def _text_arrays(spool: Spool, column: str, width: int) -> Iterator[NDArray[Any]]:
    n_rows = max(_PIECE_BYTES // (width * _CHARACTER_BYTES), 1)
    for piece in spool.read(column):
        texts = piece.cast(pl.String).fill_null("")
        for start in range(0, len(texts), n_rows):
            yield np.array(texts[start : start + n_rows].to_list(), dtype=f"<U{width}")


def _write_header(member: IO[bytes], dtype: np.dtype[Any], n_rows: int) -> None:
    header = BytesIO()
    npy.write_array_header_1_0(
        header,
        {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (n_rows,)},
    )
    member.write(header.getvalue())
