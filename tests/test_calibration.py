"""Probabilities: as sure as they are right, with every readout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from kenyon.calibration import Calibration

X, Y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(0, 5, X.shape)
SMALL = {"n_cells": 300, "fan_in": 8, "n_active": 30}
READOUTS = [
    {},
    {"learning_rate": 0.01},
    {"readout": "bayes"},
    {"readout": "ridge", "inhibition": "subtract"},
]
each_readout = pytest.mark.parametrize("parameters", READOUTS, ids=str)


def taught(rows, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows])


@each_readout
def test_a_model_is_as_sure_as_it_is_right(parameters):
    model = taught(slice(0, 1000), **parameters)
    probabilities = model.predict_proba(X[1000:])
    right = model.predict(X[1000:]) == Y[1000:]
    sure = probabilities.max(axis=1)
    assert abs(sure.mean() - right.mean()) < 0.06
    for half in np.array_split(np.argsort(sure), 2):
        assert abs(sure[half].mean() - right[half].mean()) < 0.1
    assert 0.5 < right.mean() < 0.95, "there must be something to be unsure of"


@each_readout
def test_the_most_likely_class_is_the_one_predicted(parameters):
    model = taught(slice(0, 400), **parameters)
    rows = np.vstack([X, np.zeros((3, 64)), np.tile(X[:5], (2, 1))])
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    likeliest = model.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(likeliest, model.predict(rows))


@settings(max_examples=100, deadline=None)
@given(
    arrays(np.float64, (5, 4), elements=st.floats(-1e6, 1e6)),
    st.sampled_from([1e-30, 0.1, 3.0, 1e9]),
    st.sampled_from([0.2, 1.0, 2.0]),
)
def test_rounding_does_not_make_another_class_likelier(scores, slope, exponent):
    scores[:, 1] = np.nextafter(scores[:, 0], np.inf)
    probabilities = Calibration(slope, exponent, 1.0).probabilities(scores)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
def test_what_made_the_labels_is_found_again(exponent):
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 10, (20_000, 5))
    truth = Calibration(0.7, exponent, 4.0).probabilities(scores)
    ranks = (truth.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    found = Calibration.fit(scores, ranks, np.full(20_000, 1 / 20_000))
    np.testing.assert_allclose(found.probabilities(scores), truth, atol=0.03)


def test_few_samples_leave_doubt_however_well_they_are_told_apart():
    scores = np.array([[9.0, 0], [8, 0], [0, 7], [0, 9]])
    found = Calibration.fit(scores, np.array([0, 0, 1, 1]), np.full(4, 0.25))
    assert 0.8 < found.probabilities(scores).max() < 0.95
    alike = Calibration.fit(np.zeros((4, 2)), np.array([0, 0, 1, 1]), np.full(4, 0.25))
    np.testing.assert_allclose(alike.probabilities(np.zeros((1, 2))), 0.5)


@each_readout
def test_classes_with_a_sample_or_none(parameters):
    named = FlyClassifier(**SMALL, **parameters)
    for n in (1, 2, 12):
        named.partial_fit(X[:n], Y[:n], classes=range(11))
        for model in (named, taught(slice(0, n), **parameters)):
            assert np.isfinite(model.predict_proba(X[:9])).all()
    alone = FlyClassifier(**SMALL, **parameters).fit(X[:5], ["a"] * 5)
    np.testing.assert_array_equal(alone.predict_proba(X[:9]), 1)


@each_readout
def test_order_shards_and_files_make_no_difference(parameters, tmp_path):
    whole = taught(np.arange(900), **parameters)
    expected = whole.predict_proba(X[900:1000])
    shuffled = taught(np.random.default_rng(3).permutation(900), **parameters)
    merged = FlyClassifier.merged(taught(slice(i, 900, 3), **parameters) for i in range(3))
    whole.save(tmp_path / "fly.kenyon")
    for other in (shuffled, merged, kenyon.load(tmp_path / "fly.kenyon")):
        found = other.predict_proba(X[900:1000])
        if parameters.get("readout") == "ridge":
            np.testing.assert_allclose(found, expected, atol=1e-6)
        else:
            np.testing.assert_array_equal(found, expected)


@each_readout
def test_few_samples_unlearned_were_never_learned(parameters):
    model = taught(slice(0, 500), **parameters).unlearn(X[300:500], Y[300:500])
    never = taught(slice(0, 300), **parameters)
    found, expected = (one.predict_proba(X[900:]) for one in (model, never))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_it_is_calibrated_anew_after_learning_and_for_each_way_of_reading():
    model = taught(slice(0, 200))
    before = model.predict_proba(X[900:])
    model.partial_fit(X[200:400], Y[200:400])
    fly = model.predict_proba(X[900:])
    np.testing.assert_array_equal(fly, taught(slice(0, 400)).predict_proba(X[900:]))
    bayes = model.set_params(readout="bayes").predict_proba(X[900:])
    assert np.abs(bayes - before).max() > 0.01
    expected = taught(slice(0, 400), readout="bayes").predict_proba(X[900:])
    np.testing.assert_array_equal(bayes, expected)


def test_with_decay_it_is_the_softmax_of_the_scores():
    model = taught(slice(0, 500), learning_rate=0.1, decay=1e-3)
    expected = softmax(model.decision_function(X[900:]), axis=1)
    np.testing.assert_allclose(model.predict_proba(X[900:]), expected)
