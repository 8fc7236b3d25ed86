"""scikit-learn's tools that hold other estimators: frozen, calibrated and searched models."""

import numpy as np
import pytest
import sklearn
import sklearn.pipeline
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.class_weight import compute_sample_weight

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline
from tests.reading import model_state

TEXTS = [f"{word} {i}" for i in range(6) for word in ("card", "flight")]
INTENTS = ["bank", "travel"] * 6
FRACTION = "sample_weight must be whole numbers from 0 to .*: the memory holds sums"


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def small(**parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "bayes", **parameters})


def weighted(**parameters):
    fly = small(**parameters)
    return fly.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)


def texts():
    return make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=200))


def test_a_frozen_model_is_fitted_no_more(digits):
    X, y = digits
    fly = small().fit(X[:300], y[:300])
    before, frozen = model_state(fly), FrozenEstimator(fly)
    frozen.fit(X[300:], y[300:])
    assert clone(frozen).estimator is fly
    assert model_state(fly) == before
    assert_array_equal(frozen.predict_proba(X), fly.predict_proba(X))


def test_a_frozen_model_goes_on_learning_where_it_is_told_to(digits):
    X, y = digits
    fly = small().fit(X[:300], y[:300])
    FrozenEstimator(fly).partial_fit(X[300:], y[300:])
    assert model_state(fly) == model_state(small().fit(X, y))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_frozen_model_is_calibrated_on_other_samples(method, digits):
    X, y = digits
    fly = FlyClassifier(n_cells=400).fit(X[:300], y[:300])
    before = model_state(fly)
    calibrated = CalibratedClassifierCV(FrozenEstimator(fly), method=method)
    calibrated.fit(X[300:450], y[300:450])
    assert model_state(fly) == before
    shares = calibrated.predict_proba(X[450:])
    assert_allclose(shares.sum(axis=1), 1)
    assert calibrated.score(X[450:], y[450:]) > 0.7
    assert np.abs(shares - fly.predict_proba(X[450:])).max() > 0.01


@pytest.mark.parametrize("ensemble", [True, False])
def test_models_are_calibrated_by_cross_validation(ensemble, digits):
    X, y = digits
    calibrated = CalibratedClassifierCV(FlyClassifier(n_cells=400), cv=3, ensemble=ensemble)
    assert calibrated.fit(X[:450], y[:450]).score(X[450:], y[450:]) > 0.8


def test_pipelines_of_texts_are_calibrated():
    for estimator in texts(), FrozenEstimator(texts().fit(TEXTS, INTENTS)):
        calibrated = CalibratedClassifierCV(estimator, cv=2).fit(TEXTS, INTENTS)
        assert calibrated.predict(["card", "flight"]).tolist() == ["bank", "travel"]


def test_whole_weights_reach_a_calibrated_model(digits):
    X, y = digits
    weights = 1.0 + np.arange(len(y)) % 3
    folds = KFold(3)
    calibrated = CalibratedClassifierCV(small(), cv=folds).fit(X, y, sample_weight=weights)
    for (train, _), each in zip(folds.split(X), calibrated.calibrated_classifiers_, strict=True):
        expected = small().fit(X[train], y[train], sample_weight=weights[train])
        assert model_state(each.estimator) == model_state(expected)


def test_fractions_as_weights_are_refused(digits):
    X, y = digits
    halves = np.full(len(y), 0.5)
    for call in (
        lambda: CalibratedClassifierCV(small(), cv=2).fit(X, y, sample_weight=halves),
        lambda: AdaBoostClassifier(small(), n_estimators=2).fit(X, y),
        lambda: small().fit(X, y, sample_weight=compute_sample_weight("balanced", y)),
    ):
        with pytest.raises(ValueError, match=FRACTION):
            call()
    assert BaggingClassifier(small(), n_estimators=2).fit(X, y).score(X, y) > 0.8


