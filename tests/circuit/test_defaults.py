"""What a first layer is like where nobody says."""

from __future__ import annotations

import pytest

from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER, RIDGE_LAYER


@pytest.mark.parametrize(
    ("n_features", "sizes"), [(4, (400, 2, 200)), (84, (4100, 21, 2050)), (4096, (4100, 128, 2050))]
)
def test_half_of_the_cells_for_pairs(n_features, sizes):
    coder = design_layer(n_features, RIDGE_LAYER)
    assert (coder.n_cells, coder.fan_in, coder.n_active) == sizes
    assert coder.inhibition == "subtract"


def test_what_is_given_is_kept():
    coder = design_layer(50, FLY_LAYER, n_cells=70, fan_in=3, n_active=9, inhibition="cut", usual=BROAD)
    assert (coder.n_cells, coder.fan_in, coder.n_active, coder.inhibition) == (70, 3, 9, "cut")


@pytest.mark.parametrize("usual", [SPARSE, BROAD])
@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 40])
def test_winners_are_not_all_copies_of_one_cell(n_features, usual):
    coder = design_layer(n_features, FLY_LAYER, usual=usual)
    cells = [tuple(sorted(cell)) for cell in coder.native.connections.tolist()]
    assert max(cells.count(cell) for cell in set(cells)) < coder.n_active
