"""The most probable classes, and the probabilities of one sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from kenyon import FlyClassifier, TopClasses
from kenyon.top import best_ranks

X, Y = load_digits(return_X_y=True)
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
MODELS = {
    "fly": {"readout": "fly"},
    "bayes": {"readout": "bayes"},
    "ridge": {"readout": "ridge"},
    "decay": {"readout": "fly", "learning_rate": 0.1, "decay": 1e-3},
    "compartments": {"readout": "fly", "compartments": [("auto", 0.0), (1.0, 0.01)]},
}
every_model = pytest.mark.parametrize("name", MODELS)


def fitted(name, n=800, labels=Y):
    sizes = {"n_cells": 300, "fan_in": 8, "n_active": 40}
    return FlyClassifier(**sizes, **MODELS[name]).fit(X[:n], labels[:n])


@every_model
@pytest.mark.parametrize("k", [1, 3, 10])
def test_top_classes_are_the_first_of_a_full_sort(name, k):
    model = fitted(name, labels=NAMES[Y])
    labels, probabilities = top = model.predict_top(X[800:], k)
    assert isinstance(top, TopClasses)
    assert labels.shape == probabilities.shape == (len(X) - 800, k)
    assert labels.dtype == model.classes_.dtype
    scores, every = model.decision_function(X[800:]), model.predict_proba(X[800:])
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(labels, model.classes_[expected])
    np.testing.assert_array_equal(probabilities, np.take_along_axis(every, expected, axis=1))
    np.testing.assert_array_equal(labels[:, 0], model.predict(X[800:]))
    assert (np.diff(probabilities, axis=1) <= 0).all()


@every_model
def test_equals_are_in_the_order_of_the_classes(name):
    labels, probabilities = fitted(name).predict_top(np.zeros((2, 64)), 4)
    assert labels.tolist() == [[0, 1, 2, 3]] * 2
    np.testing.assert_allclose(probabilities, 0.1)


def test_scores_decide_where_probabilities_round_to_zero(monkeypatch):
    def certain(snapshot, readout, scores, n_threads):
        return np.eye(10)[scores.argmax(axis=1)]

    monkeypatch.setattr("kenyon.top.calibrate_scores", certain)
    model = fitted("fly")
    labels, probabilities = model.predict_top(X[800:900], 4)
    assert (probabilities == [1, 0, 0, 0]).all()
    scores = model.decision_function(X[800:900])
    np.testing.assert_array_equal(labels, np.argsort(-scores, axis=1, kind="stable")[:, :4])


@given(st.data())
def test_best_ranks_of_ties(data):
    n_classes = data.draw(st.integers(1, 12))
    k = data.draw(st.integers(1, n_classes))
    row = st.lists(st.integers(0, 3), min_size=n_classes, max_size=n_classes)
    scores = np.array(data.draw(st.lists(row, min_size=1, max_size=5)), dtype=float)
    expected = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :k], axis=1)
    np.testing.assert_array_equal(best_ranks(scores, k), expected)


def test_more_classes_than_there_are():
    model = fitted("fly")
    labels, probabilities = model.predict_top(X[:5], 1000)
    assert labels.shape == probabilities.shape == (5, 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.predict_top(X[:5], np.int32(2)).labels.shape == (5, 2)
    assert model.predict_top(X[:5]).labels.shape == (5, 5)
    one = FlyClassifier().fit([[1, 0]], ["only"]).predict_top([[0, 1]], 3)
    assert one.labels.tolist() == [["only"]]
    assert one.probabilities.tolist() == [[1.0]]


def test_labels_of_every_type():
    for labels in (Y.astype(object), Y.astype(np.uint8), NAMES[Y].astype(object), Y % 2 == 0):
        model = fitted("fly", 300, labels)
        top = model.predict_top(X[300:310], 2)
        assert top.labels.dtype == model.classes_.dtype
        assert top.labels[:, 0].tolist() == model.predict(X[300:310]).tolist()


@every_model
def test_large_calls_equal_several_batches(name):
    model = fitted(name, 300)
    many = np.tile(X, (3, 1))
    for one, other in zip(model.predict_top(many, 3), model.predict_top(X, 3), strict=True):
        np.testing.assert_array_equal(one, np.tile(other, (3, 1)))
        assert one.flags.c_contiguous


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", None, True])
def test_rejects_k(k):
    with pytest.raises(ValueError, match="k must be an integer above 0, but is"):
        fitted("fly", 50).predict_top(X[:3], k)


@every_model
def test_probabilities_of_one_sample_equal_those_of_a_batch(name):
    model = fitted(name, labels=NAMES[Y])
    for x, row in zip(X[800:850], model.predict_proba(X[800:850]), strict=True):
        for sample in (x, x.astype(np.float32), x.tolist()):
            found = model.predict_proba_one(sample)
            assert list(found) == model.classes_.tolist()
            np.testing.assert_allclose(list(found.values()), row, rtol=1e-9)
            assert max(found, key=found.get) == model.predict_one(x)
    assert all(type(value) is float for value in found.values())


def test_one_sample_is_checked():
    with pytest.raises(NotFittedError):
        FlyClassifier().predict_proba_one(X[0])
    with pytest.raises(NotFittedError):
        FlyClassifier().predict_top(X[:1])
    with pytest.raises(ValueError, match="X has 3 features, but 64 were expected"):
        fitted("fly", 50).predict_proba_one(X[0, :3])
    with pytest.raises(ValueError, match="no classes left"):
        FlyClassifier().fit(X[:1], [0]).drop_class(0).predict_proba_one(X[0])
