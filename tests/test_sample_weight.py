"""Whole-number weights: a sample of weight 3 is learned three times."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import cross_validate

from kenyon import FlyClassifier
from tests.reading import memory_of, model_state
from tests.refusal import X as SMALL_X
from tests.refusal import Y as SMALL_Y
from tests.refusal import assert_refused
from tests.refusal import fitted as small_model

X, Y = load_digits(return_X_y=True)
SIZES = {"n_cells": 200, "fan_in": 8, "n_active": 40}
MODELS = {
    "fly": {"readout": "fly"},
    "bayes": {"readout": "bayes"},
    "ridge": {"readout": "ridge", "penalty": 0.1},
    "decay": {"readout": "fly", "learning_rate": 0.1, "decay": 1e-3},
    "compartments": {"readout": "fly", "compartments": [("auto", 0.0), (1.0, 0.01)]},
}
SUMS = ("fly", "bayes", "ridge")
every_model = pytest.mark.parametrize("name", MODELS)
weighted_rows = st.lists(
    st.tuples(st.integers(0, len(X) - 1), st.integers(0, 4)), min_size=1, max_size=30
).filter(lambda pairs: any(weight for _, weight in pairs))


def new(name):
    return FlyClassifier(**SIZES, **MODELS[name])


def split(pairs):
    """Return the rows, their weights, and the rows repeated."""
    rows, weights = np.array(pairs).T
    return rows, weights, np.repeat(rows, weights)


@every_model
@given(weighted_rows, weighted_rows)
@settings(max_examples=10, deadline=None)
def test_weighted_equals_repeated(name, first, second):
    rows, weights, repeated = split(first)
    weighted = new(name).fit(X[rows], Y[rows], sample_weight=weights)
    expected = new(name).fit(X[repeated], Y[repeated])
    assert model_state(weighted) == model_state(expected)
    rows, weights, repeated = split(second)
    weighted.partial_fit(X[rows], Y[rows], sample_weight=weights)
    expected.partial_fit(X[repeated], Y[repeated])
    assert model_state(weighted) == model_state(expected)
    np.testing.assert_array_equal(
        weighted.decision_function(X[:20]), expected.decision_function(X[:20])
    )


@pytest.mark.parametrize("name", SUMS)
@given(weighted_rows, weighted_rows)
@settings(max_examples=10, deadline=None)
def test_weighted_unlearning_is_exact(name, kept, removed):
    rows, weights, _ = split(kept)
    model = new(name).fit(X[rows], Y[rows], sample_weight=weights)
    before = memory_of(model).synapses.tolist(), model.class_count_.tolist()
    rows, weights, _ = split(removed)
    model.partial_fit(X[rows], Y[rows], sample_weight=weights)
    model.unlearn(X[rows], Y[rows], sample_weight=weights)
    assert (memory_of(model).synapses.tolist(), model.class_count_.tolist()) == before


def test_a_class_of_weight_zero_is_not_learned():
    model = new("fly").fit(X[:100], Y[:100], sample_weight=Y[:100] == 3)
    assert model.classes_.tolist() == [3]
    model.partial_fit(X[:100], Y[:100], classes=range(10), sample_weight=Y[:100] == 4)
    assert model.class_count_.tolist() == [
        0,
        0,
        0,
        (Y[:100] == 3).sum(),
        (Y[:100] == 4).sum(),
        *[0] * 5,
    ]


@pytest.mark.parametrize("make", [list, tuple, pd.Series, pl.Series, np.float32, np.uint8, "O"])
def test_weights_of_every_container_and_type(make):
    weights = np.arange(100) % 3
    given = weights.astype(make) if make in (np.float32, np.uint8, "O") else make(weights.tolist())
    expected = new("fly").fit(X[:100], Y[:100], sample_weight=weights)
    assert model_state(new("fly").fit(X[:100], Y[:100], sample_weight=given)) == model_state(
        expected
    )
    sparse_X = sparse.csr_array(X[:100])
    assert model_state(new("fly").fit(sparse_X, Y[:100], sample_weight=given)) == model_state(
        expected
    )


def test_large_weights_take_batches_of_memory():
    weights = [1_000_000, 1]
    model = FlyClassifier(n_cells=20, n_active=2, fan_in=2, readout="fly").fit(
        np.eye(2, 32), [0, 1]
    )
    tracemalloc.start()
    model.partial_fit(np.eye(2, 32), [0, 1], sample_weight=weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.class_count_.tolist() == [1_000_001, 2]
    assert peak < 2**23 < 1_000_000 * 32 * 8


WHOLE = (
    "sample_weight must be whole numbers from 0 to 8421504, but one is {}: the memory holds sums"
)
ONE_EACH = r"sample_weight must have one weight for each of the 30 samples, but has the shape {}"
REFUSED = {
    "negative": ([-1] + [1] * 29, WHOLE.format("-1")),
    "fractional": ([1] * 29 + [0.5], WHOLE.format("0.5")),
    "NaN": ([np.nan] + [1] * 29, WHOLE.format("nan")),
    "infinite": ([np.inf] + [1] * 29, WHOLE.format("inf")),
    "too large": ([8421505] + [1] * 29, WHOLE.format("8421505")),
    "beyond 64 bits": ([2**70] + [1] * 29, WHOLE.format("1180591620717411303424")),
    "missing": ([None] + [1] * 29, WHOLE.format("None")),
    "text": (["3"] * 30, WHOLE.format("'3'")),
    "complex": ([1j] * 30, WHOLE.format("1j")),
    "too few": ([1, 2], ONE_EACH.format(r"\(2,\)")),
    "a table": (np.ones((30, 2)), ONE_EACH.format(r"\(30, 2\)")),
    "one number": (3, ONE_EACH.format(r"\(\)")),
    "all zero": ([0] * 30, "sample_weight must not be zero for all samples"),
}


@pytest.mark.parametrize("method", ["fit", "partial_fit", "unlearn"])
@pytest.mark.parametrize(("weights", "message"), REFUSED.values(), ids=REFUSED)
def test_other_weights_are_refused_with_the_reason(method, weights, message):
    def call(model):
        getattr(model, method)(SMALL_X, SMALL_Y, sample_weight=weights)

    assert_refused(small_model(), call, ValueError, message)
    if method != "unlearn":
        assert_refused(FlyClassifier(), call, ValueError, message)


def test_labels_are_checked_before_weights_remove_them():
    model = new("fly")
    with pytest.raises(ValueError, match=r"y has labels that are not in classes: \[1\]"):
        model.partial_fit(X[:2], [0, 1], classes=[0], sample_weight=[1, 0])
    assert not hasattr(model, "classes_")


def test_bagging_weights_by_whole_numbers():
    model = BaggingClassifier(new("fly"), n_estimators=5, random_state=0).fit(X[:600], Y[:600])
    assert model.score(X[600:], Y[600:]) > 0.8


def test_boosting_weights_by_fractions_and_is_refused():
    with pytest.raises(ValueError, match="the memory holds sums of whole samples"):
        AdaBoostClassifier(new("fly"), n_estimators=3).fit(X[:300], Y[:300])


def test_weights_are_routed_through_cross_validation():
    weights = np.where(Y[:300] == 0, 0, 2)
    with config_context(enable_metadata_routing=True):
        model = (
            new("fly").set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        )
        found = cross_validate(
            model, X[:300], Y[:300], params={"sample_weight": weights}, return_estimator=True
        )
    for estimator in found["estimator"]:
        assert 0 not in estimator.classes_.tolist()
        assert estimator.n_samples_seen_ % 2 == 0
