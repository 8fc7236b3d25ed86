"""Records of CSV text: where they end, and their fields by the csv module."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kenyon.cli.tables.byte_source import MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon.cli.tables.byte_source import ByteSource

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
_FAULTS = {
    "unexpected end of data": "a quote is never closed",
    "expected after": "a closing quote is followed by text",
    "line contains NUL": "it holds a NUL character",  # Python 3.10
    "new-line character": "a carriage return stands outside quotes",
}


class Record(NamedTuple):
    """The first line of a record, and its fields or its fault."""

    line: int
    fields: list[str]
    fault: str | None = None


def find_record_ends(data: bytes, separator: str) -> NDArray[np.intp] | None:
    r"""Return the positions of the line ends that end records.

    `data` begins with a record. Only records that RFC 4180 allows are found: fields have quotes
    around them or no quotes at all.

    Returns
    -------
    array of int or None
        None if there is a quote, a carriage return or an empty line that other readers may
        understand in different ways.

    Examples
    --------
    >>> find_record_ends(b'a,"x,\ny"\nb,c\nd', ",").tolist()
    [8, 12]
    """
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == _NEWLINE)
    if data.find(b'"') >= 0:
        quotes = np.flatnonzero(codes == _QUOTE)
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        cut = ends[-1] if len(ends) else 0
        if not _quotes_are_plain(codes, quotes[quotes < cut], ord(separator)):
            return None
    cut = int(ends[-1]) + 1 if len(ends) else 0
    if data.find(b"\r") >= 0:
        if data.count(b"\r", 0, cut) != data.count(b"\r\n", 0, cut):
            return None
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        if (ends - starts - (codes[ends - 1] == _RETURN) <= 0).any():
            return None
    elif (np.diff(ends, prepend=-1) == 1).any():
        return None
    return ends


def _quotes_are_plain(codes: NDArray[np.uint8], quotes: NDArray[np.intp], separator: int) -> bool:
    """Return whether each quote begins a field, ends one, or is one of two inside a field."""
    opening, closing = quotes[::2], quotes[1::2]
    before = codes[opening - 1]
    first = (before == separator) | (before == _NEWLINE) | (opening == 0)
    first[1:] |= closing[:-1] == opening[1:] - 1
    after = codes[closing + 1]
    last = (after == separator) | (after == _NEWLINE) | (after == _RETURN)
    last[:-1] |= opening[1:] == closing[:-1] + 1
    return bool(first.all() and last.all())


def read_records(source: ByteSource, separator: str, n_bytes: int) -> Iterator[Record]:
    """Consume and yield records of about `n_bytes` bytes, without empty lines.

    This is slow, but names each fault. As in most readers, a quote inside a field without quotes
    around it stands for itself.
    """
    first = source.line
    length = total = 0

    def lines() -> Iterator[str]:
        nonlocal length, total
        while line := source.take_line():
            length += len(line)
            total += len(line)
            if length > MAX_RECORD:
                source.line = first
                source.refuse_length()
            # Bytes that are not UTF-8 must not hide the ends of records.
            yield line.decode("utf-8", "surrogateescape")

    reader = csv.reader(lines(), delimiter=separator, strict=True)
    while total < n_bytes:
        first, length = source.line, 0
        limit = csv.field_size_limit(MAX_RECORD)
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Record(first, [], _describe(str(error)))
            continue
        finally:
            csv.field_size_limit(limit)
        if fields:
            yield Record(first, fields, _find_fault(fields))


def _find_fault(fields: list[str]) -> str | None:
    text = "".join(fields)
    if "\0" in text:
        return "it holds a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it is not encoded as UTF-8"
    return None


def _describe(reason: str) -> str:
    return next((fault for part, fault in _FAULTS.items() if part in reason), reason)
