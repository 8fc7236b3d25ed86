"""Datasets of your own: .npz, .csv and .parquet files."""

from __future__ import annotations

from io import BytesIO
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.features import restore
from kenyon_lab.data.npz import read_npz
from kenyon_lab.data.split import split

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from polars import DataFrame, Series

Parts: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]"

SUFFIXES = (".npz", ".csv", ".parquet")
MOST_TASKS = 10
"""Into how many tasks the classes are split, if there are as many of them."""


def is_own(name: Path) -> bool:
    """Tell whether a name is that of a file which may hold a dataset."""
    return name.suffix.lower() in SUFFIXES


def read_own(path: Path, label: str | None, seed: int) -> Dataset:
    """Return the dataset in a file of one's own.

    Parameters
    ----------
    path : path
        An .npz file with the arrays X_train, y_train, X_test and y_test, or X and y; or a table
        with one column of labels and features in all others.
    label : str, optional
        The column of labels in a table, by default "label".
    seed : int
        Draws the samples to test on where the file does not say which they are.
    """
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number, 0 or more; got {seed!r}")
    if path.suffix.lower() != ".npz":
        return _name_classes(path, *_divide(path, *_read_table(path, label or "label"), seed=seed))
    if label is not None:
        raise ValueError(f"label names a column of a table, but {path} is none; got {label!r}")
    arrays = read_npz(_content(path), str(path))
    if "step" in arrays:
        # Written by `kenyon-lab data build`.
        n_tasks = min(MOST_TASKS, arrays.get("class_names", np.empty(1)).size)
        return restore(arrays, path, str(path), n_tasks, "X_out_of_scope" in arrays)
    return _name_classes(path, *_choose_arrays(path, arrays, seed))


def _name_classes(
    path: Path,
    X_train: NDArray[Any],
    y_train: NDArray[Any],
    X_test: NDArray[Any],
    y_test: NDArray[Any],
) -> Dataset:
    if (y_train.dtype.kind == "U") != (y_test.dtype.kind == "U"):
        raise ValueError(f"{path}: the labels must all be strings, or all be numbers")
    # Not as one array, which of two types of integers would make fractions.
    classes = sorted({*y_train.tolist(), *y_test.tolist()})
    position = {label: i for i, label in enumerate(classes)}
    return Dataset(
        name=str(path),
        X_train=X_train,
        y_train=np.array([position[label] for label in y_train.tolist()], dtype=np.intp),
        X_test=X_test,
        y_test=np.array([position[label] for label in y_test.tolist()], dtype=np.intp),
        class_names=tuple(map(str, classes)),
        n_tasks=min(MOST_TASKS, len(classes)),
    )


def _choose_arrays(path: Path, arrays: dict[str, NDArray[Any]], seed: int) -> Parts:
    if {"X_train", "y_train", "X_test", "y_test"} <= set(arrays):
        for part in ("train", "test"):
            _check_labels(path, f"y_{part}", arrays[f"y_{part}"], arrays[f"X_{part}"])
        return arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"]
    if {"X", "y"} <= set(arrays):
        return _divide(path, arrays["X"], arrays["y"], seed)
    raise ValueError(
        f"{path} has the arrays {', '.join(sorted(arrays)) or 'none'}; expected X_train, y_train, "
        "X_test and y_test, or X and y"
    )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None


def _divide(path: Path, X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    _check_labels(path, "y", y, X)
    X_train, y_train, X_test, y_test = split(X, y, seed)
    if not len(y_test):
        raise ValueError(
            f"{path} has no class of three samples or more, of which some could be put aside to "
            f"test on; got {len(y)} samples"
        )
    return X_train, y_train, X_test, y_test


def _check_labels(path: Path, name: str, y: NDArray[Any], X: NDArray[Any]) -> None:
    if y.ndim != 1 or y.shape != X.shape[:1]:
        raise ValueError(
            f"{path}: {name} has the shape {y.shape}; expected one label for each row of samples, "
            f"which have the shape {X.shape}"
        )
    if y.dtype.kind not in "biufU" or (y.dtype.kind == "f" and not np.isfinite(y).all()):
        raise ValueError(f"{path}: the labels must be strings or finite numbers")


def _read_table(path: Path, label: str) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        import polars
    except ImportError:
        raise ImportError(
            f"{path.suffix} files are read by polars, which is not installed: "
            "pip install 'kenyon-lab[tables]'"
        ) from None
    try:
        # The content and not the path, in which polars would take brackets for a pattern.
        content = BytesIO(_content(path))
        if path.suffix.lower() == ".csv":
            table = polars.read_csv(content, infer_schema_length=None)
        else:
            table = polars.read_parquet(content)
        _check_columns(path, label, table)
        return table.drop(label).to_numpy(), _to_labels(table[label])
    # A damaged file may panic in polars, which is no Exception to Python.
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} cannot be read as a table of numbers: {reason}") from error


def _check_columns(path: Path, label: str, table: DataFrame) -> None:
    if label not in table.columns:
        raise ValueError(
            f"label is {label!r}, but the columns of {path} are {', '.join(table.columns)}"
        )
    # What polars calls the second of two columns with the same name.
    if twice := [name for name in table.columns if f"{name}_duplicated_0" in table.columns]:
        raise ValueError(f"{path} has more than one column {twice[0]!r}")
    if table.is_empty():
        raise ValueError(f"{path} has no rows; expected at least one sample")
    for column in table:
        if column.name != label and not column.dtype.is_numeric():
            raise ValueError(
                f"{path}: the column {column.name!r} must hold numbers to be a feature; it is "
                f"{column.dtype}"
            )
        if missing := column.null_count():
            raise ValueError(f"{path}: the column {column.name!r} lacks {missing} values")


def _to_labels(column: Series) -> NDArray[Any]:
    if column.dtype.is_integer():
        # polars may hold them in 128 bits; of what fits no type of its own NumPy makes floats.
        labels = np.array(column.to_list())
        return labels if labels.dtype.kind in "iu" else labels.astype(object)
    if column.dtype.is_numeric():
        return column.to_numpy()
    # Categories and dates are named as they are written.
    return np.array(column.cast(str).to_list(), dtype=str)
