"""Extinction on a small dataset."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.experiments import extinction

DIGITS = load("digits")
SIZES = {"n_cells": 400, "fan_in": 6, "n_active": 40}


@pytest.fixture(scope="module")
def model():
    return FlyClassifier(**SIZES, readout="fly").fit(DIGITS.X_train, DIGITS.y_train)


def test_groups_split_a_class_and_others_are_of_other_classes():
    case = extinction.Case(DIGITS, 3, np.random.default_rng(0))
    (group, label), (rest, same), (others, y) = case.tests.values()
    own = DIGITS.X_test[DIGITS.y_test == 3]
    assert {*label.tolist(), *same.tolist()} == {3}
    assert sorted(group.tolist() + rest.tolist()) == sorted(own.tolist())
    assert 3 not in y
    assert len(others) == len(y)
    in_group = {tuple(row) for row in case.group.tolist()}
    assert in_group < {tuple(row) for row in DIGITS.X_train[DIGITS.y_train == 3].tolist()}


def test_only_the_class_loses(model):
    case = extinction.Case(DIGITS, 3, np.random.default_rng(0))
    before = case.test(model)
    own = DIGITS.X_test[DIGITS.y_test == 3]
    n_group, n_rest = (len(case.tests[name][1]) for name in ("group", "rest"))
    right = n_group * before["group"] + n_rest * before["rest"]
    assert right == pytest.approx((model.predict(own) == 3).sum())
    found = case.extinguish(model, 0.5)
    assert {name: values[0] for name, values in found.items()} == before == case.test(model)
    assert found["group"][-1] == 0 < before["group"]
    assert found["others"] == sorted(found["others"])
    assert case.unlearn(model)["rest"] >= found["rest"][-1]


def test_averages_cases_that_have_a_number():
    one, other = {"group": [1.0, 0.5]}, {"group": [0.5, 0.0]}
    assert extinction._average([one, other]) == {"group": [0.75, 0.25]}
    assert extinction._average([one, {"group": [np.nan, np.nan]}]) == one


def test_is_reproducible(monkeypatch):
    monkeypatch.setattr(extinction, "load", lambda name: DIGITS)
    monkeypatch.setattr(extinction, "DATASETS", {"digits": SIZES})
    monkeypatch.setattr(extinction, "N_CLASSES", 2)
    found = extinction.measure(seed=2)
    assert json.loads(json.dumps(found, allow_nan=False)) == found == extinction.measure(seed=2)
    found = found["digits"]
    for kind in ("group", "rest", "others"):
        assert np.shape(found[kind]) == (len(found["share"]), len(found["n_extinguished"]))
        assert 0 <= found["unlearned"][kind] <= 1
