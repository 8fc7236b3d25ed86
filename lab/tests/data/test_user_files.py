"""The user's files: arrays, tables, labels and the train-test split."""

import shutil
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kenyon_lab.data import load
from kenyon_lab.data.features import packaged_path
from lab.tests.data.samples import TABLE, WORDS, N, X, all_files, assert_rejected, both_tables


def whole(dataset):
    """All samples and their class names, sorted by the first feature."""
    samples = np.concatenate([dataset.X_train, dataset.X_test])
    labels = np.concatenate([dataset.y_train, dataset.y_test])
    order = np.argsort(samples[:, 0])
    return samples[order], np.array(dataset.class_names)[labels[order]]


def test_npz_with_split(write):
    path = write(
        "mine.npz", X_train=X[:20], y_train=WORDS[:20], X_test=X[20:], y_test=WORDS[20:], extra=X
    )
    dataset = load(path)
    assert_array_equal(dataset.X_train, X[:20], strict=True)
    assert_array_equal(dataset.X_test, X[20:], strict=True)
    assert dataset.class_names == ("ant", "bee", "cat")
    names = np.array(dataset.class_names)
    assert_array_equal(names[dataset.y_train], WORDS[:20])
    assert_array_equal(names[dataset.y_test], WORDS[20:])
    assert dataset.name == str(path)
    assert dataset.n_tasks == 3
    assert dataset.image_shape is dataset.X_out_of_scope is None


def test_npz_without_split(write):
    path = write("mine.npz", X=X, y=WORDS)
    dataset = load(path)
    assert (len(dataset.X_train), len(dataset.X_test)) == (24, 6)
    assert np.bincount(dataset.y_test).tolist() == [2, 2, 2]
    samples, labels = whole(dataset)
    assert_array_equal(samples, X)
    assert_array_equal(labels, WORDS)
    for seed in (0, 1, 2**40):
        assert_array_equal(load(path, seed=seed).X_test, load(path, seed=seed).X_test)
    assert_array_equal(load(path, seed=0).X_test, dataset.X_test)
    assert len({load(path, seed=seed).X_test.tobytes() for seed in range(10)}) > 8


@both_tables
def test_table(write, suffix):
    dataset = load(write(f"mine{suffix}", TABLE))
    samples, labels = whole(dataset)
    assert_array_equal(samples, X)
    assert_array_equal(labels, WORDS)
    assert dataset.class_names == ("ant", "bee", "cat")


@both_tables
def test_table_with_other_label_column(write, suffix):
    table = TABLE.select(pl.col("label").alias("what it is, [i]"), "size", "weight")
    dataset = load(write(f"mine{suffix}", table), label="what it is, [i]")
    assert_array_equal(whole(dataset)[0], X)
    assert_array_equal(whole(dataset)[1], WORDS)


@both_tables
def test_table_is_split_like_arrays(write, suffix):
    arrays, table = write("mine.npz", X=X, y=WORDS), write(f"mine{suffix}", TABLE)
    for seed in (None, 0, 5):
        assert_array_equal(load(arrays, seed=seed).X_test, load(table, seed=seed).X_test)
        assert_array_equal(load(arrays, seed=seed).y_train, load(table, seed=seed).y_train)


@pytest.mark.parametrize("name", ["mine.CSV", "mine.Npz", "mine.PARQUET", "a b.csv", "ü.v2.csv"])
def test_file_names(tmp_path, name):
    path = tmp_path / name
    if path.suffix.lower() == ".npz":
        with path.open("wb") as file:
            np.savez(file, X=X, y=WORDS)
    else:
        TABLE.write_csv(path) if "csv" in name.lower() else TABLE.write_parquet(path)
    assert_array_equal(whole(load(path))[0], X)
    assert load(str(path)).name == str(path)


@all_files
def test_file_names_are_not_patterns(tmp_path, suffix):
    for name, scale in (("mine1", 1), ("mine[1]", 2), ("mine*", 3), ("mine?", 4)):
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".npz":
            np.savez(path, X=X * scale, y=WORDS)
        else:
            table = TABLE.with_columns(pl.col("size", "weight") * scale)
            table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    for name, scale in (("mine1", 1), ("mine[1]", 2), ("mine*", 3), ("mine?", 4)):
        assert_array_equal(whole(load(tmp_path / f"{name}{suffix}"))[0], X * scale)


