"""Any container and type of samples."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from kenyon import FlyClassifier, SparseCoder
from tests.reading import synapses

# Small integers, which every type holds exactly; about half of them 0.
X = np.maximum(np.random.default_rng(5).integers(-100, 100, (90, 6)), 0).astype(np.float64)
Y = np.arange(90) % 3
NAMES = [f"sensor {i}" for i in range(6)]
DECAY = {"learning_rate": 0.1, "decay": 0.01}


def fly(**parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "fly", **parameters})


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
