"""CSV and TSV files.

Most blocks are parsed by polars. A block that holds anything unusual is parsed again by the csv
module, which names each fault.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kenyon.cli.tables.csv_records import Record, find_record_ends, read_records
from kenyon.cli.tables.piece import Piece, skipped_piece
from kenyon.cli.tables.polars_errors import POLARS_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon.cli.tables.byte_source import ByteSource
    from kenyon.cli.tables.selection import Selection


def read_header(source: ByteSource, separator: str) -> list[str]:
    """Consume the first record and return its fields, the names of the columns."""
    header = next(read_records(source, separator, 1), None)
    if header is None:
        raise ValueError(f"{source.name} is empty")
    if header.fault is not None:
        raise ValueError(f"{source.name}, line {header.line}: {header.fault}")
    return header.fields


class CsvReader:
    """The records of a CSV file after its header.

    Parameters
    ----------
    source : ByteSource
    separator : str
    names : list of str
        The columns.
    selection : Selection
        Feature columns are parsed as numbers, all others are strings.
    """

    def __init__(
        self, source: ByteSource, separator: str, names: list[str], selection: Selection
    ) -> None:
        self._source = source
        self._separator = separator
        self._names = names
        self._features = selection.features
        self._end = 0

    def pieces(self, skip_rows: int) -> Iterator[Piece]:
        """Yield pieces of the table; rows to skip may be among them."""
        source = self._source
        while block := source.block():
            ends = find_record_ends(self._close(block), self._separator)
            if ends is not None and not len(ends):
                if not source.is_last(block):
                    source.grow()
                    continue
                ends = None
            piece = None
            if ends is not None:
                used = min(int(ends[-1]) + 1, len(block))
                if self._end + len(ends) <= skip_rows:
                    self._end += len(ends)
                    source.consume(used)
                    yield skipped_piece(self._end)
                    continue
                piece = self._parse(block[:used], ends)
            if piece is None:
                yield self._parse_slowly(len(block) if ends is None else used)
            else:
                source.consume(used)
                self._end = piece.end
                yield piece

    def _close(self, block: bytes) -> bytes:
        """End the last line of the file, whose line end may be missing."""
        ended = block.endswith(b"\n") or not self._source.is_last(block)
        return block if ended else block + b"\n"

    def _parse(self, data: bytes, ends: NDArray[np.intp]) -> Piece | None:
        """Parse plain records by polars; return None if they are unusual."""
        if data.find(b"\0") >= 0 or not _is_utf8(data):
            return None
        features = set(self._features)
        table = self._read_csv(data, features)
        if table is None or not self._fits(data, ends, table):
            return None
        first = self._source.line
        if any(table[name].null_count() for name in self._features):
            # Some values may be numbers with spaces around them.
            strings = self._read_csv(data, set())
            if strings is None:
                return None
            table = _to_numbers(strings, self._features)

        def start(i: int) -> int:
            return int(ends[i - 1]) + 1 if i else 0

        def place(i: int) -> str:
            return f"line {first + data.count(10, 0, start(i))}"

        def shown(i: int, column: str) -> str:
            text = data[start(i) : ends[i]].decode()
            fields = next(csv.reader([text], delimiter=self._separator))
            return fields[self._names.index(column)]

        end = self._end + len(ends)
        return Piece(_fill(table), np.arange(self._end, end), end, place, shown)

    def _read_csv(self, data: bytes, features: set[str]) -> pl.DataFrame | None:
        try:
            return pl.read_csv(
                data,
                has_header=False,
                separator=self._separator,
                schema={
                    name: pl.Float64 if name in features else pl.String for name in self._names
                },
                # Values that are no numbers become null.
                ignore_errors=True,
            )
        except POLARS_ERRORS:
            return None

    def _fits(self, data: bytes, ends: NDArray[np.intp], table: pl.DataFrame) -> bool:
        """Return whether all records have the right number of fields.

        polars refuses longer ones, and ends shorter ones with null.
        """
        if table.height != len(ends):
            return False
        if len(self._names) == 1 or not table[self._names[-1]].null_count():
            return True
        codes = np.frombuffer(data, np.uint8)
        separators = np.flatnonzero(codes == ord(self._separator))
        quotes = np.flatnonzero(codes == ord('"'))
        outside = np.searchsorted(quotes, separators) % 2 == 0
        return bool(outside.sum() == len(ends) * (len(self._names) - 1))

    def _parse_slowly(self, n_bytes: int) -> Piece:
        records: list[Record] = []
        rows: list[int] = []
        faults = []
        expected = len(self._names)
        for record in read_records(self._source, self._separator, n_bytes):
            fault, found = record.fault, len(record.fields)
            if fault is None and found != expected:
                fault = f"{found} field{'s' * (found != 1)}; expected {expected}, as in the header"
            if fault is None:
                records.append(record)
                rows.append(self._end)
            else:
                faults.append((self._end, f"line {record.line}: {fault}"))
            self._end += 1
        strings = pl.DataFrame(
            [record.fields for record in records],
            schema=dict.fromkeys(self._names, pl.String),
            orient="row",
        )
        return Piece(
            _fill(_to_numbers(strings, self._features)),
            np.array(rows, dtype=np.int64),
            self._end,
            lambda i: f"line {records[i].line}",
            lambda i, column: records[i].fields[self._names.index(column)],
            faults,
        )


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _to_numbers(table: pl.DataFrame, features: list[str]) -> pl.DataFrame:
    return table.with_columns(pl.col(features).str.strip_chars().cast(pl.Float64, strict=False))


def _fill(table: pl.DataFrame) -> pl.DataFrame:
    """Make empty strings of nulls: CSV has no other missing strings."""
    return table.with_columns(pl.col(pl.String).fill_null(""))
