"""JSON lines: one object on each line.

The columns of the table are the keys of the objects in the first megabyte. The columns that no
command uses are strings: other values are their JSON text.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kenyon.cli.tables.piece import Piece, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon.cli.tables.byte_source import ByteSource
    from kenyon.cli.tables.selection import Selection

_KINDS: dict[type, type[pl.DataType]] = {str: pl.String, bool: pl.Boolean, int: pl.Int64}
_NUMBERS = frozenset((float, int, type(None)))
_KIND_NAMES = {str: "a string", bool: "a boolean", int: "an integer"}


class JsonLinesReader:
    """The objects of a file of JSON lines."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._label_kind: type | None = None
        self._end = 0

    def find_names(self) -> list[str]:
        """Return the keys of the first objects; bad lines have none."""
        names: dict[str, None] = {}
        for line in self._source.peek().split(b"\n"):
            with suppress(ValueError):
                names.update(dict.fromkeys(_parse(line)))
        if not names:
            raise ValueError(
                f"{self._source.name} holds no JSON lines; expected one object on each line"
            )
        return list(names)

    def pieces(self, names: list[str], selection: Selection, skip_rows: int) -> Iterator[Piece]:
        """Yield pieces of the table; rows to skip may be among them."""
        while block := self._source.block():
            cut = len(block) if self._source.is_last(block) else block.rfind(b"\n") + 1
            if not cut:
                self._source.grow()
                continue
            line = self._source.line
            self._source.consume(cut)
            yield self._parse_block(block[:cut], line, names, selection, skip_rows)

    def _parse_block(
        self, data: bytes, first: int, names: list[str], selection: Selection, skip_rows: int
    ) -> Piece:
        objects: list[dict[str, Any]] = []
        lines: list[int] = []
        rows: list[int] = []
        faults = []
        for number, line in enumerate(data.split(b"\n"), first):
            if not line.strip():
                continue
            if self._end >= skip_rows:
                try:
                    found = _parse(line)
                    self._check(found, selection)
                except ValueError as error:
                    faults.append((self._end, f"line {number}{error}"))
                else:
                    objects.append(found)
                    lines.append(number)
                    rows.append(self._end)
            self._end += 1
        table = self._to_table(objects, names, selection)
        index = np.array(rows, dtype=np.int64)
        return Piece(table, index, self._end, lambda i: f"line {lines[i]}", None, faults)

    def _check(self, found: dict[str, Any], selection: Selection) -> None:
        """Raise ValueError, with the end of a sentence, unless the values have the right types."""
        if selection.text is not None:
            text = found.get(selection.text)
            if not (text is None or isinstance(text, str)):
                raise ValueError(
                    f", column {selection.text!r}: {show(text)} is not a string, as a text is"
                )
        if not _NUMBERS.issuperset(map(type, map(found.get, selection.features))):
            name = next(
                name for name in selection.features if type(found.get(name)) not in _NUMBERS
            )
            raise ValueError(f", column {name!r}: {show(found[name])} is not a finite number")
        if selection.label is not None and found.get(selection.label) is not None:
            found[selection.label] = self._convert_label(found[selection.label], selection.label)

    def _convert_label(self, label: Any, column: str) -> str | int | bool:
        if isinstance(label, float) and label.is_integer() and math.isfinite(label):
            label = int(label)
        kind = type(label)
        if kind not in _KINDS or (kind is int and not -(2**63) <= label < 2**63):
            raise ValueError(
                f", column {column!r}: {show(label)} is not a label, which is a string, an "
                "integer of 64 bits or a boolean"
            )
        if self._label_kind is None:
            self._label_kind = kind
        if kind is not self._label_kind:
            raise ValueError(
                f", column {column!r}: the label {show(label)} is not "
                f"{_KIND_NAMES[self._label_kind]}, as the first label of the file is"
            )
        checked: str | int | bool = label
        return checked

    def _to_table(
        self, objects: list[dict[str, Any]], names: list[str], selection: Selection
    ) -> pl.DataFrame:
        columns = []
        features = set(selection.features)
        for name in names:
            values = [found.get(name) for found in objects]
            if name in features:
                columns.append(pl.Series(name, _to_floats(values), dtype=pl.Float64))
            elif name == selection.label:
                kind = _KINDS[self._label_kind or str]
                columns.append(pl.Series(name, values, dtype=kind))
            else:
                columns.append(pl.Series(name, map(_to_text, values), dtype=pl.String))
        return pl.DataFrame(columns)


def _parse(line: bytes) -> dict[str, Any]:
    """Return the object on a line; raise ValueError with the end of a sentence."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(": it is not encoded as UTF-8") from None
    try:
        found = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(": it is nested too deeply") from None
    except _RepeatedKeyError as error:
        raise ValueError(f": it repeats the key {error}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f": it is not JSON ({error.msg} at character {error.colno})") from None
    except ValueError as error:
        raise ValueError(f": it is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f": {show(found)} is not an object with columns as keys")
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(": it holds half of a surrogate pair, which is no character") from None
    return found


class _RepeatedKeyError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(repr(next(name for name in names if names.count(name) > 1)))
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def _to_floats(values: list[Any]) -> NDArray[np.float64]:
    try:
        # None becomes NaN.
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return np.array([_to_float(value) for value in values])


def _to_float(number: float | None) -> float:
    try:
        return math.nan if number is None else float(number)
    except OverflowError:
        return math.inf


def _to_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
