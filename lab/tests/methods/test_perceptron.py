"""Perceptrons against the rules as they are written, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from kenyon_lab.data import load
from kenyon_lab.methods.fly import Fly
from kenyon_lab.methods.perceptron import Perceptron
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


@pytest.mark.parametrize("rule", [0, 5, "1", None])
def test_rejects_unknown_rule(rule):
    with pytest.raises(ValueError, match="rule must be 1, 2, 3 or 4, but is"):
        Perceptron(rule=rule).begin(12, N_CLASSES)