def test_relative_path(write, tmp_path, monkeypatch):
    write("mine.csv", TABLE)
    monkeypatch.chdir(tmp_path)
    assert load("mine.csv").name == "mine.csv"


LABELS = {
    "integers": (np.arange(N) % 3 * 7 - 7, ("-7", "0", "7")),
    "integers in their order": (np.arange(N) % 3 * 9 + 2, ("2", "11", "20")),
    "booleans": (np.arange(N) % 2 == 0, None),
    "whole floats": (np.arange(N) % 3 * 1.0, None),
    "large": (np.arange(N, dtype=np.uint64) % 2 + 2**63, (str(2**63), str(2**63 + 1))),
    "an empty word": (np.array(["", "a", "b"])[np.arange(N) % 3], ("", "a", "b")),
    "spaces": (np.array([" a", "a", "a "])[np.arange(N) % 3], (" a", "a", "a ")),
    "all the same": (np.array(["a"] * N), ("a",)),
}


@pytest.mark.parametrize(("labels", "names"), LABELS.values(), ids=LABELS.keys())
@all_files
def test_label_types(write, suffix, labels, names):
    table = pl.DataFrame({"size": X[:, 0], "label": labels})
    path = write("mine.npz", X=X, y=labels) if suffix == ".npz" else write(f"mine{suffix}", table)
    dataset = load(path)
    if names:
        assert dataset.class_names == names
    positions = {label: place for place, label in enumerate(np.unique(labels).tolist())}
    assert len(set(dataset.class_names)) == len(positions)
    order = np.argsort(np.concatenate([dataset.X_train, dataset.X_test])[:, 0])
    found = np.concatenate([dataset.y_train, dataset.y_test])[order]
    assert found.tolist() == [positions[label] for label in labels.tolist()]


def test_signed_and_unsigned_labels_are_equal(write):
    y = np.arange(N) % 3
    path = write("mine.npz", X_train=X, y_train=y.astype(np.uint64), X_test=X, y_test=y)
    dataset = load(path)
    assert dataset.n_classes == 3
    assert_array_equal(dataset.y_train, dataset.y_test)
    assert dataset.class_names == ("0", "1", "2")


def test_large_labels_of_two_types(write):
    large = np.array([2**53, 2**53 + 1], dtype=np.uint64)[np.arange(N) % 2]
    path = write("mine.npz", X_train=X, y_train=large, X_test=X, y_test=large.astype(np.int64))
    assert load(path).class_names == (str(2**53), str(2**53 + 1))


def test_rejects_mixed_labels(write):
    path = write("mine.npz", X_train=X, y_train=np.arange(N) % 3, X_test=X, y_test=WORDS)
    assert_rejected(path, "labels|strings|class")
    same = (np.arange(N) % 3).astype(str)
    path = write("mixed.npz", X_train=X, y_train=np.arange(N) % 3, X_test=X, y_test=same)
    assert_rejected(path, "labels|strings|class")


PARQUET_LABELS = {
    "categories": pl.Series(WORDS).cast(pl.Categorical),
    "an enumeration": pl.Series(WORDS).cast(pl.Enum(["cat", "bee", "ant"])),
    "dates": pl.Series(np.array(["2020-01-01", "2021-02-03"] * 15, dtype="M8[D]")),
}


@pytest.mark.parametrize("labels", PARQUET_LABELS.values(), ids=PARQUET_LABELS.keys())
def test_parquet_labels(write, labels):
    dataset = load(write("mine.parquet", TABLE.with_columns(label=labels)))
    assert_array_equal(whole(dataset)[1], labels.cast(str).to_numpy())


def test_mixed_numeric_columns(write):
    table = TABLE.with_columns(
        small=pl.Series(range(N), dtype=pl.UInt8), single=pl.Series(range(N), dtype=pl.Float32)
    )
    dataset = load(write("mine.parquet", table.select("small", "single", "size", "label")))
    assert_array_equal(whole(dataset)[0][:, 0], np.arange(N))
    assert dataset.X_train.dtype.kind == "f"


