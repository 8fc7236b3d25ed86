"""Suggested parameters are valid and better than the defaults."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import FlyClassifier
from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.suggest import (
    choose_active,
    choose_fan_in,
    choose_learning_rate,
    expected_level,
    suggest,
)
from kenyon_lab.data import load


@given(st.integers(1, 5000), st.integers(1, 10**6), st.integers(1, 10**5))
@settings(max_examples=20, deadline=None)
def test_any_input_gives_valid_parameters(n_features, n_classes, n_samples):
    suggested = suggest(n_features, n_classes, n_samples)
    rate = suggested.pop("learning_rate")
    assert 0 < rate <= 1
    coder = design_layer(n_features, FLY_LAYER, **suggested)
    assert coder.n_cells * n_classes <= 2**28
    assert coder.n_active <= coder.n_cells // 2


def test_better_than_the_defaults_on_digits():
    digits = load("digits")
    suggested = suggest(digits.n_features, digits.n_classes, 144)
    suggested_score, default_score = (
        FlyClassifier(**parameters)
        .fit(digits.X_train, digits.y_train)
        .score(digits.X_test, digits.y_test)
        for parameters in (suggested, {"readout": "fly"})
    )
    assert suggested_score > default_score + 0.01


def test_winners_grow_with_features_and_fall_with_cells():
    assert choose_active(50, 5000, 100) < choose_active(500, 5000, 100)
    assert choose_active(50, 20_000, 100) < choose_active(50, 5000, 100)


def test_cap_is_twice_the_mean_count():
    for active in (0.02, 0.05, 0.1):
        for n_samples in (300, 1000, 20_000):
            rate = choose_learning_rate(active, 10**4, n_samples)
            cap = 1 / (rate * expected_level(active, 10**4))
            assert 1.7 < cap / (active * n_samples) < 2.5


def test_learning_rate_falls_with_samples():
    rates = [choose_learning_rate(0.05, 10**4, n) for n in (1, 10, 100, 1000, 10**4)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 1


def test_fan_in_is_at_most_half_the_channels():
    assert choose_fan_in(20, 0.05) == 10
    assert choose_fan_in(2, 0.05) == choose_fan_in(1, 0.05) == 1
    assert choose_fan_in(1000, 0.05) == 28


@pytest.mark.parametrize("name", ["n_features", "n_classes", "samples_per_class"])
def test_rejects_zero(name):
    given = {"n_features": 10, "n_classes": 2, "samples_per_class": 5, name: 0}
    with pytest.raises(ValueError, match=f"{name} must be from 1"):
        suggest(**given)
