"""Decay on a stream, compared with the paper's formula written out."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.experiments import decay

N_CLASSES = 3
LAYER = {"n_cells": 60, "fan_in": 3, "n_active": 8}
RATE = 0.2


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % N_CLASSES
    return np.random.default_rng(9).random((N_CLASSES, 12))[y] + rng.random((n, 12)), y


X, Y = draw(45, seed=1)
X_TEST, Y_TEST = draw(60, seed=2)
DATASET = SimpleNamespace(X_train=X, y_train=Y, X_test=X_TEST, y_test=Y_TEST, n_classes=N_CLASSES)
CODER = SparseCoder(**LAYER).fit(X)


def new_model(alpha):
    return FlyClassifier(**LAYER, readout="fly", learning_rate=RATE, decay=alpha)


def phi(samples):
    return CODER.transform(samples).toarray()


def literal_weights(samples, y, alpha):
    weights = np.zeros((60, N_CLASSES))
    for code, target in zip(phi(samples), y, strict=True):
        weights *= 1 - alpha
        weights[:, target] = np.minimum(1, weights[:, target] + RATE * code)
    return weights


def learn_mixed(monkeypatch, alpha, steps, passes):
    monkeypatch.setattr(decay, "STEPS", steps)
    monkeypatch.setattr(decay, "PASSES", passes)
    rates = {"learning_rate": RATE, "decay": alpha}
    (found,) = decay.learn_mixed([rates], LAYER, DATASET, X, Y)
    return found


@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.05])
def test_stream_follows_the_formula(monkeypatch, alpha):
    found = learn_mixed(monkeypatch, alpha, steps=(0, 15), passes=(1, 2))
    assert found["n_learned"] == [15, 45, 90]
    for i, n in enumerate(found["n_learned"]):
        weights = literal_weights(np.tile(X, (2, 1))[:n], np.tile(Y, 2)[:n], alpha)
        scores = np.round(phi(X_TEST) @ weights, 9)
        tied = (np.sort(scores)[:, -1] == np.sort(scores)[:, -2]).mean()
        at_cap = (weights >= 0.99).sum()
        assert found["accuracy"][i] == pytest.approx((scores.argmax(1) == Y_TEST).mean(), abs=1e-4)
        assert found["tied"][i] == pytest.approx(tied, abs=1e-4)
        assert found["at_cap"][i] == pytest.approx(at_cap / weights.size, abs=1e-4)
        assert found["at_cap_of_used"][i] == pytest.approx(at_cap / (weights > 0).sum(), abs=1e-4)
    assert found["at_cap"][-1] > found["at_cap"][0]


def test_repeated_samples_add_up_to_the_cap(monkeypatch):
    found = learn_mixed(monkeypatch, 0.0, steps=(0,), passes=(1, 2, 4))
    sums = phi(X).T @ (Y[:, np.newaxis] == np.arange(N_CLASSES))
    for n_passes, at_cap in zip((1, 2, 4), found["at_cap"], strict=True):
        weights = np.minimum(1, RATE * n_passes * sums)
        assert at_cap == pytest.approx((weights >= 0.99).mean(), abs=1e-4)


def test_class_by_class_is_tested_on_classes_so_far():
    order = np.argsort(Y, kind="stable")
    expected = []
    for n_classes in range(1, N_CLASSES + 1):
        so_far = order[Y[order] < n_classes]
        weights = literal_weights(X[so_far], Y[so_far], 0.05)[:, :n_classes]
        predicted = np.round(phi(X_TEST) @ weights, 9).argmax(1)
        expected.append((predicted == Y_TEST)[n_classes > Y_TEST].mean())
    found = decay.learn_in_turn(new_model(0.05), DATASET)
    assert found == pytest.approx(expected, abs=1e-4)
    assert found[0] == 1 > found[-1]


def test_decay_is_needed_once_it_stays_better():
    def one(alpha, accuracy, learning_rate=0.01):
        mixed = {"n_learned": [1, 2, 3, 4], "accuracy": accuracy}
        return {"learning_rate": learning_rate, "decay": alpha, "mixed": mixed}

    none, small, large = (
        one(0.0, [0.5, 0.7, 0.6, 0.5]),
        one(1e-5, [0.6, 0.6, 0.7, 0.7]),
        one(1e-4, [0.9, 0.9, 0.9, 0.6]),
    )
    auto = one(0.0, [1.0, 1.0, 1.0, 1.0], "auto")
    found = decay.compare([none, small, large, auto])
    assert found == {"best_decay": 1e-5, "needed_after": 3}
    assert decay.compare([none, one(1e-5, [0.9, 0.9, 0.9, 0.4])])["needed_after"] is None


def test_all_rates_see_the_same_samples(monkeypatch):
    monkeypatch.setattr(decay, "load", lambda name: load("digits"))
    monkeypatch.setattr(decay, "STEPS", (0, 200))
    monkeypatch.setattr(decay, "PASSES", (1, 2))
    found = decay.measure(seed=1)
    assert json.loads(json.dumps(found, allow_nan=False)) == found == decay.measure(seed=1)
    assert [one["decay"] for one in found["compared"]] == [0, 1e-7, 1e-6, 1e-5, 1e-4, 0]
    assert {one["learning_rate"] for one in found["compared"]} == {0.01, "auto"}
    n = found["n_samples"]
    for one in found["compared"]:
        assert one["mixed"]["n_learned"] == [200, n, 2 * n]
        assert len(one["in_turn"]) == 10
    # Without decay the order does not matter.
    for one in (found["compared"][0], found["compared"][-1]):
        assert one["mixed"]["accuracy"][1] == one["in_turn"][-1]
