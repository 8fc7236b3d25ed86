"""Two inputs in one circuit, compared with the codes of a SparseCoder."""

import json

import numpy as np
import pytest

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.experiments import circuit
from kenyon_lab.theory.models import MNIST_LAYER

MNIST = load("mnist20")
CODER = SparseCoder(**MNIST_LAYER, random_state=0).fit(MNIST.X_test)


@pytest.fixture(scope="module")
def found():
    return circuit.measure(seed=0)


@pytest.fixture(scope="module")
def codes():
    levels = [CODER.levels(MNIST.X_test[MNIST.y_test == digit][:1]) for digit in (3, 4)]
    return [dict(zip(x.indices.tolist(), x.data.tolist(), strict=True)) for x in levels]


def test_cells_and_levels_are_those_of_the_code(found, codes):
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


def test_other_classes_keep_their_synapses(found):
    first, second = found["inputs"]
    assert found["n_known"] == 120_000 - 6131 - 5842
    assert [len(cells) for cells in first["strongest"]] == [8] * 3 + [0, 0] + [8] * 15
    assert set(second["strongest"][3]) <= set(first["cells"])
    others = [rank for rank in range(20) if rank not in (3, 4)]
    for rank in others:
        assert first["strongest"][rank] == second["strongest"][rank]


def test_traced_cells_are_the_strongest_with_their_connections(found):
    for taught in found["inputs"]:
        levels = dict(zip(taught["cells"], taught["levels"], strict=True))
        weakest = min(levels[cell] for cell, _ in taught["traced"])
        assert weakest >= sorted(levels.values())[-5]
        features = np.array(taught["features"])
        for cell, connected in taught["traced"]:
            assert connected == CODER.connections_[cell].tolist()
            assert features[connected].mean() > features.mean()


def test_finding_is_plain_and_small(found):
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) < 50_000
