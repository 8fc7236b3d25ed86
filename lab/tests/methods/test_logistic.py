"""Logistic regression against its gradient, written out in NumPy."""

import numpy as np
import pytest

from kenyon_lab.methods.logistic import LogisticRegression
from lab.tests.methods.slow_code import dense_code
from tests import reference

N_CELLS, N_CLASSES = 50, 4


def draw(n, seed, classes=range(N_CLASSES)):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    X = np.random.default_rng(0).random((N_CLASSES, 40))[y] + rng.random((n, 40))
    return X.astype(np.float32), y


def codes(X, method):
    if method.code == "dense":
        return np.array([dense_code(x, method.coder) for x in X]) / 255
    dense = np.zeros((len(X), N_CELLS))
    for row, x in zip(dense, X, strict=True):
        for cell, level in reference.code(x, method.coder.coder_).items():
            row[cell] = level / 255
    return dense


@pytest.mark.parametrize("code", ["sparse", "dense"])
def test_each_batch_is_a_step_along_the_gradient(code):
    method = LogisticRegression(
        code=code, n_cells=N_CELLS, fan_in=3, batch_size=16, learning_rate=0.3
    )
    method.begin(40, N_CLASSES)
    weights, bias = np.zeros((N_CLASSES, N_CELLS)), np.zeros(N_CLASSES)
    for X, y in (draw(40, 1, [0, 1]), draw(55, 2, [2, 3])):
        method.learn_task(X, y)
        for first in range(0, len(X), 16):
            batch, targets = codes(X[first : first + 16], method), y[first : first + 16]
            odds = np.exp(batch @ weights.T + bias)
            error = odds / odds.sum(axis=1, keepdims=True) - np.eye(N_CLASSES)[targets]
            weights -= 0.3 * error.T @ batch / len(batch)
            bias -= 0.3 * error.mean(axis=0)
    np.testing.assert_allclose(method.weights.detach(), weights, atol=1e-5)
    np.testing.assert_allclose(method.bias.detach(), bias, atol=1e-5)
    tests, _ = draw(60, 3)
    scores = codes(tests, method) @ weights.T + bias
    assert method.predict(tests).tolist() == scores.argmax(axis=1).tolist()
    assert len(set(method.predict(tests).tolist())) > 1
    assert method.n_parameters == N_CLASSES * (N_CELLS + 1)
    assert method.n_shown == 95


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"code": "thin"}, "code must be one of 'sparse', 'dense', but is 'thin'"),
        ({"code": "dense", "n_active": 5}, "n_active must be None for a dense code, but is 5"),
        ({"learning_rate": -1}, "learning_rate must be a number above 0, but is -1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LogisticRegression(**parameters).begin(40, N_CLASSES)
