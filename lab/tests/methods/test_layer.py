"""The lab's own rules for the sizes of the first layer."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon_lab.methods import METHODS
from kenyon_lab.methods.layer import FLY_LAYER, RIDGE_LAYER


@pytest.mark.parametrize(
    ("n_features", "fly", "ridge"),
    [
        (1, (400, 1, 300), (400, 1, 300)),
        (2, (400, 2, 100), (400, 2, 200)),
        (10, (400, 2, 20), (600, 2, 300)),
        (40, (1600, 4, 80), (2400, 10, 1200)),
        (84, (3360, 8, 168), (4100, 21, 2050)),
        (384, (15_360, 38, 768), (4100, 96, 2050)),
        (512, (20_000, 51, 1000), (4100, 128, 2050)),
        (784, (20_000, 64, 1000), (4100, 128, 2050)),
    ],
)
def test_sizes_of_stored_results(n_features, fly, ridge):
    channels = "on-off" if n_features < 32 else "raw"
    for rule, sizes, inhibition in ((FLY_LAYER, fly, "cut"), (RIDGE_LAYER, ridge, "subtract")):
        assert tuple(rule.complete(n_features).values()) == (*sizes, inhibition, channels)


def test_given_sizes_are_kept_and_the_rest_follows_from_them():
    assert list(FLY_LAYER.complete(84, 2000).values())[:3] == [2000, 8, 100]
    assert list(RIDGE_LAYER.complete(84, 12_000, 5, 7).values())[:3] == [12_000, 5, 7]


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"n_cells": 0}, "n_cells must be from 1"),
        ({"fan_in": 85}, r"fan_in must be from 1 to 84 \(X has 84 channels\), but is 85"),
    ],
)
def test_refuses_impossible_sizes(sizes, sentence):
    with pytest.raises(ValueError, match=sentence):
        FLY_LAYER.complete(84, **sizes)


@pytest.mark.parametrize("name", ["fly", "bayes", "ridge"])
def test_methods_leave_nothing_of_the_circuit_to_the_library(name):
    """Whatever the library's defaults become, stored results stay those of these models."""
    method = METHODS[name].make()
    method.begin(84, 3)
    method.learn_task(np.eye(84)[:6], [0, 1, 2, 0, 1, 2])
    given = method.model.get_params()
    rule = RIDGE_LAYER if name == "ridge" else FLY_LAYER
    assert {key: given[key] for key in rule.complete(84)} == rule.complete(84)
    assert given["readout"] == name
