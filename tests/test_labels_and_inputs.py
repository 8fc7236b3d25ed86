"""Any container and type of samples, and any kind of label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from kenyon import FlyClassifier, SparseCoder
from tests.reading import memory_of

# Small integers, which every type holds exactly; about half of them 0.
X = np.maximum(np.random.default_rng(5).integers(-100, 100, (90, 6)), 0).astype(np.float64)
Y = np.arange(90) % 3
NAMES = [f"sensor {i}" for i in range(6)]
DECAY = {"learning_rate": 0.1, "decay": 0.01}


def fly(**parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "fly", **parameters})


def synapses(model):
    return memory_of(model).synapses


def assert_equivalent(given, plain):
    """Check that learning, reading and coding give the same with both."""
    for parameters in ({}, DECAY):
        reference, model = fly(**parameters).fit(plain, Y), fly(**parameters).fit(given, Y)
        assert_array_equal(synapses(model), synapses(reference), strict=True)
        assert_array_equal(model.predict(given), reference.predict(plain), strict=True)
        scores = reference.decision_function(plain)
        assert_array_equal(model.decision_function(given), scores, strict=True)
    assert model.n_features_in_ == plain.shape[1]
    assert len(fly().fit(given, Y).unlearn(given, Y).classes_) == 0
    levels = SparseCoder(n_cells=400).fit(given).levels(given)
    assert (levels != SparseCoder(n_cells=400).fit(plain).levels(plain)).nnz == 0


@pytest.mark.parametrize("dtype", [*"bhilqBHILQ", "f2", "f4", "f8", "g", ">f8", ">i4", "O"])
def test_every_number_type_equals_float64(dtype):
    given = X.astype(dtype)
    assert_equivalent(given, X)
    reference, model = fly().fit(X, Y), fly()
    for x, y in zip(given, Y, strict=True):
        model.learn_one(x, y)
    assert_array_equal(synapses(model), synapses(reference))
    assert [model.predict_one(x) for x in given] == reference.predict(X).tolist()


def test_signed_numbers_equal_float64():
    signed = X - 50
    for dtype in (np.int8, np.int64, np.float16, np.float32):
        assert_equivalent(signed.astype(dtype), signed)


def test_booleans_equal_0_and_1():
    assert_equivalent(X > 0, (X > 0).astype(np.float64))


def test_integers_beyond_float32_stay_exact():
    large = (X + 2**40 + 1).astype(np.int64)
    assert_equivalent(large, large.astype(np.float64))


def fortran(X, folder):
    return np.asfortranarray(X)


def every_second_row(X, folder):
    return np.repeat(X, 2, axis=0)[::2]


def every_second_column(X, folder):
    return np.repeat(X, 2, axis=1)[:, ::2]


def reversed_twice(X, folder):
    return X[::-1, ::-1].copy()[::-1, ::-1]


def read_only(X, folder):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def memory_map_of_columns(X, folder):
    np.save(folder / "X.npy", np.asfortranarray(X))
    return np.load(folder / "X.npy", mmap_mode="r")


def nested_lists(X, folder):
    return X.tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize(
    "layout",
    [
        fortran,
        every_second_row,
        every_second_column,
        reversed_twice,
        read_only,
        memory_map,
        memory_map_of_columns,
        nested_lists,
    ],
)
def test_every_array_layout_is_the_same(layout, dtype, tmp_path):
    given = layout(X.astype(dtype), tmp_path)
    assert_equivalent(given, X)
    reference = fly().fit(X, Y)
    assert [reference.predict_one(x) for x in given] == reference.predict(X).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, bool])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_equals_dense(kind, form, dtype):
    plain = X.astype(dtype)
    given = getattr(sparse, f"{form}_{kind}")(plain)
    assert given.nnz < X.size
    assert_equivalent(given, plain.astype(np.float64))


def test_sparse_with_64_bit_indices_and_repeated_entries():
    given = sparse.coo_array(X)
    entries = np.concatenate([given.data / 2, given.data / 2])
    places = [np.tile(axis.astype(np.int64), 2) for axis in given.coords]
    assert_equivalent(sparse.coo_array((entries, places), shape=X.shape), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_data_frames_equal_arrays_and_name_features(frame, dtype):
    given = frame(dict(zip(NAMES, X.T.astype(dtype), strict=True)))
    assert_equivalent(given, X)
    assert fly().fit(given, Y).feature_names_in_.tolist() == NAMES


def test_mixed_column_types_equal_float64():
    columns = dict(zip(NAMES, X.T, strict=True))
    columns[NAMES[0]] = columns[NAMES[0]].astype(np.int32)
    columns[NAMES[1]] = columns[NAMES[1]].astype(np.float32)
    assert_equivalent(pd.DataFrame(columns), X)
    assert_equivalent(pl.DataFrame(columns), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("call", ["partial_fit", "unlearn", "predict", "decision_function"])
def test_rejects_other_feature_names(frame, call):
    model = fly().fit(frame(dict(zip(NAMES, X.T, strict=True))), Y)
    labels = [Y] if call in ("partial_fit", "unlearn") else []
    for names in (NAMES[::-1], [*NAMES[:5], "sensor 9"]):
        given = frame(dict(zip(names, X.T, strict=True)))
        with pytest.raises(ValueError, match="The feature names should match those"):
            getattr(model, call)(given, *labels)
    assert_array_equal(synapses(model), synapses(fly().fit(X, Y)))


def test_warns_of_missing_feature_names():
    model = fly().fit(pd.DataFrame(X, columns=NAMES), Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)


WORDS = ["left", "right", "up"]
LABELS = {
    "int64": ([3, 1, 2], np.int64),
    "int8": (np.array([3, 1, 2], dtype=np.int8), np.int8),
    "uint64": (np.array([3, 2**64 - 1, 2], dtype=np.uint64), np.uint64),
    "negative": ([-1, 7, -300], np.int64),
    "bool": ([True, False, True], bool),
    "integral floats": ([3.0, -1.0, 0.0], np.float64),
    "numpy scalars": ([np.int64(3), np.int64(1), np.int64(2)], np.int64),
    "numpy scalars as objects": (np.array([np.int64(3), np.int8(1)] * 2, dtype=object), object),
    "strings": (WORDS, "<U5"),
    "numpy strings": (np.array(WORDS, dtype="<U20"), "<U5"),
    "object strings": (np.array(WORDS, dtype=object), object),
    "empty string": (["", "a", "b"], "<U1"),
    "wide characters": (["naïve", "日本", "🪰"], "<U5"),
    "series of strings": (pd.Series(WORDS), object),
    "series of ints": (pd.Series([3, 1, 2], index=[9, 4, 7]), np.int64),
    "categorical": (pd.Categorical(WORDS), object),
    "series of categories": (pd.Series([30, 10, 20]).astype("category"), np.int64),
    "polars series": (pl.Series(WORDS), "<U5"),
    "huge ints": ([2**70, -(2**80), 5], object),
}


@pytest.mark.parametrize(("labels", "dtype"), LABELS.values(), ids=LABELS.keys())
def test_labels_keep_their_type(labels, dtype):
    X = np.eye(len(labels))
    model = fly().fit(X, labels)
    plain = np.asarray(labels).tolist()
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == sorted(set(plain))
    assert model.class_count_.tolist() == [plain.count(label) for label in model.classes_]
    assert model.predict(X).dtype == dtype
    assert model.predict(X).tolist() == plain
    one_by_one = fly()
    for x, label in zip(X, labels, strict=True):
        one_by_one.learn_one(x, label)
    assert [one_by_one.predict_one(x) for x in X] == plain
    assert_array_equal(synapses(one_by_one), synapses(model))
    assert len(model.unlearn(X, labels).classes_) == 0


def test_longer_strings_widen_the_type():
    model = fly()
    words = ["b", "abc", "a" * 40, "c" * 1000]
    for i, word in enumerate(words):
        model.partial_fit(np.eye(4)[[i]], [word])
        assert model.classes_.tolist() == sorted(words[: i + 1])
        assert model.classes_.dtype == f"<U{len(word)}"
    assert model.predict(np.eye(4)).tolist() == words
    assert model.drop_class("c" * 1000).classes_.dtype == "<U40"


@pytest.mark.parametrize(
    ("first", "second", "dtype"),
    [
        (np.int8, np.int64, np.int64),
        (np.int64, np.uint64, object),  # float64 would make large ones equal
        (np.int64, np.float64, np.float64),
        (bool, np.int64, np.int64),
        ("<U1", object, object),
    ],
)
def test_labels_of_two_types_get_a_common_type(first, second, dtype):
    one, two = np.array([1]).astype(first), np.array([2]).astype(second)
    if first == "<U1":
        one, two = np.array(["a"]), np.array(["b"], dtype=object)
    forth = fly().partial_fit([[1, 0]], one).partial_fit([[0, 1]], two)
    back = fly().partial_fit([[0, 1]], two).partial_fit([[1, 0]], one)
    assert forth.classes_.dtype == back.classes_.dtype == dtype
    assert forth.classes_.tolist() == back.classes_.tolist() == [*one.tolist(), *two.tolist()]
    assert_array_equal(synapses(forth), synapses(back))


def test_equal_numbers_of_different_types_are_one_class():
    model = fly().fit([[1, 0]], [1]).partial_fit([[1, 0]], [1.0]).learn_one([1, 0], np.uint8(1))
    assert model.classes_.tolist() == [1]
    assert model.class_count_.tolist() == [3]


@given(st.lists(st.text(max_size=5) | st.just("a"), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_a_label(words):
    X = np.eye(len(words))
    model = fly().fit(X, np.array(words, dtype=object))
    assert model.classes_.tolist() == sorted(set(words))
    assert model.class_count_.sum() == len(words)


def test_warns_of_labels_in_a_column():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model = fly().fit(X, Y[:, np.newaxis])
    assert_array_equal(synapses(model), synapses(fly().fit(X, Y)))


def test_public_arrays_cannot_change_the_model():
    model = fly().fit(X, Y)
    with pytest.raises(ValueError, match="read-only"):
        model.classes_[0] = 5
    model.class_count_[0] = 0
    assert model.class_count_.tolist() == [30, 30, 30]
