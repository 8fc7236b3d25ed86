"""Novelty scores."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from kenyon import FlyClassifier, SparseCoder

X, Y = load_digits(return_X_y=True)
SMALL = {"n_cells": 500, "fan_in": 8, "n_active": 40, "channels": "raw", "inhibition": "cut"}


def fitted(rows, **parameters):
    return FlyClassifier(**{**SMALL, "readout": "fly", **parameters}).fit(X[rows], Y[rows])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"learning_rate": 0.02},
        {"learning_rate": 0.1, "decay": 1e-3},
        {"compartments": [("auto", 0.0), (1.0, 1e-3)]},
        {"readout": "bayes"},
    ],
)
def test_share_that_the_best_class_lacks(parameters):
    model = fitted(slice(0, 600), **parameters)
    codes = SparseCoder(**SMALL).fit(X).transform(X[600:700])
    scores = model.set_params(readout="fly").decision_function(X[600:700])
    expected = 1 - scores.max(axis=1) / np.asarray(codes.sum(axis=1)).ravel()
    novelty = model.set_params(**parameters).novelty(X[600:700])
    np.testing.assert_allclose(novelty, expected, atol=1e-12)


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
def test_score_samples_has_the_sign_of_scikit_learns_detectors(readout):
    known = np.flatnonzero(Y < 7)
    model = fitted(known, readout=readout)
    scores = model.score_samples(X)
    np.testing.assert_array_equal(scores, -model.novelty(X))
    assert roc_auc_score(Y < 7, scores) > 0.8
    outliers = scores < -model.novelty_threshold(0.1)
    np.testing.assert_array_equal(outliers, model.predict(X, -1, 0.1) == -1)
    assert 0 < outliers.mean() < 1


def test_extremes():
    model = fitted([0], learning_rate=1000.0)
    assert model.novelty(X[:1]).tolist() == [0]
    assert model.novelty(np.zeros((1, 64))).tolist() == [1]


@pytest.mark.parametrize("n_later", [0, 20])
def test_ridge_adds_the_leverage(n_later):
    model = fitted(slice(0, 600), readout="ridge", penalty=0.1)
    model.predict(X[:1])
    model.partial_fit(X[600 : 600 + n_later + 1], Y[600 : 600 + n_later + 1])
    novelty, best = model.novelty(X[700:1000]), model.decision_function(X[700:1000]).max(axis=1)
    with model.circuit_.memory.reading as snapshot:
        L, shift = snapshot.memory.pairs.expand(1), snapshot.cache.peek("ridge solution").shift
    Phi = 255 * SparseCoder(**SMALL).fit(X).transform(X[700:1000]).toarray()
    G = L + np.tril(L, -1).T + shift * np.eye(500)
    once_learned = [phi @ np.linalg.solve(G + np.outer(phi, phi), phi) for phi in Phi[::30]]
    expected = (1 - np.clip(best[::30], 0, 1) + once_learned) / 2
    np.testing.assert_allclose(novelty[::30], expected, atol=1e-8)
    assert (novelty >= 0).all()
    assert (novelty <= 1).all()
    assert model.novelty(np.zeros((1, 64))).tolist() == [1]


@pytest.mark.parametrize("readout", ["fly", "ridge"])
def test_unknown_classes_are_more_novel(readout):
    known = fitted(np.flatnonzero(Y[:900] < 5), readout=readout)
    novelty = known.novelty(X[900:])
    unknown = Y[900:] >= 5
    assert np.median(novelty[unknown]) > np.quantile(novelty[~unknown], 0.9)
    more = known.partial_fit(X[:900][Y[:900] >= 5], Y[:900][Y[:900] >= 5]).novelty(X[900:])
    assert np.median(more[unknown]) < np.median(novelty[unknown])


def test_large_calls_equal_several_batches():
    model = fitted(slice(0, 300))
    rows = np.tile(X, (6, 1))
    np.testing.assert_array_equal(model.novelty(rows), np.tile(model.novelty(X), 6))


def test_requires_fit():
    with pytest.raises(NotFittedError):
        FlyClassifier().novelty(X)
