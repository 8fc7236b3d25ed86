"""Default parameters of the first layer."""

from __future__ import annotations

import pytest

from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER, RIDGE_LAYER


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [
        (2, (400, 2, 100, "on-off")),
        (4, (400, 2, 22, "on-off")),
        (31, (1240, 3, 62, "on-off")),
        (32, (1280, 3, 64, "raw")),
        (84, (3360, 8, 168, "raw")),
        (512, (20_000, 51, 1000, "raw")),
        (5000, (20_000, 64, 1000, "raw")),
    ],
)
def test_fly_layer(n_features, expected):
    coder = design_layer(n_features, FLY_LAYER)
    assert (coder.n_cells, coder.fan_in, coder.n_active, coder.channels) == expected
    assert coder.inhibition == "cut"


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [
        (4, (400, 2, 200, "on-off")),
        (32, (1920, 8, 960, "signed")),
        (84, (2304, 21, 1152, "signed")),
        (4096, (2304, 128, 1152, "signed")),
    ],
)
def test_ridge_layer(n_features, expected):
    coder = design_layer(n_features, RIDGE_LAYER)
    assert (coder.n_cells, coder.fan_in, coder.n_active, coder.channels) == expected
    assert coder.inhibition == "subtract"


def test_given_parameters_override_defaults():
    given = {"n_cells": 70, "fan_in": 3, "n_active": 9, "inhibition": "cut", "seed": 4}
    coder = design_layer(50, RIDGE_LAYER, **given, channels="on-off")
    assert coder.parameters() == {"n_features": 50, **given, "channels": "on-off"}


@pytest.mark.parametrize("defaults", [FLY_LAYER, RIDGE_LAYER])
@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 40])
def test_winners_are_not_all_copies_of_one_cell(n_features, defaults):
    coder = design_layer(n_features, defaults)
    cells = [tuple(sorted(cell)) for cell in coder.native.connections.tolist()]
    assert max(cells.count(cell) for cell in set(cells)) < coder.n_active
