"""Invalid user files and the error messages."""

import sys
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from kenyon_lab.data import load
from lab.tests.data.samples import TABLE, WORDS, N, X, all_files, assert_rejected, both_tables


@all_files
def test_missing_file(tmp_path, suffix):
    assert_rejected(tmp_path / f"mine{suffix}", "there is no file", FileNotFoundError)


@all_files
def test_folder_instead_of_file(tmp_path, suffix):
    (tmp_path / f"mine{suffix}").mkdir()
    assert_rejected(tmp_path / f"mine{suffix}", error=(OSError, ValueError))


@pytest.mark.parametrize("name", ["mine.txt", "mine", "mine.npy", "mine.csv.gz", "csv", ".csv"])
def test_other_suffixes(write, name):
    path = write(name, b"something")
    assert_rejected(path, r"name must be one of mnist20, .* ends in \.npz, \.csv, \.parquet")


@pytest.mark.parametrize("name", ["mnist", "DIGITS", "", "digits "])
def test_unknown_names(name):
    with pytest.raises(ValueError, match=f"name must be one of .*digits, .* got '{name}'"):
        load(name)


@both_tables
def test_missing_label_column(write, suffix):
    path = write(f"mine{suffix}", TABLE.rename({"label": "kind"}))
    assert_rejected(path, "label must be a column of .*: size, weight, kind; got 'label'")
    assert_rejected(path, "got 'Kind'", label="Kind")


@both_tables
def test_text_column(write, suffix):
    path = write(f"mine{suffix}", TABLE.with_columns(weight=pl.Series(WORDS)))
    assert_rejected(path, "the column 'weight' must hold numbers")


@both_tables
@pytest.mark.parametrize("column", ["size", "weight", "label"])
def test_missing_values(write, suffix, column):
    gap = pl.when(pl.col("size") > 10).then(pl.col(column)).otherwise(None).alias(column)
    path = write(f"mine{suffix}", TABLE.with_columns(gap))
    assert_rejected(path, f"the column '{column}' lacks 6 values")


@both_tables
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_infinite_features(write, suffix, value):
    sizes = X[:, 0].copy()
    sizes[3] = value
    path = write(f"mine{suffix}", TABLE.with_columns(size=sizes))
    assert_rejected(path, "X_train must hold finite numbers|X_test must hold finite numbers")


@all_files
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_infinite_labels(write, suffix, value):
    y = np.where(np.arange(N) % 3, 1.0, value)
    table = TABLE.with_columns(label=y)
    path = write("mine.npz", X=X, y=y) if suffix == ".npz" else write(f"mine{suffix}", table)
    assert_rejected(path, "label")


ODD_LABELS = {
    "lists": pl.Series([[1], [2]] * 15),
    "pairs": pl.Series([[1, 2], [3, 4]] * 15, dtype=pl.Array(pl.Int64, 2)),
    "records": pl.Series([{"a": 1}, {"a": 2}] * 15),
}


@pytest.mark.parametrize("labels", ODD_LABELS.values(), ids=ODD_LABELS.keys())
def test_nested_labels(write, labels):
    path = write("mine.parquet", TABLE.with_columns(label=labels))
    with suppress(ValueError):
        assert load(path).n_classes == 2


@both_tables
def test_table_without_features(write, suffix):
    assert_rejected(write(f"mine{suffix}", TABLE.select("label")), "at least one|feature")


@pytest.mark.parametrize("twice", ["size", "label"])
def test_duplicate_columns(write, twice):
    path = write("mine.csv", f"size,label,{twice}\n1,2,3\n4,5,6\n")
    assert_rejected(path, f"more than one column '{twice}'")


@both_tables
def test_table_without_rows(write, suffix):
    path = write(f"mine{suffix}", TABLE.head(0))
    assert_rejected(path, "(?i)no rows|no samples|at least one|empty")


def test_no_test_samples(write):
    path = write("mine.npz", X=X, y=np.arange(N))
    assert_rejected(path, "X_test|test")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe\xfa" * 50,
        b"PAR1" + b"\0" * 50 + b"PAR1",
        b"size,label\n1,a,b\n" * 9,
    ],
    ids=["nothing", "zeros", "no text", "half a parquet", "ragged"],
)
@both_tables
def test_invalid_tables(write, suffix, content):
    assert_rejected(write(f"mine{suffix}", content))


def test_truncated_parquet(write):
    path = write("mine.parquet", TABLE)
    content = path.read_bytes()
    for length in range(0, len(content), 41):
        path.write_bytes(content[:length])
        assert_rejected(path, "cannot be read as a table")


