"""How sure a model is and how often right, against sums made one by one."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.experiments import calibration

DIGITS = load("digits")
SMALL = {"n_cells": 300, "fan_in": 6}


def test_the_error_is_the_mean_distance_of_bins():
    rng = np.random.default_rng(0)
    sure = np.append(rng.random(2000), [0.0, 1.0])
    right = rng.random(2002) < sure**2
    found = calibration.summarise(sure, right)
    error = 0.0
    for low in range(15):
        mine = (sure >= low / 15) & ((sure < (low + 1) / 15) | (low == 14))
        error += mine.mean() * abs(sure[mine].mean() - right[mine].mean())
        assert found["number"][low] == mine.sum()
        assert found["right"][low] == right[mine].sum()
    assert found["error"] == pytest.approx(error, abs=1e-4)
    assert found["adaptive_error"] == pytest.approx(1 / 6, abs=0.02)


def test_certainty_that_is_right_has_no_error():
    found = calibration.summarise(np.ones(10), np.ones(10, bool))
    assert (found["error"], found["adaptive_error"]) == (0, 0)


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
def test_digits_are_calibrated(readout):
    found = calibration.compare(DIGITS, FlyClassifier(**SMALL, readout=readout))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["error"] < 0.06
    assert sum(found["number"]) == len(DIGITS.y_test)
    assert sum(found["right"]) / len(DIGITS.y_test) == pytest.approx(found["accuracy"], abs=1e-4)
    assert found["softmax"]["right"] != found["right"]


def test_the_seed_is_the_wirings(monkeypatch):
    monkeypatch.setattr(calibration, "load", lambda name: DIGITS)
    monkeypatch.setattr(calibration, "SETTINGS", {"digits": {"fly": {**SMALL, "readout": "fly"}}})
    found = calibration.measure(seed=1)
    assert found == calibration.measure(seed=1) != calibration.measure(seed=2)


def test_every_readout_is_measured_on_both_datasets():
    assert set(calibration.SETTINGS) == {"mnist20-distorted", "clinc150"}
    for settings in calibration.SETTINGS.values():
        assert {p["readout"] for p in settings.values()} == {"fly", "bayes", "ridge"}
