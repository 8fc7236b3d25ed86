"""One model read with many rates, against weights that are counted one by one."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.experiments import rates

DIGITS = load("digits")
MODEL = FlyClassifier(n_cells=300, fan_in=6).fit(DIGITS.X_train, DIGITS.y_train)
FOUND = rates.read(MODEL, DIGITS)


def test_shares_are_those_of_the_weights_in_floating_point():
    with MODEL.circuit_.memory.reading as memory:
        counts = memory.synapses
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


def test_reading_is_as_good_as_learning_anew():
    for rate in (FOUND["learning_rate"][8], FOUND["learning_rate"][-1], "auto"):
        anew = FlyClassifier(n_cells=300, fan_in=6, learning_rate=rate)
        score = anew.fit(DIGITS.X_train, DIGITS.y_train).score(DIGITS.X_test, DIGITS.y_test)
        read = (
            FOUND["auto"]["accuracy"]
            if rate == "auto"
            else FOUND["accuracy"][FOUND["learning_rate"].index(rate)]
        )
        assert read == pytest.approx(score, abs=1e-4)


def test_auto_stands_for_twenty_samples():
    expected = np.mean(20 / np.bincount(DIGITS.y_train))
    assert FOUND["auto"]["learning_rate"] == pytest.approx(expected, rel=0.01)


def test_the_papers_rate_is_among_them():
    assert rates.METHODS["fly"].paper["mnist20"]["learning_rate"] in rates.LEARNING_RATES
    assert (rates.LEARNING_RATES[0], rates.LEARNING_RATES[-1]) == (1e-4, 1.0)


def test_the_seed_is_the_wirings(monkeypatch):
    monkeypatch.setattr(rates, "load", lambda name: DIGITS)
    monkeypatch.setattr(rates, "DATASETS", {"digits": {"n_cells": 300, "fan_in": 6}})
    found = rates.measure(seed=0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["datasets"]["digits"] == FOUND != rates.measure(seed=1)["datasets"]["digits"]
