"""How unlike everything learned a sample is."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from kenyon import FlyClassifier, SparseCoder

X, Y = load_digits(return_X_y=True)
SMALL = {"n_cells": 500, "fan_in": 8, "n_active": 40, "inhibition": "cut"}


def taught(rows, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"learning_rate": 0.02},
        {"learning_rate": 0.1, "decay": 1e-3},
        {"learning_rate": ("auto", 1.0), "decay": (0.0, 1e-3)},
        {"readout": "bayes"},
    ],
)
def test_it_is_what_the_best_class_lacks(parameters):
    model = taught(slice(0, 600), **parameters)
    codes = SparseCoder(**SMALL).fit(X).transform(X[600:700])
    scores = model.set_params(readout="fly").decision_function(X[600:700])
    expected = 1 - scores.max(axis=1) / np.asarray(codes.sum(axis=1)).ravel()
    novelty = model.set_params(**parameters).novelty(X[600:700])
    np.testing.assert_allclose(novelty, expected, atol=1e-12)


def test_what_was_learned_is_familiar_and_what_no_cell_answers_to_is_not():
    model = taught([0], learning_rate=1000.0)
    assert model.novelty(X[:1]).tolist() == [0]
    assert model.novelty(np.zeros((1, 64))).tolist() == [1]


@pytest.mark.parametrize("n_later", [0, 20])
def test_with_ridge_it_is_also_the_say_in_its_own_score(n_later):
    model = taught(slice(0, 600), readout="ridge", penalty=0.1)
    model.predict(X[:1])
    model.partial_fit(X[600 : 600 + n_later + 1], Y[600 : 600 + n_later + 1])
    novelty, best = model.novelty(X[700:1000]), model.decision_function(X[700:1000]).max(axis=1)
    with model.circuit_.memory.reading as snapshot:
        L, unit = memory.pairs.expand(1), memory.factor.unit
    Phi = 255 * SparseCoder(**SMALL).fit(X).transform(X[700:1000]).toarray()
    G = L + np.tril(L, -1).T + 0.1 * unit * np.eye(500)
    once_learned = [phi @ np.linalg.solve(G + np.outer(phi, phi), phi) for phi in Phi[::30]]
    expected = (1 - np.clip(best[::30], 0, 1) + once_learned) / 2
    np.testing.assert_allclose(novelty[::30], expected, atol=1e-8)
    assert (novelty >= 0).all()
    assert (novelty <= 1).all()
    assert model.novelty(np.zeros((1, 64))).tolist() == [1]


@pytest.mark.parametrize("readout", ["fly", "ridge"])
def test_a_class_never_seen_is_more_novel(readout):
    known = taught(np.flatnonzero(Y[:900] < 5), readout=readout)
    novelty = known.novelty(X[900:])
    strange = Y[900:] >= 5
    assert np.median(novelty[strange]) > np.quantile(novelty[~strange], 0.9)
    more = known.partial_fit(X[:900][Y[:900] >= 5], Y[:900][Y[:900] >= 5]).novelty(X[900:])
    assert np.median(more[strange]) < np.median(novelty[strange])


def test_large_calls_in_pieces_are_the_same():
    model = taught(slice(0, 300))
    rows = np.tile(X, (6, 1))
    np.testing.assert_array_equal(model.novelty(rows), np.tile(model.novelty(X), 6))


def test_nothing_learned():
    with pytest.raises(NotFittedError):
        FlyClassifier().novelty(X)
