"""Files of one's own: what is read, how it is divided, and what is refused."""

import shutil
import sys
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kenyon.data import load
from kenyon.data.features import packaged_path

N = 30
X = np.arange(2.0 * N).reshape(N, 2)
WORDS = np.array(["cat", "ant", "bee"])[np.arange(N) % 3]
TABLE = pl.DataFrame({"size": X[:, 0], "weight": X[:, 1], "label": WORDS})


@pytest.fixture
def write(tmp_path):
    """Write a file of one's own and return its path."""

    def write(name, content=None, **arrays):
        path = tmp_path / name
        if isinstance(content, pl.DataFrame):
            content.write_csv(path) if path.suffix == ".csv" else content.write_parquet(path)
        elif content is None:
            np.savez(path, **arrays)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


both_tables = pytest.mark.parametrize("suffix", [".csv", ".parquet"])


def assert_refused(path, sentence=None, error=ValueError, **options):
    with pytest.raises(error, match=sentence) as caught:
        load(path, **options)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def whole(dataset):
    """All samples and their labels' names, ordered by the first feature."""
    samples = np.concatenate([dataset.X_train, dataset.X_test])
    labels = np.concatenate([dataset.y_train, dataset.y_test])
    order = np.argsort(samples[:, 0])
    return samples[order], np.array(dataset.class_names)[labels[order]]


# What is read


def test_an_npz_file_that_is_divided_is_read_as_it_is(write):
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


def test_an_npz_file_that_is_not_divided_is_divided_by_a_seed(write):
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
def test_a_table_is_read_with_its_columns_in_order(write, suffix):
    dataset = load(write(f"mine{suffix}", TABLE))
    samples, labels = whole(dataset)
    assert_array_equal(samples, X)
    assert_array_equal(labels, WORDS)
    assert dataset.class_names == ("ant", "bee", "cat")


@both_tables
def test_the_column_of_labels_may_have_any_name_and_place(write, suffix):
    table = TABLE.select(pl.col("label").alias("what it is, [i]"), "size", "weight")
    dataset = load(write(f"mine{suffix}", table), label="what it is, [i]")
    assert_array_equal(whole(dataset)[0], X)
    assert_array_equal(whole(dataset)[1], WORDS)


@both_tables
def test_a_table_is_divided_as_arrays_are(write, suffix):
    arrays, table = write("mine.npz", X=X, y=WORDS), write(f"mine{suffix}", TABLE)
    for seed in (None, 0, 5):
        assert_array_equal(load(arrays, seed=seed).X_test, load(table, seed=seed).X_test)
        assert_array_equal(load(arrays, seed=seed).y_train, load(table, seed=seed).y_train)


