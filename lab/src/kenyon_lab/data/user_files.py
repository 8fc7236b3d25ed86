"""Datasets from the user's .npz, .csv and .parquet files."""

from __future__ import annotations

from io import BytesIO
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.features import dequantise
from kenyon_lab.data.npz import read_npz
from kenyon_lab.data.split import split

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from polars import DataFrame, Series

Parts: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]"

SUFFIXES = (".npz", ".csv", ".parquet")
MAX_TASKS = 10
"""Default number of tasks, for at least as many classes."""


def is_user_file(name: Path) -> bool:
    """Return whether a name has the suffix of a dataset file."""
    return name.suffix.lower() in SUFFIXES


def read_user_file(path: Path, label: str | None, seed: int) -> Dataset:
    """Return the dataset in a file; the parameters are those of `kenyon_lab.data.load`."""
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be an integer of at least 0; got {seed!r}")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    if path.suffix.lower() != ".npz":
        X, y = _read_table(path, content, label or "label")
        return _from_labels(path, *_split(path, X, y, seed))
    if label is not None:
        raise ValueError(f"label must be None for an .npz file; got {label!r} for {path}")
    arrays = read_npz(content, str(path))
    if "step" in arrays:
        # Written by `kenyon-lab data build`.
        n_tasks = min(MAX_TASKS, arrays.get("class_names", np.empty(1)).size)
        return dequantise(arrays, path, str(path), n_tasks, "X_out_of_scope" in arrays)
    return _from_labels(path, *_choose_arrays(path, arrays, seed))


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


def _choose_arrays(path: Path, arrays: dict[str, NDArray[Any]], seed: int) -> Parts:
    if {"X_train", "y_train", "X_test", "y_test"} <= set(arrays):
        for part in ("train", "test"):
            _check_labels(path, f"y_{part}", arrays[f"y_{part}"], arrays[f"X_{part}"])
        return arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"]
    if {"X", "y"} <= set(arrays):
        return _split(path, arrays["X"], arrays["y"], seed)
    raise ValueError(
        f"{path} has the arrays {', '.join(sorted(arrays)) or 'none'}; expected X_train, y_train, "
        "X_test and y_test, or X and y"
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
    try:
        # From the content, because polars expands brackets and stars in a path.
        if path.suffix.lower() == ".csv":
            table = polars.read_csv(BytesIO(content), infer_schema_length=None)
        else:
            table = polars.read_parquet(BytesIO(content))
        _check_columns(path, label, table)
        return table.drop(label).to_numpy(), _to_labels(table[label])
    # A damaged file may make polars panic; PanicException is a BaseException only.
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} cannot be read as a table of numbers: {reason}") from error


def _check_columns(path: Path, label: str, table: DataFrame) -> None:
    if label not in table.columns:
        raise ValueError(
            f"label must be a column of {path}: {', '.join(table.columns)}; got {label!r}"
        )
    # polars renames the second of two columns with the same name.
    if twice := [name for name in table.columns if f"{name}_duplicated_0" in table.columns]:
        raise ValueError(f"{path} has more than one column {twice[0]!r}")
    if table.is_empty():
        raise ValueError(f"{path} has no rows; expected at least one sample")
    for column in table:
        if column.name != label and not column.dtype.is_numeric():
            raise ValueError(
                f"{path}: the column {column.name!r} must hold numbers, as a feature; got "
                f"{column.dtype}"
            )
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
