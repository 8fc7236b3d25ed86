"""Default parameters of the first layer."""

from __future__ import annotations

import pytest

from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER, RIDGE_LAYER


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [
        (2, (400, 2, 100, True)),
        (4, (400, 2, 22, True)),
        (31, (1240, 3, 62, True)),
        (32, (1280, 3, 64, False)),
        (84, (3360, 8, 168, False)),
        (512, (20_000, 51, 1000, False)),
        (5000, (20_000, 64, 1000, False)),
    ],
)
def test_fly_layer(n_features, expected):
    coder = design_layer(n_features, FLY_LAYER)
    assert (coder.n_cells, coder.fan_in, coder.n_active, coder.on_off) == expected
    assert coder.inhibition == "cut"


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [(4, (400, 2, 200)), (84, (4100, 21, 2050)), (4096, (4100, 128, 2050))],
)
def test_ridge_layer(n_features, expected):
    coder = design_layer(n_features, RIDGE_LAYER)
    assert (coder.n_cells, coder.fan_in, coder.n_active) == expected
    assert coder.inhibition == "subtract"


def test_given_parameters_override_defaults():
    given = {"n_cells": 70, "fan_in": 3, "n_active": 9, "inhibition": "cut", "seed": 4}
    coder = design_layer(50, RIDGE_LAYER, **given, channels="on-off")
    assert coder.parameters() == {"n_features": 50, **given, "on_off": True}


@pytest.mark.parametrize("defaults", [FLY_LAYER, RIDGE_LAYER])
@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 40])
def test_winners_are_not_all_copies_of_one_cell(n_features, defaults):
    coder = design_layer(n_features, defaults)
    cells = [tuple(sorted(cell)) for cell in coder.native.connections.tolist()]
    assert max(cells.count(cell) for cell in set(cells)) < coder.n_active
