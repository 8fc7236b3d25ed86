"""Learning rates set after training, compared with the stored counters."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.experiments import rates
from kenyon_lab.theory.models import read_synapses

DIGITS = load("digits")
SIZES = {"n_cells": 300, "fan_in": 6, "n_active": 15}
MODEL = FlyClassifier(**SIZES, readout="fly").fit(DIGITS.X_train, DIGITS.y_train)
FOUND = rates.sweep(MODEL, DIGITS)


def test_shares_of_weights_at_the_cap():
    counts = read_synapses(MODEL)
    assert FOUND["used"] == pytest.approx((counts > 0).mean(), abs=1e-4)
    for i, rate in enumerate(FOUND["learning_rate"]):
        # The integer model rounds the cap, which is 255 / rate.
        low, high = (
            np.minimum(1, rate * counts / 255 * (1 + slack)) >= 1 for slack in (-0.003, 0.003)
        )
        assert low.mean() - 1e-4 <= FOUND["at_cap"][i] <= high.mean() + 1e-4
        of_used = FOUND["at_cap"][i] * counts.size / (counts > 0).sum()
        assert FOUND["at_cap_of_used"][i] == pytest.approx(of_used, abs=3e-4)
    assert FOUND["at_cap"][0] == 0 < FOUND["at_cap"][-1]


def test_equals_training_with_that_rate():
    for rate in (FOUND["learning_rate"][8], FOUND["learning_rate"][-1], "auto"):
        anew = FlyClassifier(**SIZES, readout="fly", learning_rate=rate)
        score = anew.fit(DIGITS.X_train, DIGITS.y_train).score(DIGITS.X_test, DIGITS.y_test)
        found = (
            FOUND["auto"]["accuracy"]
            if rate == "auto"
            else FOUND["accuracy"][FOUND["learning_rate"].index(rate)]
        )
        assert found == pytest.approx(score, abs=1e-4)


def test_auto_is_twenty_over_samples():
    expected = np.mean(20 / np.bincount(DIGITS.y_train))
    assert FOUND["auto"]["learning_rate"] == pytest.approx(expected, abs=1e-6)


def test_includes_the_papers_rate():
    assert rates.MNIST_MODEL["learning_rate"] in rates.LEARNING_RATES
    assert (rates.LEARNING_RATES[0], rates.LEARNING_RATES[-1]) == (1e-4, 1.0)


def test_seed_draws_the_wiring(monkeypatch):
    monkeypatch.setattr(rates, "load", lambda name: DIGITS)
    monkeypatch.setattr(rates, "DATASETS", {"digits": {"n_cells": 300, "fan_in": 6}})
    found = rates.measure(seed=0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["datasets"]["digits"] == FOUND != rates.measure(seed=1)["datasets"]["digits"]