@pytest.mark.parametrize("name", ["mine.CSV", "mine.Npz", "mine.PARQUET", "a b.csv", "ü.v2.csv"])
def test_names_as_people_write_them(tmp_path, name):
    path = tmp_path / name
    if path.suffix.lower() == ".npz":
        with path.open("wb") as file:
            np.savez(file, X=X, y=WORDS)
    else:
        TABLE.write_csv(path) if "csv" in name.lower() else TABLE.write_parquet(path)
    assert_array_equal(whole(load(path))[0], X)
    assert load(str(path)).name == str(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_brackets_and_stars_in_a_name_are_no_pattern(tmp_path, suffix):
    for name, scale in (("mine1", 1), ("mine[1]", 2), ("mine*", 3), ("mine?", 4)):
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".npz":
            np.savez(path, X=X * scale, y=WORDS)
        else:
            table = TABLE.with_columns(pl.col("size", "weight") * scale)
            table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    for name, scale in (("mine1", 1), ("mine[1]", 2), ("mine*", 3), ("mine?", 4)):
        assert_array_equal(whole(load(tmp_path / f"{name}{suffix}"))[0], X * scale)


def test_a_relative_path(write, tmp_path, monkeypatch):
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
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_labels_of_many_kinds_are_told_apart(write, suffix, labels, names):
    if suffix == ".csv" and labels.dtype == np.uint64:
        pytest.skip("polars takes them for integers of 128 bits")
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


def test_integers_and_the_same_integers_unsigned_are_the_same_classes(write):
    y = np.arange(N) % 3
    path = write("mine.npz", X_train=X, y_train=y.astype(np.uint64), X_test=X, y_test=y)
    dataset = load(path)
    assert dataset.n_classes == 3
    assert_array_equal(dataset.y_train, dataset.y_test)
    assert dataset.class_names == ("0", "1", "2")


def test_large_labels_of_two_types_are_still_told_apart(write):
    large = np.array([2**53, 2**53 + 1], dtype=np.uint64)[np.arange(N) % 2]
    path = write("mine.npz", X_train=X, y_train=large, X_test=X, y_test=large.astype(np.int64))
    assert load(path).class_names == (str(2**53), str(2**53 + 1))


def test_words_after_numbers_are_refused(write):
    path = write("mine.npz", X_train=X, y_train=np.arange(N) % 3, X_test=X, y_test=WORDS)
    assert_refused(path, "labels|strings|class")
    same = (np.arange(N) % 3).astype(str)
    path = write("mixed.npz", X_train=X, y_train=np.arange(N) % 3, X_test=X, y_test=same)
    assert_refused(path, "labels|strings|class")


PARQUET_LABELS = {
    "categories": pl.Series(WORDS).cast(pl.Categorical),
    "an enumeration": pl.Series(WORDS).cast(pl.Enum(["cat", "bee", "ant"])),
    "dates": pl.Series(np.array(["2020-01-01", "2021-02-03"] * 15, dtype="M8[D]")),
}


@pytest.mark.parametrize("labels", PARQUET_LABELS.values(), ids=PARQUET_LABELS.keys())
def test_labels_that_only_parquet_has(write, labels):
    dataset = load(write("mine.parquet", TABLE.with_columns(label=labels)))
    assert_array_equal(whole(dataset)[1], labels.cast(str).to_numpy())


def test_columns_of_different_numbers_become_one_type(write):
    table = TABLE.with_columns(
        small=pl.Series(range(N), dtype=pl.UInt8), single=pl.Series(range(N), dtype=pl.Float32)
    )
    dataset = load(write("mine.parquet", table.select("small", "single", "size", "label")))
    assert_array_equal(whole(dataset)[0][:, 0], np.arange(N))
    assert dataset.X_train.dtype.kind == "f"


def test_decimals_are_numbers(write):
    table = TABLE.with_columns(pl.col("size").cast(pl.Decimal(10, 2)))
    assert_array_equal(whole(load(write("mine.parquet", table)))[0], X)


ROWS = "".join(f"{i},{i % 3}\n" for i in range(500))


@pytest.mark.parametrize("late", ["0.5,1", "1e3,1", "-7.25,2", "7,word"])
def test_a_csv_file_may_turn_to_fractions_or_words_late(write, late):
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
def test_csv_files_as_other_programs_write_them(write, text):
    samples, labels = whole(load(write("mine.csv", text)))
    assert_array_equal(samples[:, 0], np.arange(500))
    assert_array_equal(labels, (np.arange(500) % 3).astype(str))


def test_quoted_labels_with_commas_and_newlines(write):
    path = write("mine.csv", "size,label\n" + '1,"a, b"\n2,"c\nd"\n' * 10)
    assert load(path).class_names == ("a, b", "c\nd")


def test_integers_that_only_python_holds_are_features_or_refused(write):
    path = write("mine.csv", "size,label\n" + f"{10**20},a\n3,b\n" * 10)
    with suppress(ValueError):
        assert load(path).X_train.max() == pytest.approx(1e20)


def test_labels_that_only_python_holds_are_told_apart_or_refused(write):
    path = write("mine.csv", "size,label\n" + f"1,{10**20}\n3,{10**20 + 1}\n" * 10)
    with suppress(ValueError):
        assert load(path).n_classes == 2


@given(
    st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True),
    st.integers(3, 40),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_any_words_are_labels(tmp_path_factory, words, n, seed):
    words = [word.rstrip("\0") for word in words]
    y = np.array(words)[np.arange(n * len(words)) % len(words)]
    path = tmp_path_factory.getbasetemp() / "words.npz"
    np.savez(path, X=np.arange(2.0 * len(y)).reshape(-1, 2), y=y)
    dataset = load(path, seed=seed)
    assert dataset.class_names == tuple(sorted(set(words)))
    assert_array_equal(whole(dataset)[1], y)


@pytest.mark.parametrize(("n_classes", "n_tasks"), [(1, 1), (2, 2), (10, 10), (11, 10), (40, 10)])
def test_ten_tasks_at_most_unless_asked_for(write, n_classes, n_tasks):
    path = write("mine.npz", X=np.ones((200, 2)), y=np.arange(200) % n_classes)
    assert load(path).n_tasks == n_tasks
    assert load(path, n_tasks=1).n_tasks == 1
    assert load(path, n_tasks=n_classes).n_tasks == n_classes


def test_small_classes_are_kept_to_learn_from(write):
    y = np.array(["many"] * 20 + ["one"] + ["two"] * 2)
    dataset = load(write("mine.npz", X=np.arange(23.0)[:, np.newaxis], y=y))
    assert np.bincount(dataset.y_train).tolist() == [16, 1, 2]
    assert np.bincount(dataset.y_test, minlength=3).tolist() == [4, 0, 0]


# What is refused


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_no_file_at_all(tmp_path, suffix):
    assert_refused(tmp_path / f"mine{suffix}", "there is no file", FileNotFoundError)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_a_folder(tmp_path, suffix):
    (tmp_path / f"mine{suffix}").mkdir()
    assert_refused(tmp_path / f"mine{suffix}", error=(OSError, ValueError))


@pytest.mark.parametrize("name", ["mine.txt", "mine", "mine.npy", "mine.csv.gz", "csv", ".csv"])
def test_other_suffixes(write, name):
    path = write(name, b"something")
    assert_refused(path, r"name must be one of mnist20, .* ends in \.npz, \.csv, \.parquet")


@pytest.mark.parametrize("name", ["mnist", "DIGITS", "", "digits "])
def test_unknown_names(name):
    with pytest.raises(ValueError, match=f"name must be one of .*digits, .* got '{name}'"):
        load(name)


@both_tables
def test_a_column_of_labels_that_is_not_there(write, suffix):
    path = write(f"mine{suffix}", TABLE.rename({"label": "kind"}))
    assert_refused(path, "label is 'label', but the columns .* are size, weight, kind")
    assert_refused(path, "label is 'Kind', but the columns", label="Kind")


@both_tables
def test_a_feature_of_words(write, suffix):
    path = write(f"mine{suffix}", TABLE.with_columns(weight=pl.Series(WORDS)))
    assert_refused(path, "the column 'weight' must hold numbers")


@both_tables
@pytest.mark.parametrize("column", ["size", "weight", "label"])
def test_values_that_are_missing(write, suffix, column):
    gap = pl.when(pl.col("size") > 10).then(pl.col(column)).otherwise(None).alias(column)
    path = write(f"mine{suffix}", TABLE.with_columns(gap))
    assert_refused(path, f"the column '{column}' lacks 6 values")


@both_tables
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_features_that_are_not_finite(write, suffix, value):
    sizes = X[:, 0].copy()
    sizes[3] = value
    path = write(f"mine{suffix}", TABLE.with_columns(size=sizes))
    assert_refused(path, "X_train must hold finite numbers|X_test must hold finite numbers")


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_that_are_not_finite(write, suffix, value):
    y = np.where(np.arange(N) % 3, 1.0, value)
    table = TABLE.with_columns(label=y)
    path = write("mine.npz", X=X, y=y) if suffix == ".npz" else write(f"mine{suffix}", table)
    assert_refused(path, "label")


ODD_LABELS = {
    "lists": pl.Series([[1], [2]] * 15),
    "pairs": pl.Series([[1, 2], [3, 4]] * 15, dtype=pl.Array(pl.Int64, 2)),
    "records": pl.Series([{"a": 1}, {"a": 2}] * 15),
}


@pytest.mark.parametrize("labels", ODD_LABELS.values(), ids=ODD_LABELS.keys())
def test_labels_that_are_no_words_or_numbers_are_told_apart_or_refused(write, labels):
    path = write("mine.parquet", TABLE.with_columns(label=labels))
    with suppress(ValueError):
        assert load(path).n_classes == 2


@both_tables
def test_a_table_without_features(write, suffix):
    assert_refused(write(f"mine{suffix}", TABLE.select("label")), "at least one|feature")


@pytest.mark.parametrize("twice", ["size", "label"])
def test_a_table_with_two_columns_of_one_name(write, twice):
    path = write("mine.csv", f"size,label,{twice}\n1,2,3\n4,5,6\n")
    assert_refused(path, f"more than one column '{twice}'")


@both_tables
def test_a_table_without_rows(write, suffix):
    path = write(f"mine{suffix}", TABLE.head(0))
    assert_refused(path, "(?i)no rows|no samples|at least one|empty")


def test_so_few_samples_that_none_are_left_to_test_on(write):
    path = write("mine.npz", X=X, y=np.arange(N))
    assert_refused(path, "X_test|test")


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
def test_files_that_are_no_tables(write, suffix, content):
    assert_refused(write(f"mine{suffix}", content))


def test_a_parquet_file_cut_short(write):
    path = write("mine.parquet", TABLE)
    content = path.read_bytes()
    for length in range(0, len(content), 41):
        path.write_bytes(content[:length])
        assert_refused(path, "cannot be read as a table")


ARRAYS = {
    "nothing": ({}, "has the arrays none; expected X_train"),
    "other names": ({"x": X, "Y": WORDS}, "has the arrays Y, x; expected X_train"),
    "three of four": ({"X_train": X, "y_train": WORDS, "X_test": X}, "has the arrays X_test, X_tr"),
    "too few labels": ({"X": X, "y": WORDS[:-1]}, r"y has the shape \(29,\)"),
    "too many labels": ({"X": X[:-1], "y": WORDS}, r"y has the shape \(30,\)"),
    "a column of labels": ({"X": X, "y": WORDS[:, np.newaxis]}, r"y has the shape \(30, 1\)"),
    "one label": ({"X": X, "y": np.array("a")}, r"y has the shape \(\)"),
    "one number": ({"X": np.array(1.0), "y": WORDS}, "y has the shape|X"),
    "both one": ({"X": np.array(1.0), "y": np.array("a")}, "X|y"),
    "a vector": ({"X": X[:, 0], "y": WORDS}, "X_train has the shape"),
    "a cube": ({"X": X[:, np.newaxis], "y": WORDS}, "X_train has the shape"),
    "no samples": ({"X": X[:0], "y": WORDS[:0]}, "no class of three samples"),
    "no features": ({"X": X[:, :0], "y": WORDS}, "at least one"),
    "words": ({"X": X.astype(str), "y": WORDS}, "X_train must hold finite numbers"),
    "complex": ({"X": X * 1j, "y": WORDS}, "X_train must hold finite numbers"),
    "infinities": ({"X": np.where(X > 9, np.inf, -np.inf), "y": WORDS}, "finite numbers"),
    "labels as objects": ({"X": X, "y": WORDS.astype(object)}, "Object arrays"),
    "samples as objects": ({"X": X.astype(object), "y": WORDS}, "Object arrays"),
    "labels as bytes": ({"X": X, "y": WORDS.astype("S")}, "labels must be"),
    "complex labels": ({"X": X, "y": np.arange(N) % 3 * 1j}, "labels must be"),
    "records as labels": ({"X": X, "y": np.zeros(N, dtype="i4,i4")}, "labels must be"),
}


@pytest.mark.parametrize(("arrays", "sentence"), ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_that_are_no_dataset(write, arrays, sentence):
    assert_refused(write("mine.npz", **arrays), sentence)


DIVIDED = {"X_train": X, "y_train": WORDS, "X_test": X, "y_test": WORDS}
CHANGED = {
    "a class only to test on": (
        {"y_test": np.array([*WORDS[1:], "fox"])},
        "the class 'fox' has no",
    ),
    "too few labels": ({"y_train": WORDS[1:]}, r"y_train has the shape \(29,\)|y_train is"),
    "too many labels": ({"X_test": X[1:]}, "y_test"),
    "labels moved over": ({"y_train": WORDS[1:], "y_test": np.append(WORDS, "ant")}, "y_train"),
    "one label": ({"y_train": np.array("a")}, "y_train"),
    "a column of labels": ({"y_test": WORDS[:, np.newaxis]}, "y_test"),
    "narrow": ({"X_test": X[:, :1]}, "X_test has 1 features a sample; X_train has 2"),
    "nothing to test on": ({"X_test": X[:0], "y_test": WORDS[:0]}, "X_test has the shape"),
    "NaN to test on": ({"X_test": X * np.nan}, "X_test must hold finite numbers"),
}


@pytest.mark.parametrize(("changes", "sentence"), CHANGED.values(), ids=CHANGED.keys())
def test_divided_arrays_that_are_no_dataset(write, changes, sentence):
    assert_refused(write("mine.npz", **DIVIDED | changes), sentence)


def test_options_that_do_not_go_with_what_is_loaded(write):
    path = write("mine.npz", X=X, y=WORDS)
    assert_refused(path, "label .*'y'", label="y")
    with pytest.raises(ValueError, match="label is for files of your own; got 'y' for digits"):
        load("digits", label="y")
    with pytest.raises(ValueError, match="seed is for files of your own; got 0 for digits"):
        load("digits", seed=0)


@pytest.mark.parametrize("n_tasks", [0, -1, 4, 2.5, "2", True])
def test_tasks_that_cannot_be(write, n_tasks):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        load(write("mine.npz", X=X, y=WORDS), n_tasks=n_tasks)


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_seeds_that_cannot_be(write, seed):
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        load(write("mine.npz", X=X, y=WORDS), seed=seed)


@both_tables
def test_without_polars_it_is_said_how_to_get_it(write, suffix, monkeypatch):
    path = write(f"mine{suffix}", TABLE)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        ImportError, match=r"\.(csv|parquet) files .* pip install 'kenyon\[tables\]'"
    ):
        load(path)
    assert load(write("mine.npz", X=X, y=WORDS)).n_classes == 3


@pytest.mark.parametrize("name", ["mnist20", "clinc150"])
def test_features_that_were_built_are_read_as_such(tmp_path, name):
    shutil.copy(packaged_path(name), tmp_path / "built.npz")
    ours, theirs = load(tmp_path / "built.npz"), load(name)
    assert_array_equal(ours.X_test, theirs.X_test)
    assert ours.class_names == theirs.class_names
    assert (ours.X_out_of_scope is None) == (theirs.X_out_of_scope is None)