def test_decimal_columns(write):
    table = TABLE.with_columns(pl.col("size").cast(pl.Decimal(10, 2)))
    assert_array_equal(whole(load(write("mine.parquet", table)))[0], X)


ROWS = "".join(f"{i},{i % 3}\n" for i in range(500))


@pytest.mark.parametrize("late", ["0.5,1", "1e3,1", "-7.25,2", "7,word"])
def test_csv_type_changes_late(write, late):
    dataset = load(write("mine.csv", f"size,label\n{ROWS}{late}\n{late}\n{late}\n"))
    size, label = late.split(",")
    assert float(size) in whole(dataset)[0]
    assert label in dataset.class_names


@pytest.mark.parametrize(
    "text",
    [
        f"size,label\n{ROWS}".replace("\n", "\r\n"),
        f"\ufeffsize,label\n{ROWS}",
        f'"size","label"\n{ROWS}',
        f"size,label\n{ROWS}".rstrip("\n"),
    ],
    ids=["Windows", "Excel", "quoted", "no last newline"],
)
def test_csv_dialects(write, text):
    samples, labels = whole(load(write("mine.csv", text)))
    assert_array_equal(samples[:, 0], np.arange(500))
    assert_array_equal(labels, (np.arange(500) % 3).astype(str))


def test_quoted_labels_with_commas_and_newlines(write):
    path = write("mine.csv", "size,label\n" + '1,"a, b"\n2,"c\nd"\n' * 10)
    assert load(path).class_names == ("a, b", "c\nd")


def test_huge_integer_features(write):
    path = write("mine.csv", "size,label\n" + f"{10**20},a\n3,b\n" * 10)
    with suppress(ValueError):
        assert load(path).X_train.max() == pytest.approx(1e20)


def test_huge_integer_labels(write):
    path = write("mine.csv", "size,label\n" + f"1,{10**20}\n3,{10**20 + 1}\n" * 10)
    with suppress(ValueError):
        assert load(path).n_classes == 2


@given(
    st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True),
    st.integers(3, 40),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_any_strings_are_labels(tmp_path_factory, words, n, seed):
    words = [word.rstrip("\0") for word in words]
    y = np.array(words)[np.arange(n * len(words)) % len(words)]
    path = tmp_path_factory.getbasetemp() / "words.npz"
    np.savez(path, X=np.arange(2.0 * len(y)).reshape(-1, 2), y=y)
    dataset = load(path, seed=seed)
    assert dataset.class_names == tuple(sorted(set(words)))
    assert_array_equal(whole(dataset)[1], y)


@pytest.mark.parametrize(("n_classes", "n_tasks"), [(1, 1), (2, 2), (10, 10), (11, 10), (40, 10)])
def test_default_number_of_tasks(write, n_classes, n_tasks):
    path = write("mine.npz", X=np.ones((200, 2)), y=np.arange(200) % n_classes)
    assert load(path).n_tasks == n_tasks
    assert load(path, n_tasks=1).n_tasks == 1
    assert load(path, n_tasks=n_classes).n_tasks == n_classes


def test_small_classes_are_for_training(write):
    y = np.array(["many"] * 20 + ["one"] + ["two"] * 2)
    dataset = load(write("mine.npz", X=np.arange(23.0)[:, np.newaxis], y=y))
    assert np.bincount(dataset.y_train).tolist() == [16, 1, 2]
    assert np.bincount(dataset.y_test, minlength=3).tolist() == [4, 0, 0]


@pytest.mark.parametrize("name", ["mnist20", "clinc150"])
def test_reads_built_features(tmp_path, name):
    shutil.copy(packaged_path(name), tmp_path / "built.npz")
    ours, theirs = load(tmp_path / "built.npz"), load(name)
    assert_array_equal(ours.X_test, theirs.X_test)
    assert ours.class_names == theirs.class_names
    assert (ours.X_out_of_scope is None) == (theirs.X_out_of_scope is None)