@pytest.mark.usefixtures("routing")
def test_fractions_weigh_the_calibration_alone_where_the_model_does_not_want_them(digits):
    X, y = digits
    estimator = small().set_fit_request(sample_weight=False)
    halves = 0.5 + np.arange(len(y)) % 2
    calibrated = CalibratedClassifierCV(estimator, cv=2).fit(X, y, sample_weight=halves)
    plain = CalibratedClassifierCV(estimator, cv=2).fit(X, y)
    for one, other in zip(
        calibrated.calibrated_classifiers_, plain.calibrated_classifiers_, strict=True
    ):
        assert model_state(one.estimator) == model_state(other.estimator)
    assert np.abs(calibrated.predict_proba(X) - plain.predict_proba(X)).max() > 1e-6


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_fit_and_score(digits):
    X, y = digits
    weights = np.where(y < 5, 3, 0)
    weights[::7] = 1
    folds = KFold(3)
    model = sklearn.pipeline.make_pipeline(MinMaxScaler(), weighted())
    found = cross_validate(model, X, y, cv=folds, params={"sample_weight": weights})
    expected = []
    for train, test in folds.split(X):
        scaler = MinMaxScaler().fit(X[train])
        fly = small().fit(scaler.transform(X[train]), y[train], sample_weight=weights[train])
        expected.append(fly.score(scaler.transform(X[test]), y[test], sample_weight=weights[test]))
    assert found["test_score"].tolist() == expected
    assert cross_validate(model, X, y, cv=folds)["test_score"].tolist() != expected


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_by_a_grid_search(digits):
    X, y = digits
    weights = 1 + np.arange(len(y)) % 2
    search = GridSearchCV(weighted(), {"pseudocount": [0.1, 1.0]}, cv=2)
    best = search.fit(X, y, sample_weight=weights).best_estimator_
    assert best.n_samples_seen_ == weights.sum()
    with pytest.raises(UnsetMetadataPassedError, match="set_fit_request"):
        GridSearchCV(small(), {}, cv=2).fit(X, y, sample_weight=weights)
    unweighted = weighted().set_fit_request(sample_weight=False)
    search = GridSearchCV(unweighted, {}, cv=2).fit(X, y, sample_weight=weights)
    assert search.best_estimator_.n_samples_seen_ == len(y)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline_of_texts():
    weights = [2] * len(TEXTS)
    model = make_pipeline(TextEncoder("hashing"), weighted())
    assert model.fit(TEXTS, INTENTS, sample_weight=weights).n_samples_seen_ == 24
    assert model.partial_fit(TEXTS[:1], INTENTS[:1], sample_weight=[5]).n_samples_seen_ == 29
    search = GridSearchCV(model, {"flyclassifier__pseudocount": [0.1, 1.0]}, cv=2)
    search.fit(TEXTS, INTENTS, sample_weight=weights)
    assert search.best_estimator_.n_samples_seen_ == 24
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        texts().fit(TEXTS, INTENTS, sample_weight=weights)


def test_weights_reach_a_pipeline_of_texts_without_routing():
    search = GridSearchCV(texts(), {"flyclassifier__penalty": [0.1, 1.0]}, cv=2)
    search.fit(TEXTS, INTENTS, sample_weight=[2] * len(TEXTS))
    assert search.best_estimator_.n_samples_seen_ == 24


@pytest.mark.parametrize("enabled", [False, True])
def test_the_label_of_unknown_samples_is_routed(enabled, digits):
    X, y = digits
    with sklearn.config_context(enable_metadata_routing=enabled):
        fly = small(readout="ridge")
        if enabled:
            fly.set_predict_request(unknown=True, false_alarms=True)
        model = sklearn.pipeline.make_pipeline(MinMaxScaler(), fly).fit(X[y < 5], y[y < 5])
        answers = model.predict(X[y >= 5], unknown=-1, false_alarms=0.1)
    assert (answers == -1).mean() > 0.5
