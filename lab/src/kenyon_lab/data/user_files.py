"""Datasets from the user's .npz, .csv and .parquet files."""

from __future__ import annotations

from io import BytesIO
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.features import array_names, dequantise
from kenyon_lab.data.npz import names_in_npz, read_npz
from kenyon_lab.data.sizes import check_size
from kenyon_lab.data.split import split

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from polars import DataFrame, DataType, Series

Parts: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]"

SUFFIXES = (".npz", ".csv", ".parquet")
MAX_TASKS = 10
"""Default number of tasks, for at least as many classes."""
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""The first bytes of gzip, Zstandard and zlib."""
_BYTES_PER_CELL = 16
"""A number of a table, and the same number in an array."""


def is_user_file(name: Path) -> bool:
    """Return whether a name has the suffix of a dataset file."""
    return name.suffix.lower() in SUFFIXES


def read_user_file(path: Path, label: str | None, seed: int) -> Dataset:
    """Return the dataset in a file; the parameters are those of `kenyon_lab.data.load`."""
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be an integer of at least 0; got {seed!r}")
    try:
        check_size(str(path), path.stat().st_size)
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    if path.suffix.lower() != ".npz":
        X, y = _read_table(path, content, label or "label")
        return _from_labels(path, *_split(path, X, y, seed))
    if label is not None:
        raise ValueError(f"label must be None for an .npz file; got {label!r} for {path}")
    names = names_in_npz(content, str(path))
    if "step" in names:
        # Written by `kenyon-lab data build`.
        arrays = read_npz(content, str(path), array_names("X_out_of_scope" in names))
        return dequantise(arrays, path, str(path), min(MAX_TASKS, arrays["class_names"].size))
    return _from_labels(path, *_choose_arrays(path, content, names, seed))


def _from_labels(
    path: Path,
    X_train: NDArray[Any],
    y_train: NDArray[Any],
    X_test: NDArray[Any],
    y_test: NDArray[Any],
) -> Dataset:
    if (y_train.dtype.kind == "U") != (y_test.dtype.kind == "U"):
        raise ValueError(
            f"{path}: the labels must all be strings or all be numbers; got {y_train.dtype} in "
            f"y_train and {y_test.dtype} in y_test"
        )
    # As lists: NumPy would join int64 and uint64 to float64.
    classes = sorted({*y_train.tolist(), *y_test.tolist()})
    index = {label: i for i, label in enumerate(classes)}
    return Dataset(
        name=str(path),
        X_train=X_train,
        y_train=np.array([index[label] for label in y_train.tolist()], dtype=np.intp),
        X_test=X_test,
        y_test=np.array([index[label] for label in y_test.tolist()], dtype=np.intp),
        class_names=tuple(map(str, classes)),
        n_tasks=min(MAX_TASKS, len(classes)),
    )


def _choose_arrays(path: Path, content: bytes, names: list[str], seed: int) -> Parts:
    for keys in (("X_train", "y_train", "X_test", "y_test"), ("X", "y")):
        if set(keys) <= set(names):
            X, y, *test = read_npz(content, str(path), keys).values()
            if not test:
                return _split(path, X, y, seed)
            X_test, y_test = test
            _check_labels(path, "y_train", y, X)
            _check_labels(path, "y_test", y_test, X_test)
            return X, y, X_test, y_test
    raise ValueError(
        f"{path} has the arrays {', '.join(names) or 'none'}; expected X_train, y_train, X_test "
        "and y_test, or X and y"
    )


def _split(path: Path, X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    _check_labels(path, "y", y, X)
    X_train, y_train, X_test, y_test = split(X, y, seed)
    if not len(y_test):
        raise ValueError(
            f"{path} has {len(y)} samples and no class of three or more; the train-test split "
            "needs at least one such class"
        )
    return X_train, y_train, X_test, y_test


def _check_labels(path: Path, name: str, y: NDArray[Any], X: NDArray[Any]) -> None:
    if y.ndim != 1 or y.shape != X.shape[:1]:
        raise ValueError(
            f"{path}: {name} has shape {y.shape}; expected one label for each row of the samples, "
            f"whose shape is {X.shape}"
        )
    infinite = y.dtype.kind == "f" and not np.isfinite(y).all()
    if infinite or y.dtype.kind not in "biufU":
        raise ValueError(
            f"{path}: {name} must hold strings or finite numbers as labels; got "
            f"{'NaN or infinity' if infinite else y.dtype}"
        )


def _read_table(path: Path, content: bytes, label: str) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        import polars
    except ImportError:
        raise ImportError(
            f"{path.suffix} files need polars, which is not installed: "
            "pip install 'kenyon-lab[tables]'"
        ) from None
    # From the content, because polars expands brackets and stars in a path.
    read = _read_csv if path.suffix.lower() == ".csv" else _read_parquet
    try:
        table = read(path, content, label)
        _check_values(path, table)
        return table.drop(label).to_numpy(), _to_labels(table[label])
    # A damaged file may make polars panic; PanicException is a BaseException only.
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} cannot be read as a table of numbers: {reason}") from error


def _read_csv(path: Path, content: bytes, label: str) -> DataFrame:
    import polars

    if content.startswith(_COMPRESSED):
        # polars would decompress it, to any size.
        raise ValueError(f"{path} is compressed; expected text")
    # polars fills short rows, so that a few bytes may stand for a long row.
    n_columns = content.partition(b"\n")[0].count(b",") + 1
    _check_cells(path, content.count(b"\n"), n_columns)
    table = polars.read_csv(BytesIO(content), infer_schema_length=None)
    # First, because the columns of an empty table hold no numbers.
    _check_rows(path, len(table))
    _check_columns(path, label, table.schema)
    return table


def _read_parquet(path: Path, content: bytes, label: str) -> DataFrame:
    import polars

    schema = polars.read_parquet_schema(BytesIO(content))
    _check_columns(path, label, schema)
    n_rows = polars.scan_parquet(BytesIO(content)).select(polars.len()).collect().item()
    _check_rows(path, n_rows)
    _check_cells(path, n_rows, len(schema))
    # The groups of rows may declare more rows than the file does.
    table = polars.read_parquet(BytesIO(content), n_rows=n_rows + 1)
    if len(table) != n_rows:
        raise ValueError(f"{path} has not the {n_rows} rows that it declares")
    return table


def _check_cells(path: Path, n_rows: int, n_columns: int) -> None:
    what = f"{path}: a table of {n_rows:,} rows and {n_columns:,} columns"
    check_size(what, n_rows * n_columns * _BYTES_PER_CELL)


def _check_columns(path: Path, label: str, schema: Mapping[str, DataType]) -> None:
    if label not in schema:
        raise ValueError(f"label must be a column of {path}: {', '.join(schema)}; got {label!r}")
    # polars renames the second of two columns with the same name.
    if twice := [name for name in schema if f"{name}_duplicated_0" in schema]:
        raise ValueError(f"{path} has more than one column {twice[0]!r}")
    for name, dtype in schema.items():
        if name != label and not dtype.is_numeric():
            raise ValueError(
                f"{path}: the column {name!r} must hold numbers, as a feature; got {dtype}"
            )
    # The number of rows does not bound the size of lists.
    if schema[label].is_nested():
        raise ValueError(
            f"{path}: the column {label!r} must hold one label in each row; got {schema[label]}"
        )


def _check_rows(path: Path, n_rows: int) -> None:
    if not n_rows:
        raise ValueError(f"{path} has no rows; expected at least one sample")


def _check_values(path: Path, table: DataFrame) -> None:
    for column in table:
        if missing := column.null_count():
            raise ValueError(f"{path}: the column {column.name!r} lacks {missing} values")


def _to_labels(column: Series) -> NDArray[Any]:
    if column.dtype.is_integer():
        # polars has 128-bit integers, which NumPy would convert to floats.
        labels = np.array(column.to_list())
        return labels if labels.dtype.kind in "iu" else labels.astype(object)
    if column.dtype.is_numeric():
        return column.to_numpy()
    # The names of categories and dates are their text.
    return np.array(column.cast(str).to_list(), dtype=str)
