"""The other readouts as methods of the bench."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.methods.fly import ReadoutMethod
from kenyon_lab.methods.layer import FLY_LAYER, RIDGE_LAYER


@pytest.mark.parametrize("readout", ["bayes", "ridge"])
def test_is_the_classifier(readout):
    digits = load("digits")
    method = ReadoutMethod(readout=readout, n_cells=500, seed=3, n_threads=1)
    method.begin(digits.n_features, digits.n_classes)
    for classes in ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9]):
        rows = np.isin(digits.y_train, classes)
        method.learn_task(digits.X_train[rows], digits.y_train[rows])
    rule = RIDGE_LAYER if readout == "ridge" else FLY_LAYER
    layer = rule.complete(digits.n_features, n_cells=500)
    model = FlyClassifier(**layer, readout=readout, random_state=3, n_threads=1)
    model.fit(digits.X_train, digits.y_train)
    assert (method.predict(digits.X_test) == model.predict(digits.X_test)).all()


def test_the_default_is_that_of_the_library():
    digits = load("digits")
    method = METHODS["kenyon"].make(seed=3)
    method.begin(digits.n_features, digits.n_classes)
    method.learn_task(digits.X_train, digits.y_train)
    model = FlyClassifier(random_state=3).fit(digits.X_train, digits.y_train)
    assert (method.predict(digits.X_test) == model.predict(digits.X_test)).all()


def test_parameters_are_counters_and_pairs():
    counters, pairs = 300 * 10, 300 * 301 // 2
    for readout, stored in (("bayes", counters), ("ridge", counters + pairs)):
        method = ReadoutMethod(readout=readout, n_cells=300)
        method.begin(64, 10)
        method.learn_task(np.eye(64), np.arange(64) % 10)
        assert method.n_parameters == stored
