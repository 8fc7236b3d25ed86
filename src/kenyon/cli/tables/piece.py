"""One piece of a table, and its rows as samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kenyon.cli.tables.samples import MAX_SENTENCES, BadRows, Label, Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.cli.tables.selection import Selection

Check = tuple["NDArray[np.bool_]", Callable[[int], str]]
"""The rows that fail a check, and the end of a sentence about one of them."""
_MAX_SHOWN = 60


@dataclass
class Piece:
    """A few rows of a table.

    Attributes
    ----------
    table : DataFrame
        The rows that could be parsed.
    rows : array of int
        Their indices in the file.
    end : int
        Number of rows of the file up to here.
    place : function
        Returns the place of a row in the file, such as "line 17", from its position in the piece.
    shown : function, optional
        Returns the text of a value in the file from its position in the piece and its column, if
        values that are no numbers were read as null.
    faults : list of (int, str)
        The index of each row that could not be parsed, and its place and fault.
    matrix : array of shape (n, n_features), optional
        The features, if they are not in the table.
    """

    table: pl.DataFrame
    rows: NDArray[np.int64]
    end: int
    place: Callable[[int], str]
    shown: Callable[[int, str], str] | None = None
    faults: list[tuple[int, str]] = field(default_factory=list)
    matrix: NDArray[Any] | None = None

    def parts(self, max_rows: int, skip_rows: int) -> Iterator[Piece]:
        """Yield the piece in parts of at most `max_rows` rows, without the first rows of the file.

        The end of each part counts the faults before the next part.
        """
        faults = [fault for fault in self.faults if fault[0] >= skip_rows]
        first = int(np.searchsorted(self.rows, skip_rows))
        starts = list(range(first, len(self.rows), max_rows)) or [first]
        for start in starts:
            stop = min(start + max_rows, len(self.rows))
            end = int(self.rows[stop]) if stop < len(self.rows) else self.end
            here = [fault for fault in faults if fault[0] < end]
            faults = faults[len(here) :]
            yield Piece(
                self.table[start:stop],
                self.rows[start:stop],
                end,
                partial(_at, self.place, start),
                None if self.shown is None else partial(_at, self.shown, start),
                here,
                None if self.matrix is None else self.matrix[start:stop],
            )


def _at(function: Callable[..., str], start: int, i: int, *arguments: str) -> str:
    return function(start + i, *arguments)


def to_samples(name: str, piece: Piece, selection: Selection, bad: BadRows | None) -> Samples:
    """Return the good rows of a piece; count the others.

    Raises
    ------
    ValueError
        If a row is bad and `bad` is None: one sentence about the first bad row.
    """
    checks: list[Check] = []
    inputs: Any = None
    if selection.text is not None:
        checks.append(_check_texts(piece.table[selection.text]))
    else:
        inputs = piece.matrix
        if inputs is None:
            inputs = _to_matrix(piece.table, selection.features)
        checks.append(_check_features(inputs, piece, selection.features))
    labels = None
    if selection.label is not None:
        labels, check = _convert_labels(piece.table[selection.label])
        checks.append(check)
    good = _report_faults(name, piece, checks, bad)
    table, place = piece.table, piece.place
    if not good.all():
        place = partial(_at_one_of, piece.place, np.flatnonzero(good).tolist())
        table = table.filter(pl.Series(good))
        inputs = None if inputs is None else inputs[good]
        labels = None if labels is None else labels.filter(pl.Series(good))
    if selection.text is not None:
        inputs = table[selection.text].cast(pl.String).to_list()
    listed: list[Label] | None = None if labels is None else labels.to_list()
    return Samples(inputs, listed, table, selection.features, piece.end, place)


def _at_one_of(place: Callable[[int], str], indices: list[int], i: int) -> str:
    return place(indices[i])


def _report_faults(
    name: str, piece: Piece, checks: list[Check], bad: BadRows | None
) -> NDArray[np.bool_]:
    """Return the mask of the good rows; raise ValueError about the first bad one, or count all."""
    good = np.ones(len(piece.rows), dtype=bool)
    for failed, _ in checks:
        good &= ~failed
    if good.all() and not piece.faults:
        return good
    n_described = 1 if bad is None else max(MAX_SENTENCES - len(bad.sentences), 0)
    described = piece.faults[:n_described]
    for i in np.flatnonzero(~good)[:n_described].tolist():
        explain = next(explain for failed, explain in checks if failed[i])
        described.append((int(piece.rows[i]), f"{piece.place(i)}{explain(i)}"))
    sentences = [f"{name}, {fault}" for _, fault in sorted(described)[:n_described]]
    if bad is None:
        raise ValueError(sentences[0])
    bad.sentences += sentences
    bad.count += int((~good).sum()) + len(piece.faults)
    return good


def _check_texts(texts: pl.Series) -> Check:
    missing = (texts.cast(pl.String).fill_null("").str.strip_chars() == "").to_numpy()
    return missing, lambda _: f", column {texts.name!r}: the text is missing"


def _to_matrix(table: pl.DataFrame, names: list[str]) -> NDArray[Any]:
    """Return feature columns as an array: float32 if all columns are, else float64.

    Null becomes NaN.
    """
    chosen = table.select(names)
    dtype = pl.Float32 if all(kind == pl.Float32 for kind in chosen.dtypes) else pl.Float64
    return chosen.cast(dtype).to_numpy(order="c")


def _check_features(matrix: NDArray[Any], piece: Piece, names: list[str]) -> Check:
    finite = np.isfinite(matrix)

    def explain(i: int) -> str:
        column = names[int(np.argmin(finite[i]))]
        value: Any = float(matrix[i, int(np.argmin(finite[i]))])
        if piece.shown is not None:
            value = piece.shown(i, column)
        elif piece.matrix is None:
            value = piece.table[column][i]
        where = f", column {column!r}: "
        if value is None or value == "":
            return where + "the feature is missing"
        return where + f"{show(value)} is not a finite number"

    return ~finite.all(axis=1), explain


def _convert_labels(column: pl.Series) -> tuple[pl.Series, Check]:
    """Return a column as labels of one kind, and its check; whole floats become integers."""
    where = f", column {column.name!r}: "
    if column.dtype.is_float():
        missing = column.is_null() | column.is_nan()
        whole = (column == column.round()) & (column.abs() < 2**53)
        failed = (missing | ~whole.fill_null(False)).to_numpy()
        labels = column.cast(pl.Int64, strict=False)

        def explain(i: int) -> str:
            if missing[i]:
                return where + "the label is missing"
            return where + f"the label {column[i]} is not a whole number"

        return labels, (failed, explain)
    labels = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    empty = labels.is_null()
    if labels.dtype == pl.String:
        empty = labels.fill_null("") == ""
    return labels, (empty.to_numpy(), lambda _: where + "the label is missing")


def check_types(name: str, schema: dict[str, pl.DataType], selection: Selection) -> None:
    """Raise ValueError if the type of a column does not fit its use."""
    text, label = selection.text, selection.label
    if text is not None and schema[text] not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        raise ValueError(f"{name}, column {text!r}: it holds {schema[text]}; expected texts")
    for column in selection.features:
        if not (schema[column].is_numeric() or schema[column] in (pl.Boolean, pl.Null)):
            raise ValueError(
                f"{name}, column {column!r}: it holds {schema[column]}; expected numbers"
            )
    if label is None:
        return
    kind = schema[label]
    plain = kind in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (plain or kind.is_integer() or kind.is_float()):
        raise ValueError(
            f"{name}, column {label!r}: it holds {kind}; expected labels, which are strings, "
            "integers or booleans"
        )


def show(value: Any) -> str:
    """Return a value as it is shown in an error.

    Examples
    --------
    >>> print(show("abc"), show(1.5))
    'abc' 1.5
    """
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def row_place(rows: NDArray[np.int64]) -> Callable[[int], str]:
    """Return the function that names rows by their numbers, which begin with 1."""
    return lambda i: f"row {rows[i] + 1}"


def skipped_piece(n_rows: int) -> Piece:
    """Return a piece that tells only how many rows were skipped."""
    return Piece(pl.DataFrame(), np.empty(0, dtype=np.int64), n_rows, str)
