"""Which memories unlearn, merge and extinguish, and the errors of the others."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kenyon._validation import design_layer
from kenyon.circuit import (
    Circuit,
    CompartmentMemory,
    CountingMemory,
    DecayingMemory,
    Extinguishes,
    Merges,
    PairingMemory,
    Rates,
    Unlearns,
)
from kenyon.circuit.defaults import FLY_LAYER
from tests.reading import AUTO, state

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
X = np.random.default_rng(1).standard_normal((4, 12))
Y = [1, 2, 1, 2]
FAST = Rates(0.5, 0.1)
ORDER = "with decay the weights depend on the order of the samples"
PAIRS = "readout 'ridge' computes every weight from all pairs of cells"

MEMORIES = {
    "counting": (CountingMemory, AUTO, {Unlearns, Merges, Extinguishes}, None),
    "pairing": (PairingMemory, AUTO, {Unlearns, Merges}, PAIRS),
    "decaying": (DecayingMemory, (FAST,), {Extinguishes}, ORDER),
    "compartments": (
        lambda n_cells: CompartmentMemory(n_cells, [0.0, 0.1]),
        (*AUTO, FAST),
        {Extinguishes},
        ORDER,
    ),
}
CALLS = {
    Unlearns: ("unlearn", lambda circuit, rates: circuit.unlearn([(X[:1], Y[:1])], 1)),
    Merges: ("merge", lambda circuit, rates: circuit.merge([circuit])),
    Extinguishes: (
        "extinguish",
        lambda circuit, rates: circuit.extinguish(X[:1], Y[:1], 0.5, rates, 1),
    ),
}


def learned(name):
    kind, rates, *_ = MEMORIES[name]
    circuit = Circuit(CODER, kind(CODER.n_cells))
    circuit.learn(X, Y, rates, 1)
    return circuit


def now(circuit):
    with circuit.memory.reading as snapshot:
        return state(snapshot.memory)


@pytest.mark.parametrize("capability", CALLS)
@pytest.mark.parametrize("name", MEMORIES)
def test_a_memory_has_a_capability_or_the_error_says_why_not(name, capability):
    _, rates, capabilities, reason = MEMORIES[name]
    circuit, (verb, call) = learned(name), CALLS[capability]
    before = now(circuit)
    with circuit.memory.reading as snapshot:
        assert isinstance(snapshot.memory, capability) == (capability in capabilities)
    if capability in capabilities:
        call(circuit, rates)
        assert now(circuit) != before
    else:
        with pytest.raises(ValueError, match=f"^{verb} is not possible: {re.escape(reason)}$"):
            call(circuit, rates)
        assert now(circuit) == before


@pytest.mark.parametrize("name", ["decaying", "compartments"])
def test_sums_do_not_merge_with_decaying_weights(name):
    for one, other in [("counting", name), (name, "counting")]:
        circuit = learned(one)
        before = now(circuit)
        with pytest.raises(ValueError, match=f"^merge is not possible: {ORDER}$"):
            circuit.merge([learned(other)])
        assert now(circuit) == before


def test_memories_with_and_without_pairs_do_not_merge():
    for one, other in [("counting", "pairing"), ("pairing", "counting")]:
        circuit = learned(one)
        before = now(circuit)
        with pytest.raises(ValueError, match=r"counts pairs of cells, .* cannot be merged with"):
            circuit.merge([learned(other)])
        assert now(circuit) == before
