"""Two inputs through one circuit, against the circuit written a second time."""

import json

import numpy as np
import pytest

from kenyon.circuit import Coder
from kenyon_lab.data import load
from kenyon_lab.experiments import circuit
from tests import reference

SIZES = {"n_cells": 3200, "fan_in": 10, "n_active": 160}


@pytest.fixture(scope="module")
def found():
    return circuit.measure(seed=1)


@pytest.fixture(scope="module")
def codes():
    mnist = load("mnist20")
    coder = Coder.design(mnist.n_features, seed=1, **SIZES)
    return [reference.code(mnist.X_test[mnist.y_test == digit][0], coder) for digit in (3, 4)]


def test_the_cells_and_their_levels_are_those_of_the_code(found, codes):
    for taught, code in zip(found["inputs"], codes, strict=True):
        assert dict(zip(taught["cells"], taught["levels"], strict=True)) == code
    assert found["shared"] == sorted(codes[0].keys() & codes[1].keys())
    assert 0 < len(found["shared"]) < 80


def test_only_synapses_from_active_cells_to_the_class_change_by_the_level(found, codes):
    for taught, code, target in zip(found["inputs"], codes, (3, 4), strict=True):
        assert taught["target"] == target
        assert {rank for rank, *_ in taught["changed"]} == {target}
        assert {cell: after - before for _, cell, before, after in taught["changed"]} == code
        assert taught["n_frozen"] == 20 * 3200 - len(code)


def test_what_stays_is_the_memory_of_all_other_classes(found):
    first, second = found["inputs"]
    assert found["n_known"] == 120_000 - 6131 - 5842
    assert [len(cells) for cells in first["strongest"]] == [8] * 3 + [0, 0] + [8] * 15
    assert set(second["strongest"][3]) <= set(first["cells"])
    others = [rank for rank in range(20) if rank not in (3, 4)]
    for rank in others:
        assert first["strongest"][rank] == second["strongest"][rank]


def test_connections_are_those_of_the_wiring(found):
    wiring = reference.wiring(1, 84, 3200, 10)
    for taught in found["inputs"]:
        levels = dict(zip(taught["cells"], taught["levels"], strict=True))
        weakest = min(levels[cell] for cell, _ in taught["traced"])
        assert weakest >= sorted(levels.values())[-5]
        for cell, wired in taught["traced"]:
            assert sorted(wired) == wiring[cell].tolist()
            # A cell that is among the strongest sums more than chance would have it.
            features = np.array(taught["features"])
            assert features[wired].mean() > features.mean()


def test_a_finding_is_plain_and_small(found):
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) < 50_000
