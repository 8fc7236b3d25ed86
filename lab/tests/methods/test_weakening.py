"""Weakening against its rule, sample by sample, and against the fly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon_lab.data import load
from kenyon_lab.methods.fly import Fly
from kenyon_lab.methods.perceptron import Perceptron
from kenyon_lab.methods.weakening import Weakening
from tests import reference

SIZES = {"n_cells": 40, "fan_in": 2, "n_active": 5}
N_CLASSES = 4


def taught(method, *tasks, n_classes=N_CLASSES):
    method.begin(tasks[0][0].shape[1], n_classes)
    for X, y in tasks:
        method.learn_task(X, y)
    return method


def coarse(n, seed):
    """Samples of few values, so that scores are often equal."""
    return np.random.default_rng(seed).integers(0, 3, (n, 6)).astype(float)


# 255 / rate is a whole number for each of these, so that the steps are exact.
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(3, 10), Fraction(5)])
def test_every_sample_weakens_all_but_its_class(rate):
    X, y = coarse(90, 1), np.random.default_rng(1).integers(0, N_CLASSES, 90)
    method = taught(Weakening(learning_rate=float(rate), **SIZES), (X[:30], y[:30]), (X, y))
    weights = [[Fraction(1)] * SIZES["n_cells"] for _ in range(N_CLASSES)]
    for x, target in [*zip(X[:30], y[:30], strict=True), *zip(X, y, strict=True)]:
        for cell, level in reference.code(x, method.coder.coder_).items():
            for other in set(range(N_CLASSES)) - {target}:
                weights[other][cell] = max(
                    Fraction(0), weights[other][cell] - rate * Fraction(level, 255)
                )
    for x, predicted in zip(X, method.predict(X), strict=True):
        code = reference.code(x, method.coder.coder_)
        score = [sum(w[cell] * level for cell, level in code.items()) for w in weights]
        assert predicted == score.index(max(score))


@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=60),
    st.integers(0, 1000),
    st.sampled_from([1e-9, 0.003, 0.1, 0.77, 3.0, 1000.0]),
)
@settings(max_examples=40, deadline=None)
def test_of_two_classes_it_predicts_as_the_fly_does(labels, seed, rate):
    task = coarse(len(labels), seed), np.array(labels)
    fly = taught(Fly(learning_rate=rate, **SIZES), task, n_classes=2)
    weakening = taught(Weakening(learning_rate=rate, **SIZES), task, n_classes=2)
    tests = coarse(300, seed + 1)
    assert weakening.predict(tests).tolist() == fly.predict(tests).tolist()


def test_of_two_classes_it_decides_equal_scores_as_the_fly_does():
    task = coarse(200, 5), np.tile([0, 1], 100)
    fly = taught(Fly(learning_rate=0.1, **SIZES), task, n_classes=2)
    equal = fly.model.decision_function(task[0]) == 0
    assert 20 < equal.sum() < 180
    weakening = taught(Weakening(learning_rate=0.1, **SIZES), task, n_classes=2)
    assert (weakening.predict(task[0])[equal] == 0).all()


def test_of_ten_classes_the_others_undo_what_the_first_two_taught():
    digits = load("digits")
    here = digits.y_train < 2
    first, rest = (
        (digits.X_train[some], digits.y_train[some]) for some in (here, digits.y_train >= 2)
    )
    X, y = digits.X_test[digits.y_test < 2], digits.y_test[digits.y_test < 2]
    kept = {}
    for kind in (Fly, Weakening):
        method = taught(
            kind(n_cells=400, fan_in=6, n_active=20, learning_rate=0.03), first, n_classes=10
        )
        assert (method.predict(X) == y).mean() > 0.95
        method.learn_task(*rest)
        kept[kind] = (method.predict(X) == y).mean()
    assert kept[Weakening] < kept[Fly] - 0.15


def test_without_a_weight_at_zero_it_predicts_as_the_perceptron_that_always_strengthens():
    X, y = coarse(300, 7), np.random.default_rng(7).integers(0, N_CLASSES, 300)
    y[:N_CLASSES] = range(N_CLASSES)
    predicted = [
        taught(method, (X, y)).predict(coarse(300, 8)).tolist()
        for method in (
            Weakening(learning_rate=1e-6, **SIZES),
            Perceptron(rule=4, **SIZES),
            Weakening(learning_rate=0.1, **SIZES),
        )
    ]
    assert predicted[0] == predicted[1]
    assert predicted[0] != predicted[2]


def test_what_was_not_taught_is_not_predicted():
    X = coarse(50, 9)
    method = taught(Weakening(learning_rate=1000.0, **SIZES), (X, np.tile([2, 3], 25)))
    assert set(method.predict(coarse(300, 10)).tolist()) == {2, 3}


def test_the_learning_rate_is_a_number():
    with pytest.raises(ValueError, match="learning_rate must be a number above 0, but is 'auto'"):
        Weakening(learning_rate="auto").begin(6, 2)