ARRAYS = {
    "nothing": ({}, "has the arrays none; expected X_train"),
    "other names": ({"x": X, "Y": WORDS}, "has the arrays Y, x; expected X_train"),
    "three of four": ({"X_train": X, "y_train": WORDS, "X_test": X}, "has the arrays X_test, X_tr"),
    "too few labels": ({"X": X, "y": WORDS[:-1]}, r"y has shape \(29,\)"),
    "too many labels": ({"X": X[:-1], "y": WORDS}, r"y has shape \(30,\)"),
    "a column of labels": ({"X": X, "y": WORDS[:, np.newaxis]}, r"y has shape \(30, 1\)"),
    "one label": ({"X": X, "y": np.array("a")}, r"y has shape \(\)"),
    "one number": ({"X": np.array(1.0), "y": WORDS}, "y has shape|X"),
    "both one": ({"X": np.array(1.0), "y": np.array("a")}, "X|y"),
    "a vector": ({"X": X[:, 0], "y": WORDS}, "X_train has shape"),
    "a cube": ({"X": X[:, np.newaxis], "y": WORDS}, "X_train has shape"),
    "no samples": ({"X": X[:0], "y": WORDS[:0]}, "no class of three or more"),
    "no features": ({"X": X[:, :0], "y": WORDS}, "at least 1"),
    "words": ({"X": X.astype(str), "y": WORDS}, "X_train must hold finite numbers"),
    "complex": ({"X": X * 1j, "y": WORDS}, "X_train must hold finite numbers"),
    "infinities": ({"X": np.where(X > 9, np.inf, -np.inf), "y": WORDS}, "finite numbers"),
    "labels as objects": ({"X": X, "y": WORDS.astype(object)}, "Object arrays"),
    "samples as objects": ({"X": X.astype(object), "y": WORDS}, "Object arrays"),
    "labels as bytes": ({"X": X, "y": WORDS.astype("S")}, "y must hold strings"),
    "complex labels": (
        {"X": X, "y": np.arange(N) % 3 * 1j},
        "y must hold strings",
    ),
    "records as labels": (
        {"X": X, "y": np.zeros(N, dtype="i4,i4")},
        "y must hold strings",
    ),
}


@pytest.mark.parametrize(("arrays", "sentence"), ARRAYS.values(), ids=ARRAYS.keys())
def test_invalid_arrays(write, arrays, sentence):
    assert_rejected(write("mine.npz", **arrays), sentence)


DIVIDED = {"X_train": X, "y_train": WORDS, "X_test": X, "y_test": WORDS}
CHANGED = {
    "a class only to test on": (
        {"y_test": np.array([*WORDS[1:], "fox"])},
        "the class 'fox' has no",
    ),
    "too few labels": ({"y_train": WORDS[1:]}, r"y_train has shape \(29,\)|y_train is"),
    "too many labels": ({"X_test": X[1:]}, "y_test"),
    "labels moved over": ({"y_train": WORDS[1:], "y_test": np.append(WORDS, "ant")}, "y_train"),
    "one label": ({"y_train": np.array("a")}, "y_train"),
    "a column of labels": ({"y_test": WORDS[:, np.newaxis]}, "y_test"),
    "narrow": ({"X_test": X[:, :1]}, "X_test has 1 features; expected 2, as X_train has"),
    "nothing to test on": ({"X_test": X[:0], "y_test": WORDS[:0]}, "X_test has shape"),
    "NaN to test on": ({"X_test": X * np.nan}, "X_test must hold finite numbers"),
}


@pytest.mark.parametrize(("changes", "sentence"), CHANGED.values(), ids=CHANGED.keys())
def test_invalid_arrays_with_split(write, changes, sentence):
    assert_rejected(write("mine.npz", **DIVIDED | changes), sentence)


def test_inapplicable_options(write):
    path = write("mine.npz", X=X, y=WORDS)
    assert_rejected(path, "label .*'y'", label="y")
    with pytest.raises(ValueError, match="label must be None for the dataset digits; got 'y'"):
        load("digits", label="y")
    with pytest.raises(ValueError, match="seed must be None for the dataset digits; got 0"):
        load("digits", seed=0)


@pytest.mark.parametrize("n_tasks", [0, -1, 4, 2.5, "2", True])
def test_rejects_invalid_n_tasks(write, n_tasks):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        load(write("mine.npz", X=X, y=WORDS), n_tasks=n_tasks)


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_rejects_invalid_seed(write, seed):
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        load(write("mine.npz", X=X, y=WORDS), seed=seed)


@both_tables
def test_error_without_polars(write, suffix, monkeypatch):
    path = write(f"mine{suffix}", TABLE)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        ImportError, match=r"\.(csv|parquet) files .* pip install 'kenyon-lab\[tables\]'"
    ):
        load(path)
    assert load(write("mine.npz", X=X, y=WORDS)).n_classes == 3
