"""Compartments against single memories, and together as one memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon._validation import RATE_WITH_DECAY, check_rates, design_layer
from kenyon.circuit import Circuit, CompartmentMemory, CountingMemory, DecayingMemory, Rates
from kenyon.circuit.calibration_sample import TENSORS
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.readouts import FlyReadout
from tests.reading import AUTO, best, restored, saturation, scores, snapshot, state

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
POOL = np.random.default_rng(1).standard_normal((40, 12))
CODES = CODER.native.encode(POOL, 1)
SLOW, FAST = Rates(), Rates(0.7, 0.05)
TWO = (SLOW, FAST)
DECAYING_FIRST = (Rates(0.3, 0.2), Rates(0.1), FAST)

samples = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 9)), min_size=1, max_size=60)


def encode(chosen):
    rows = [row for row, _ in chosen]
    return CODER.native.encode(POOL[rows], 1), [label for _, label in chosen]


def learned(chosen, rates=TWO):
    memory = CompartmentMemory(CODER.n_cells, [one.decay for one in rates])
    memory.learn(*encode(chosen), rates)
    return memory


def single(chosen, rates):
    """Return a memory without compartments, and without a calibration sample as they are."""
    memory = (DecayingMemory if rates.decay else CountingMemory)(CODER.n_cells)
    codes, y = encode(chosen)
    if not rates.decay:
        _, ranks, labels = memory.labels.admit(y)
        memory.store.insert(ranks, labels)
        memory.store.disable_calibration(memory.store.slot_of_rank)
    memory.learn(codes, y, (rates,))
    return memory


@given(samples, st.sampled_from([TWO, DECAYING_FIRST]))
@settings(max_examples=30, deadline=None)
def test_compartments_learn_alone_and_the_highest_score_counts(chosen, rates):
    memory = learned(chosen, rates)
    parts = [single(chosen, one) for one in rates]
    assert [state(part) for part in memory.parts] == [state(part) for part in parts]
    each = [scores(part, CODES, (one,)) for part, one in zip(parts, rates, strict=True)]
    found = scores(memory, CODES, rates)
    np.testing.assert_array_equal(found, np.max(each, axis=0))
    np.testing.assert_array_equal(best(memory, CODES, rates, 2), found.argmax(axis=1))
    one = CODER.native.encode(POOL[:1], 1)
    assert FlyReadout(rates).best_one(snapshot(memory), one) == found[0].argmax()
    assert memory.nbytes == sum(part.nbytes for part in parts)
    shares = [saturation(part, (one,)) for part, one in zip(parts, rates, strict=True)]
    assert saturation(memory, rates) == pytest.approx(np.mean(shares))
    np.testing.assert_array_equal(memory.synapses, [part.synapses for part in parts])


@given(samples)
@settings(max_examples=20, deadline=None)
def test_one_compartment_equals_the_plain_memory(chosen):
    memory, plain = learned(chosen, AUTO), single(chosen, SLOW)
    assert check_rates("auto", 0.0, (("auto", 0.0),)) == AUTO
    assert check_rates("auto", 0.0, (("auto", 0.0), ("auto", 0.1))) == (
        *AUTO,
        Rates(RATE_WITH_DECAY, 0.1),
    )
    np.testing.assert_array_equal(memory.parts[0].synapses, plain.synapses)
    np.testing.assert_array_equal(scores(memory, CODES), scores(plain, CODES))
    np.testing.assert_array_equal(best(memory, CODES), best(plain, CODES))


@given(samples, st.sampled_from([TWO, DECAYING_FIRST]))
@settings(max_examples=20, deadline=None)
def test_weights_are_those_of_the_compartment_that_counts(chosen, rates):
    memory = learned(chosen, rates)
    codes = CODER.native.encode(POOL[:1], 1)
    activity = codes.to_csr()[2] / 255
    weights = FlyReadout(rates).weights(snapshot(memory), codes)
    np.testing.assert_allclose(activity @ weights, scores(memory, codes, rates)[0], atol=1e-12)
    highest = np.max(
        [
            FlyReadout((one,)).weights(snapshot(part), codes)
            for part, one in memory.compartments(rates)
        ],
        axis=0,
    )
    assert (weights <= highest).all()


@given(samples, samples)
@settings(max_examples=20, deadline=None)
def test_copies_are_equal_and_independent(chosen, more):
    memory = learned(chosen)
    before = state(memory)
    others = [
        CompartmentMemory.restore(memory.classes, memory.content()),
        memory.copy(),
        restored(memory),
    ]
    for other in others:
        assert state(other) == before
        other.learn(*encode(more), TWO)
        assert state(memory) == before
    memory.learn(*encode(more), TWO)
    for other in others:
        assert state(other) == state(memory)


def test_has_no_calibration_sample_even_if_a_file_has_one():
    chosen = [(0, 3), (1, 1), (2, 3)]
    memory, plain = learned(chosen), CountingMemory(CODER.n_cells)
    plain.learn(*encode(chosen), AUTO)
    content = memory.content()
    assert content["0.calibration_thresholds"].tolist() == [0, 0]
    assert len(content["0.calibration_codes"]) == 0
    written = {f"0.{name}": plain.content()[name] for name in TENSORS}
    assert len(written["0.calibration_codes"]) > 0
    assert state(CompartmentMemory.restore(memory.classes, {**content, **written})) == state(memory)


def now(circuit):
    with circuit.memory.reading as current:
        return state(current.memory)


CHANGES = {
    "learn": lambda c: c.learn(POOL[:2], [1, 9], TWO, 1),
    "learn_one": lambda c: c.learn_one(CODER.native.encode_one(POOL[0]), 1, TWO),
    "extinguish": lambda c: c.extinguish(POOL[:1], [1], 0.5, TWO, 1),
    "drop_class": lambda c: c.drop_class(1),
    "rename_class": lambda c: c.rename_class(1, 9),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_interrupt_between_compartments_changes_nothing(name, monkeypatch):
    circuit = Circuit(CODER, learned([(0, 1), (1, 2)]))

    def interrupt(*_):
        raise KeyboardInterrupt

    before = now(circuit)
    with monkeypatch.context() as patched:
        patched.setattr(DecayingMemory, name.removesuffix("_one"), interrupt)
        with pytest.raises(KeyboardInterrupt):
            CHANGES[name](circuit)
    assert now(circuit) == before
    CHANGES[name](circuit)
    assert now(circuit) != before


def test_drop_and_rename_apply_to_all_compartments():
    memory = learned([(0, 3), (1, 1), (2, 2)])
    memory.drop_class(1)
    memory.rename_class(3, 0)
    assert [part.classes.tolist() for part in memory.parts] == [[0, 2], [0, 2]]
    assert memory.classes.tolist() == [0, 2]
    assert memory.classes[best(memory, CODES, TWO)][0] == 0


@pytest.mark.parametrize("rates", [TWO, DECAYING_FIRST])
def test_rejected_overflow_changes_nothing(rates):
    memory = learned([(0, 1), (1, 2)], rates)
    counting = next(part for part in memory.parts if isinstance(part, CountingMemory))
    largest = np.full(CODER.n_cells, 2**31 - 1, dtype=np.int32)
    counting.store.set(counting.labels.slot(1), largest, 10)
    circuit = Circuit(CODER, memory)
    before = now(circuit)
    with pytest.raises(OverflowError, match="too many samples"):
        circuit.learn(POOL[3:6], [2, 7, 1], rates, 1)
    with pytest.raises(OverflowError, match="too many samples"):
        circuit.learn_one(CODER.native.encode_one(POOL[5]), 1, rates)
    assert now(circuit) == before


class FullStore:
    """A store that has no room for further classes."""

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)

    def copy(self):
        return FullStore(self.store.copy())

    def insert(self, ranks, labels):
        raise MemoryError


def test_failed_allocation_changes_nothing():
    memory = learned([(0, 1)])
    memory.parts[1].store = FullStore(memory.parts[1].store)
    circuit = Circuit(CODER, memory)
    before = now(circuit)
    with pytest.raises(MemoryError):
        circuit.learn(POOL[1:2], [2], TWO, 1)
    with pytest.raises(MemoryError):
        circuit.learn_one(CODER.native.encode_one(POOL[1]), 2, TWO)
    assert now(circuit) == before
    circuit.learn(POOL[1:2], [1], TWO, 1)
    assert now(circuit) != before


@pytest.mark.parametrize("rates", [AUTO, (FAST,), DECAYING_FIRST, (FAST, SLOW)])
def test_rejects_rates_of_other_compartments(rates):
    memory = learned([(0, 1), (1, 2)])
    before = state(memory)
    for call in (
        lambda: memory.learn(*encode([(0, 5)]), rates),
        lambda: scores(memory, CODES, rates),
        lambda: memory.extinguish(*encode([(0, 1)]), 0.5, rates),
        lambda: saturation(memory, rates),
    ):
        with pytest.raises(ValueError, match=r"but the model was fitted with \[0, above 0\]: only"):
            call()
    assert state(memory) == before


@pytest.mark.parametrize("rates", TWO)
def test_one_memory_rejects_rates_of_several(rates):
    memory = single([(0, 1), (1, 2)], rates)
    for call in (
        lambda: memory.learn(*encode([(0, 5)]), TWO),
        lambda: best(memory, CODES, TWO),
        lambda: memory.extinguish(*encode([(0, 1)]), 0.5, TWO),
        lambda: saturation(memory, TWO),
    ):
        with pytest.raises(ValueError, match="compartments has 2 entries, but the model has one"):
            call()
    assert memory.classes.tolist() == [1, 2]


PAIRS = r"compartments must be pairs \(learning_rate, decay\) or None, but is "
ENTRY = r"compartments must hold pairs \(learning_rate, decay\), but one is "


@pytest.mark.parametrize(
    ("compartments", "message"),
    [
        ((), PAIRS + r"\(\)"),
        (0.1, PAIRS + "0.1"),
        ("auto", PAIRS + "'auto'"),
        ((0.1, 0.0), ENTRY + "0.1"),
        (((0.1, 0.0), (0.2,)), ENTRY + r"\(0.2,\)"),
        (((0.1, 0.0), (0.2, 0.1, 0)), ENTRY + r"\(0.2, 0.1, 0\)"),
        ((((0.1,), 0.0), (0.2, 0.1)), r"a number above 0, but is \(0.1,\)"),
        (((0.1, 0.0), (0.2, 0.0)), r"at most one with decay 0, but its decays are \[0.0, 0.0\]"),
        (((0.1, 0.0), (-1, 0.1)), "learning_rate must be 'auto' or a number above 0, but is -1"),
        (((0.1, 0.0), (0.2, 1)), "decay must be a number from 0 to below 1, but is 1"),
    ],
)
def test_rejects_invalid_compartments(compartments, message):
    with pytest.raises(ValueError, match=message):
        check_rates("auto", 0.0, compartments)


@pytest.mark.parametrize(("learning_rate", "decay"), [(0.1, 0.0), ("auto", 0.1)])
def test_rejects_rates_beside_compartments(learning_rate, decay):
    message = f"must be 'auto' and decay 0, but they are {learning_rate!r} and {decay!r}"
    with pytest.raises(ValueError, match=message):
        check_rates(learning_rate, decay, ((0.1, 0.0), (0.2, 0.1)))
