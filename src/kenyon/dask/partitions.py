"""Dask collections as partitions of samples, labels and weights that belong together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
from dask import delayed, is_dask_collection
from dask.delayed import Delayed
from dask.utils import is_dataframe_like, is_series_like
from distributed import Future

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    Partition: TypeAlias = Delayed | tuple[Delayed, ...]
    """One value that holds all columns, or a value for each."""

ROWS_PER_TASK = 8192
"""Neighbouring partitions of fewer rows are learned by one task: a part of a model takes as long to
move as some thousand samples take to learn."""
LAZY = "a Dask array, a Dask dataframe, or a list of delayed values or futures"


def is_lazy(data: Any) -> bool:
    """Return whether data are a Dask collection, or a list of delayed values or futures."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, Delayed | Future) for one in data)
    return bool(is_dask_collection(data))


def is_frame(data: Any) -> bool:
    """Return whether data are a Dask dataframe or a Dask series."""
    return bool(is_dask_collection(data) and (is_dataframe_like(data) or is_series_like(data)))


class Group(NamedTuple):
    """Neighbouring partitions, each with its samples, labels and, if any, weights."""

    first: int
    """The number of the first partition."""
    partitions: list[Partition]


def split(X: Any, y: Any, sample_weight: Any = None) -> list[Group]:
    """Return the partitions in groups, each of which is learned by one task.

    Raises
    ------
    TypeError
        If one of them is not a collection of Dask.
    ValueError
        If X does not have two dimensions, or the others have other partitions or other rows.
    """
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    columns = {name: data for name, data in given.items() if data is not None}
    for name, data in columns.items():
        check_collection(name, data)
    check_samples(X)
    rows = _rows(X)
    columns = {name: _with_rows(name, data, rows) for name, data in columns.items()}
    expected = _n_partitions(X)
    for name, data in columns.items():
        if (n := _n_partitions(data)) != expected:
            raise ValueError(f"{name} must have as many partitions as X, {expected}, but has {n}")
    if all(map(is_frame, columns.values())):
        return [*_grouped(_join(*columns.values()), rows)]
    return [*_grouped([*zip(*map(as_blocks, columns.values()), strict=True)], rows)]


def check_collection(name: str, data: Any) -> None:
    """Raise TypeError unless data are a collection that has partitions of rows."""
    if not is_lazy(data) or not (
        isinstance(data, da.Array | Delayed | list | tuple) or is_frame(data)
    ):
        raise TypeError(f"{name} must be {LAZY}, but is of type {type(data).__name__}")


def check_samples(X: Any) -> None:
    """Raise TypeError or ValueError unless X is a collection of samples."""
    check_collection("X", X)
    if (isinstance(X, da.Array) or is_frame(X)) and X.ndim != 2:
        raise ValueError(f"X must have two dimensions, but has {X.ndim}")


def _rows(data: Any) -> Sequence[float]:
    """Return the number of rows of each chunk of an array; NaN, or nothing, is unknown."""
    return data.chunks[0] if isinstance(data, da.Array) else ()


def _with_rows(name: str, data: Any, rows: Sequence[float]) -> Any:
    """Return an array in chunks of so many rows, if these and its own are known."""
    own = _rows(data)
    n, expected = sum(own), sum(rows)
    if not own or not rows or math.isnan(n) or math.isnan(expected):
        return data
    if n != expected:
        raise ValueError(f"{name} must have as many rows as X, {expected}, but has {n}")
    return data.rechunk({0: rows})


def _n_partitions(data: Any) -> int:
    if isinstance(data, Delayed):
        return 1
    return data.npartitions if is_frame(data) else len(_rows(data) or data)


def _join(X: Any, *others: Any) -> list[Delayed]:
    """Return the partitions of dataframes as one value each, (X, y) or (X, y, sample_weight).

    Dask reads files once for all of them, and joins partitions of which it reads little. Alone, it
    would join others for X than for y.
    """
    joined = X.map_partitions(
        _together, *others, meta=X._meta, enforce_metadata=False, align_dataframes=False
    )
    blocks: list[Delayed] = joined.to_delayed()
    return blocks


def _together(*columns: Any) -> tuple[Any, ...]:
    return columns


def as_blocks(data: Any) -> list[Delayed]:
    """Return the partitions of a collection."""
    blocks: list[Delayed]
    if isinstance(data, da.Array):
        blocks = whole_rows(data).to_delayed().ravel().tolist()
    elif is_frame(data):
        # To optimize might join partitions.
        blocks = data.to_delayed(optimize_graph=False)
    else:
        blocks = [*map(delayed, [data] if isinstance(data, Delayed) else data)]
    return blocks


def whole_rows(array: da.Array) -> da.Array:
    """Return an array whose chunks hold whole rows."""
    return array.rechunk(dict.fromkeys(range(1, array.ndim), -1))


def _grouped(partitions: list[tuple[Delayed, ...]], rows: Sequence[float]) -> Iterator[Group]:
    """Yield groups; partitions whose size is not known are groups of their own."""
    group, n = Group(0, []), 0.0
    for number, partition in enumerate(partitions):
        n_own = rows[number] if rows else math.nan
        if group.partitions and not n + n_own <= ROWS_PER_TASK:
            yield group
            group, n = Group(number, []), 0.0
        group.partitions.append(partition)
        n += n_own
    yield group
