"""Mini-batches: frames of pandas and polars."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading import model_state
from tests.river.models import SEGMENTS, frame, learned, samples, small

BACKENDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "objects": lambda rows: pd.DataFrame(rows).astype(object),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_are_samples(backend):
    rows = [
        {"a": 1.5, "city": "Rome", "b": 3, "ok": True},
        {"a": None, "city": None, "b": None, "ok": None},
        {"a": -2.0, "city": "Oslo", "b": -1, "ok": False},
    ]
    fly = small()
    expected = np.array([fly.vector(row) for row in rows])
    np.testing.assert_array_equal(fly.matrix(BACKENDS[backend](rows)), expected)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(samples, st.sampled_from("abc")), min_size=1, max_size=12),
    st.integers(1, 11),
    st.sampled_from([{}, {"readout": "bayes"}, {"window": 5}, {"decay": 0.1}]),
)
def test_a_batch_is_its_samples_one_by_one(data, cut, parameters):
    one, many = learned(data, **parameters), small(**parameters)
    for part in (data[:cut], data[cut:]):
        if part:
            # Columns of objects: pandas changes an integer beside a missing value.
            X = pd.DataFrame([x for x, _ in part], dtype=object)
            many.learn_many(X, pd.Series([y for _, y in part]))
    assert model_state(many.model) == model_state(one.model)
    X = pd.DataFrame([x for x, _ in data], dtype=object)
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x, _ in data]
    expected = [one.predict_proba_one(x) for x, _ in data]
    for found, probabilities in zip(
        many.predict_proba_many(X).to_dict("records"), expected, strict=True
    ):
        assert found == pytest.approx(probabilities, abs=1e-9)


def test_answers_have_the_type_and_the_index_of_the_frame():
    X, y = frame(SEGMENTS[:50])
    fly = small()
    fly.learn_many(X, y)
    X.index = range(100, 150)
    found = fly.predict_many(X)
    assert isinstance(found, pd.Series)
    assert found.index.equals(X.index)
    probabilities = fly.predict_proba_many(X)
    assert probabilities.index.equals(X.index)
    assert probabilities.columns.tolist() == fly.model.classes_.tolist()
    assert probabilities.idxmax(axis="columns").tolist() == found.tolist()
    same = fly.predict_many(pl.from_pandas(X))
    assert isinstance(same, pl.Series)
    assert same.to_list() == found.tolist()
    same = fly.predict_proba_many(pl.from_pandas(X))
    assert isinstance(same, pl.DataFrame)
    np.testing.assert_array_equal(same.to_numpy(), probabilities.to_numpy())


def test_labels_that_are_no_strings_name_columns():
    X = pd.DataFrame({"a": [1.0, -1.0]})
    fly = small()
    fly.learn_many(X, pd.Series([True, False]))
    assert fly.predict_proba_many(X).columns.tolist() == [False, True]
    assert fly.predict_many(X).tolist() == [True, False]
    assert fly.predict_proba_many(pl.from_pandas(X)).columns == ["False", "True"]


def test_empty_frames():
    fly, empty = small(), pd.DataFrame({"a": []})
    fly.learn_many(empty, pd.Series([], dtype=object))
    assert not fly._has_learned()
    fly.learn_one({"a": 1.0}, "u")
    assert fly.predict_many(empty).tolist() == []
    assert fly.predict_proba_many(empty).columns.tolist() == ["u"]
