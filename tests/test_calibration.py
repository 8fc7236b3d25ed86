"""Calibrated probabilities with every readout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier, calibration
from kenyon.calibration import Calibration, Distances
from kenyon.circuit import calibration_sample

X, Y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(0, 5, X.shape)
SMALL = {"n_cells": 300, "fan_in": 8, "n_active": 30, "readout": "fly"}
READOUTS = [
    {},
    {"learning_rate": 0.01},
    {"readout": "bayes"},
    {"readout": "ridge", "inhibition": "subtract"},
]
each_readout = pytest.mark.parametrize("parameters", READOUTS, ids=str)


def fitted(rows, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows])


@each_readout
def test_mean_confidence_equals_accuracy(parameters):
    model = fitted(slice(0, 1000), **parameters)
    probabilities = model.predict_proba(X[1000:])
    correct = model.predict(X[1000:]) == Y[1000:]
    confidence = probabilities.max(axis=1)
    assert abs(confidence.mean() - correct.mean()) < 0.06
    for half in np.array_split(np.argsort(confidence), 2):
        assert abs(confidence[half].mean() - correct[half].mean()) < 0.1
    assert 0.5 < correct.mean() < 0.95, "the data must be uncertain"


@each_readout
def test_most_probable_class_is_predicted(parameters):
    model = fitted(slice(0, 400), **parameters)
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
def test_rounding_keeps_the_most_probable_class(scores, slope, exponent):
    scores[:, 1] = np.nextafter(scores[:, 0], np.inf)
    probabilities = Calibration(slope, exponent, 1.0).probabilities(scores)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
def test_fit_recovers_the_true_probabilities(exponent):
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 10, (20_000, 5))
    truth = Calibration(0.7, exponent, 4.0).probabilities(scores)
    ranks = (truth.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    found = Calibration.fit(scores, ranks, np.full(20_000, 1 / 20_000))
    np.testing.assert_allclose(found.probabilities(scores), truth, atol=0.03)


def test_distant_classes_may_be_grouped():
    rng = np.random.default_rng(2)
    scores, ranks = rng.normal(0, 1, (40, 9000)), rng.integers(0, 9000, 40)
    scores[np.arange(40), ranks] += rng.normal(4, 1, 40)
    grouped = Distances.of(scores, ranks)
    n_columns = calibration.N_NEAR + calibration.N_GROUPS
    assert grouped.to_all.shape == (40, n_columns)
    assert grouped.numbers.sum() == 9000
    distances = scores.max(axis=1, keepdims=True) - scores
    np.testing.assert_allclose(grouped.to_all @ grouped.numbers, distances.sum(axis=1))
    np.testing.assert_array_equal(grouped.to_own, distances[np.arange(40), ranks])
    shares = rng.dirichlet(np.ones(40))
    found = Calibration.fit_distances(grouped, shares)
    exact = Distances(distances, np.ones(9000), grouped.to_own)
    expected = Calibration.fit_distances(exact, shares)
    np.testing.assert_allclose(
        (found.slope, found.exponent, found.unit),
        (expected.slope, expected.exponent, expected.unit),
        rtol=1e-4,
    )


def test_many_classes_are_calibrated_in_parts(monkeypatch):
    rng = np.random.default_rng(4)
    centres, y = rng.random((300, 30)), np.tile(np.arange(300), 25)
    rows = centres[y] + rng.normal(0, 0.25, (7500, 30))
    model = FlyClassifier(n_cells=200, n_active=20).fit(rows[:6000], y[:6000])
    probabilities = model.predict_proba(rows[6000:])
    correct = model.predict(rows[6000:]) == y[6000:]
    assert abs(probabilities.max(axis=1).mean() - correct.mean()) < 0.1
    assert 0.2 < correct.mean() < 0.95, "the data must be uncertain"
    threshold = model.novelty_threshold(0.1)
    assert 0.02 < (model.novelty(rows[6000:]) > threshold).mean() < 0.25
    # The same in parts of one sample and all at once, within the rounding of ridge: BLAS may sum
    # the products of one sample in another order than those of many, and does so with AVX-512.
    for max_scores in (1, 10**9):
        monkeypatch.setattr(calibration_sample, "MAX_SCORES", max_scores)
        other = FlyClassifier(n_cells=200, n_active=20).fit(rows[:6000], y[:6000])
        np.testing.assert_allclose(other.predict_proba(rows[6000:]), probabilities, rtol=1e-12)
        assert other.novelty_threshold(0.1) == pytest.approx(threshold, rel=1e-12)


def test_few_samples_leave_uncertainty():
    scores = np.array([[9.0, 0], [8, 0], [0, 7], [0, 9]])
    found = Calibration.fit(scores, np.array([0, 0, 1, 1]), np.full(4, 0.25))
    assert 0.8 < found.probabilities(scores).max() < 0.95
    alike = Calibration.fit(np.zeros((4, 2)), np.array([0, 0, 1, 1]), np.full(4, 0.25))
    np.testing.assert_allclose(alike.probabilities(np.zeros((1, 2))), 0.5)


@each_readout
def test_classes_with_few_samples(parameters):
    named = FlyClassifier(**{**SMALL, **parameters})
    for n in (1, 2, 12):
        named.partial_fit(X[:n], Y[:n], classes=range(11))
        for model in (named, fitted(slice(0, n), **parameters)):
            assert np.isfinite(model.predict_proba(X[:9])).all()
    alone = FlyClassifier(**{**SMALL, **parameters}).fit(X[:5], ["a"] * 5)
    np.testing.assert_array_equal(alone.predict_proba(X[:9]), 1)


@each_readout
def test_probabilities_survive_order_shards_and_files(parameters, tmp_path):
    whole = fitted(np.arange(900), **parameters)
    expected = whole.predict_proba(X[900:1000])
    shuffled = fitted(np.random.default_rng(3).permutation(900), **parameters)
    merged = FlyClassifier.merged(fitted(slice(i, 900, 3), **parameters) for i in range(3))
    whole.save(tmp_path / "fly.kenyon")
    for other in (shuffled, merged, kenyon.load(tmp_path / "fly.kenyon")):
        found = other.predict_proba(X[900:1000])
        if parameters.get("readout") == "ridge":
            np.testing.assert_allclose(found, expected, atol=1e-6)
        else:
            np.testing.assert_array_equal(found, expected)


@each_readout
def test_unlearned_equals_never_learned_while_the_sample_is_not_full(parameters):
    model = fitted(slice(0, 400), **parameters).unlearn(X[200:400], Y[200:400])
    never = fitted(slice(0, 200), **parameters)
    found, expected = (one.predict_proba(X[900:]) for one in (model, never))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_calibration_follows_learning_and_readout():
    model = fitted(slice(0, 200))
    before = model.predict_proba(X[900:])
    model.partial_fit(X[200:400], Y[200:400])
    fly = model.predict_proba(X[900:])
    np.testing.assert_array_equal(fly, fitted(slice(0, 400)).predict_proba(X[900:]))
    bayes = model.set_params(readout="bayes").predict_proba(X[900:])
    assert np.abs(bayes - before).max() > 0.01
    expected = fitted(slice(0, 400), readout="bayes").predict_proba(X[900:])
    np.testing.assert_array_equal(bayes, expected)


def test_softmax_with_decay():
    model = fitted(slice(0, 500), learning_rate=0.1, decay=1e-3)
    expected = softmax(model.decision_function(X[900:]), axis=1)
    np.testing.assert_allclose(model.predict_proba(X[900:]), expected)
