"""Perceptrons against the rules as they are written, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from kenyon_lab.data import load
from kenyon_lab.methods.fly import Fly
from kenyon_lab.methods.perceptron import CappedPerceptron, Perceptron, _change
from tests import reference

SIZES = {"n_cells": 60, "fan_in": 3, "n_active": 8}
N_CLASSES = 6
TASKS = ([1, 0], [4, 2, 5])  # and one that never comes
BETA = Fraction(1, 100)


def draw(classes, n, seed):
    """Overlapping classes, and one sample without an active cell."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    X = np.random.default_rng(0).random((N_CLASSES, 12))[y] + rng.random((n, 12))
    X[0] = 0
    return X, y


def fractions(x, coder):
    return {cell: Fraction(level, 255) for cell, level in reference.code(x, coder).items()}


class LiteralPerceptron:
    def __init__(self, rule, n_cells):
        self.rule = rule
        self.weights = [[Fraction(0)] * n_cells for _ in range(N_CLASSES)]

    def predict(self, code):
        score = [sum((w[cell] * x for cell, x in code.items()), Fraction(0)) for w in self.weights]
        return score.index(max(score))

    def learn(self, code, target):
        predicted = self.predict(code)
        mistake = predicted != target
        if self.rule == 1 and mistake:
            self.add(target, BETA, code)
            self.add(predicted, -BETA, code)
        elif self.rule == 2 and mistake:
            self.add(target, BETA, code)
        elif self.rule == 3:
            self.add(target, BETA, code)
            if mistake:
                self.add(predicted, -BETA, code)
        elif self.rule == 4:
            self.add(target, BETA, code)

    def add(self, target, step, code):
        for cell, x in code.items():
            self.weights[target][cell] += step * x


@pytest.mark.parametrize("rule", [1, 2, 3, 4])
def test_learns_by_its_rule(rule):
    method = Perceptron(rule=rule, **SIZES)
    method.begin(12, N_CLASSES)
    literal = LiteralPerceptron(rule, SIZES["n_cells"])
    tests, _ = draw(range(N_CLASSES), 60, seed=9)
    for task, classes in enumerate(TASKS):
        X, y = draw(classes, 150, seed=task)
        method.learn_task(X, y)
        for x, target in zip(X, y.tolist(), strict=True):
            literal.learn(fractions(x, method.coder.coder_), target)
        expected = [literal.predict(fractions(x, method.coder.coder_)) for x in tests]
        assert method.predict(tests).tolist() == expected
    scaled = [[w * 255 / BETA for w in weights] for weights in literal.weights]
    assert method.weights.T.tolist() == scaled


def test_blocks_are_learned_in_order():
    X, y = draw(range(N_CLASSES), 6000, seed=5)
    at_once, one_by_one = Perceptron(**SIZES), Perceptron(**SIZES)
    at_once.begin(12, N_CLASSES)
    one_by_one.begin(12, N_CLASSES)
    at_once.learn_task(X, y)
    for first in range(0, 6000, 1000):
        one_by_one.learn_task(X[first : first + 1000], y[first : first + 1000])
    assert np.array_equal(at_once.weights, one_by_one.weights)


def test_rule_4_is_the_fly_without_a_cap():
    digits = load("digits")
    predicted = []
    for method in (Perceptron(rule=4), Fly(learning_rate=1e-7), Fly(learning_rate=0.1)):
        method.begin(digits.n_features, digits.n_classes)
        method.learn_task(digits.X_train, digits.y_train)
        predicted.append(method.predict(digits.X_test).tolist())
    assert predicted[0] == predicted[1]
    assert predicted[0] != predicted[2]


class NaivePerceptron:
    """The rules in plain floating-point numbers: weights from 0 to 1, activities from 0 to 1."""

    def __init__(self, rule, n_cells, beta):
        self.rule, self.beta = rule, beta
        self.weights = np.zeros((n_cells, N_CLASSES))

    def learn(self, x, target):
        predicted = int(np.argmax(np.round(x @ self.weights, 9)))
        if self.rule in (3, 4) or predicted != target:
            self.weights[:, target] += self.beta * x
        if self.rule in (1, 3) and predicted != target:
            self.weights[:, predicted] -= self.beta * x
        self.weights = np.clip(self.weights, 0, 1)


@pytest.mark.parametrize("rule", [1, 2, 3, 4])
def test_capped_weights_are_clipped_after_every_sample(rule):
    beta = 0.5
    method = CappedPerceptron(rule=rule, **SIZES, learning_rate=beta)
    method.begin(12, N_CLASSES)
    naive = NaivePerceptron(rule, SIZES["n_cells"], beta)
    for task, classes in enumerate(TASKS):
        X, y = draw(classes, 300, seed=task)
        method.learn_task(X, y)
        for x, target in zip(method.coder.levels(X).toarray() / 255, y, strict=True):
            naive.learn(x, target)
        np.testing.assert_allclose(method.weights * beta / 255, naive.weights, atol=1e-9)
    assert naive.weights.max() == 1
    if rule in (1, 3):
        uncapped = Perceptron(rule=rule, **SIZES)
        uncapped.begin(12, N_CLASSES)
        for task, classes in enumerate(TASKS):
            uncapped.learn_task(*draw(classes, 300, seed=task))
        assert uncapped.weights.min() < 0


@pytest.mark.parametrize("beta", [0.001, 0.01, 0.2, 300.0])
def test_capped_rule_4_is_the_fly_bit_for_bit(beta):
    digits = load("digits")
    fly = Fly(learning_rate=beta)
    capped = CappedPerceptron(rule=4, learning_rate=beta)
    for method in (fly, capped):
        method.begin(digits.n_features, digits.n_classes)
    for classes in digits.tasks():
        task = np.isin(digits.y_train, classes)
        for method in (fly, capped):
            method.learn_task(digits.X_train[task], digits.y_train[task])
        assert np.array_equal(fly.predict(digits.X_test), capped.predict(digits.X_test))
    # The library divides a sum of integers by the highest level and the cap.
    scores = capped.scores(digits.X_test) / (255 * capped.bounds.highest)
    assert np.array_equal(scores, fly.model.decision_function(digits.X_test))


def test_capped_rule_4_is_the_same_one_sample_at_a_time():
    """Rules 1 to 3 change and clip weights for each sample; rule 4 needs to clip only once."""
    X, y = draw(range(N_CLASSES), 500, seed=3)
    capped = CappedPerceptron(rule=4, **SIZES, learning_rate=0.05)
    capped.begin(12, N_CLASSES)
    capped.learn_task(X, y)
    weights = np.zeros_like(capped.weights)
    for codes, target in zip(capped.coder.levels(X), y, strict=True):
        cells, levels = codes.indices.astype(np.intp), codes.data.astype(float)
        _change(weights[:, target], cells, levels, capped.bounds)
    assert np.array_equal(weights, capped.weights)


@pytest.mark.parametrize("learning_rate", [0, -1.0, "auto"])
def test_rejects_learning_rate(learning_rate):
    with pytest.raises(ValueError, match="learning_rate must be a number above 0"):
        CappedPerceptron(learning_rate=learning_rate).begin(12, N_CLASSES)


@pytest.mark.parametrize("rule", [0, 5, "1", None])
def test_rejects_unknown_rule(rule):
    with pytest.raises(ValueError, match="rule must be 1, 2, 3 or 4, but is"):
        Perceptron(rule=rule).begin(12, N_CLASSES)
