"""Compartments against memories of their own, and as one memory."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit import (
    CompartmentMemory,
    CountingMemory,
    DecayingMemory,
    FlyReadout,
    Rates,
    check_rates,
)
from kenyon.circuit.calibration_sample import TENSORS, disable
from kenyon.circuit.circuit import Circuit
from kenyon.circuit.defaults import FLY_LAYER

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
POOL = np.random.default_rng(1).standard_normal((40, 12))
CODES = CODER.native.encode(POOL, 1)
SLOW, FAST = Rates(None), Rates(0.7, 0.05)
TWO = Rates(None, 0.0, (FAST,))
FADES_FIRST = Rates(0.3, 0.2, (Rates(0.1), FAST))

samples = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 9)), min_size=1, max_size=60)


def encode(chosen):
    rows = [row for row, _ in chosen]
    return CODER.native.encode(POOL[rows], 1), np.array([label for _, label in chosen])


def new(rates):
    return CompartmentMemory(CODER.n_cells, [one.decay for one in rates.each])


def taught(chosen, rates=TWO):
    memory = new(rates)
    memory.learn(*encode(chosen), rates)
    return memory


def alone(chosen, rates):
    memory = (DecayingMemory if rates.decay else CountingMemory)(CODER.n_cells)
    codes, y = encode(chosen)
    for slot in memory.labels.slots(np.array(memory.declare(y))).tolist():
        if not rates.decay:
            disable(memory.store, slot)
    memory.learn(codes, y, rates)
    return memory


def state(memory):
    return {
        "classes": memory.classes.tolist(),
        "samples": memory.samples.tolist(),
        **{name: tensor.tolist() for name, tensor in memory.content().items()},
    }


@given(samples, st.sampled_from([TWO, FADES_FIRST]))
@settings(max_examples=30, deadline=None)
def test_each_compartment_learns_as_if_alone_and_the_surest_speaks(chosen, rates):
    memory = taught(chosen, rates)
    parts = [alone(chosen, one) for one in rates.each]
    for part, expected in zip(memory.parts, parts, strict=True):
        assert state(part) == state(expected)
    each = [part.scores(CODES, one, 1) for part, one in zip(parts, rates.each, strict=True)]
    scores = memory.scores(CODES, rates, 1)
    np.testing.assert_array_equal(scores, np.max(each, axis=0))
    np.testing.assert_array_equal(memory.best(CODES, rates, 2), scores.argmax(axis=1))
    one = CODER.native.encode(POOL[:1], 1)
    assert memory.best_one(one, rates) == scores[0].argmax()
    assert memory.nbytes == sum(part.nbytes for part in parts)
    shares = [part.saturation(one) for part, one in zip(parts, rates.each, strict=True)]
    assert memory.saturation(rates) == pytest.approx(np.mean(shares))
    np.testing.assert_array_equal(memory.synapses, [part.synapses for part in parts])


@given(samples)
@settings(max_examples=20, deadline=None)
def test_a_single_compartment_is_the_plain_memory_bit_for_bit(chosen):
    memory, plain = taught(chosen, SLOW), alone(chosen, SLOW)
    assert check_rates(("auto",), (0.0,)) == SLOW
    np.testing.assert_array_equal(memory.parts[0].synapses, plain.synapses)
    np.testing.assert_array_equal(memory.scores(CODES, SLOW, 1), plain.scores(CODES, SLOW, 1))
    np.testing.assert_array_equal(memory.best(CODES, SLOW, 1), plain.best(CODES, SLOW, 1))


@given(samples, st.sampled_from([TWO, FADES_FIRST]))
@settings(max_examples=20, deadline=None)
def test_what_is_told_adds_up_to_the_score(chosen, rates):
    memory = taught(chosen, rates)
    codes = CODER.native.encode(POOL[:1], 1)
    activity = codes.to_csr()[2] / 255
    weights = FlyReadout(rates).weights(memory, codes)
    np.testing.assert_allclose(activity @ weights, memory.scores(codes, rates, 1)[0], atol=1e-12)
    strongest = memory.weights(codes.to_csr()[1], rates)
    assert (weights <= strongest).all()


@given(samples, samples)
@settings(max_examples=20, deadline=None)
def test_restored_and_copied_memories_go_on_alike_and_apart(chosen, more):
    memory = taught(chosen)
    before = state(memory)
    others = [
        CompartmentMemory.restore(memory.classes, memory.content()),
        memory.copy(),
        pickle.loads(pickle.dumps(memory)),
    ]
    for other in others:
        assert state(other) == before
        other.learn(*encode(more), TWO)
        assert state(memory) == before
    memory.learn(*encode(more), TWO)
    for other in others:
        assert state(other) == state(memory)


def test_no_codes_are_kept_nor_taken_from_a_file_that_has_some():
    chosen = [(0, 3), (1, 1), (2, 3)]
    memory, plain = taught(chosen), CountingMemory(CODER.n_cells)
    plain.learn(*encode(chosen), SLOW)
    content = memory.content()
    assert content["0.calibration_thresholds"].tolist() == [0, 0]
    assert len(content["0.calibration_codes"]) == 0
    written = {f"0.{name}": plain.content()[name] for name in TENSORS}
    assert len(written["0.calibration_codes"]) > 0
    assert state(CompartmentMemory.restore(memory.classes, {**content, **written})) == state(memory)


CHANGES = {
    "learn": lambda c: c.learn(POOL[:2], np.array([1, 9]), TWO, 1),
    "learn_one": lambda c: c.learn_one(POOL[0], np.array([1]), TWO),
    "extinguish": lambda c: c.extinguish(POOL[:1], np.array([1]), 0.5, TWO, 1),
    "forget": lambda c: c.memory.change(lambda memory: memory.drop_class(1)),
    "rename": lambda c: c.memory.change(lambda memory: memory.rename_class(1, 9)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_interrupt_between_compartments_changes_none(name, monkeypatch):
    circuit = Circuit(CODER, taught([(0, 1), (1, 2)]))

    def now():
        with circuit.memory.reading as snapshot:
            return state(memory)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = now()
    with monkeypatch.context() as patched:
        patched.setattr(DecayingMemory, name.removesuffix("_one"), interrupt)
        with pytest.raises(KeyboardInterrupt):
            CHANGES[name](circuit)
    assert now() == before
    CHANGES[name](circuit)
    assert now() != before


def test_classes_are_dropped_and_renamed_in_all_compartments():
    memory = taught([(0, 3), (1, 1), (2, 2)])
    memory.drop_class(1)
    memory.rename_class(3, 0)
    assert [part.classes.tolist() for part in memory.parts] == [[0, 2], [0, 2]]
    assert memory.classes.tolist() == [0, 2]
    assert memory.classes[memory.best(CODES, TWO, 1)][0] == 0


@pytest.mark.parametrize("rates", [TWO, FADES_FIRST])
def test_an_overflow_leaves_all_compartments_as_they_were(rates):
    memory = taught([(0, 1), (1, 2)], rates)
    counting = next(part for part in memory.parts if isinstance(part, CountingMemory))
    largest = np.full(CODER.n_cells, 2**31 - 1, dtype=np.int32)
    counting.store.set(counting.labels.slot(1), largest, 10)
    before = state(memory)
    with pytest.raises(OverflowError, match="too many samples"):
        memory.learn(*encode([(3, 2), (4, 7), (5, 1)]), rates)
    assert state(memory) == before


def test_too_little_memory_for_a_class_in_one_of_them(monkeypatch):
    memory = taught([(0, 1)])
    before = state(memory)

    def fail(y):
        raise MemoryError

    monkeypatch.setattr(memory.parts[1], "declare", fail)
    with pytest.raises(MemoryError):
        memory.learn(*encode([(1, 2)]), TWO)
    assert state(memory) == before


def test_order_matters_so_nothing_is_merged_or_taken_back():
    memory = taught([(0, 1), (1, 2)])
    for call in (
        lambda: memory.unlearn(*encode([(0, 1)])),
        lambda: memory.merge(taught([(0, 1)])),
        lambda: alone([(0, 1)], SLOW).merge(memory),
    ):
        with pytest.raises(ValueError, match="depend on the order"):
            call()


@pytest.mark.parametrize("rates", [SLOW, FAST, FADES_FIRST, Rates(0.7, 0.05, (SLOW,))])
def test_rates_of_another_memory_are_refused(rates):
    memory = taught([(0, 1), (1, 2)])
    before = state(memory)
    for call in (
        lambda: memory.learn(*encode([(0, 5)]), rates),
        lambda: memory.scores(CODES, rates, 1),
        lambda: memory.extinguish(*encode([(0, 1)]), 0.5, rates),
        lambda: memory.saturation(rates),
    ):
        with pytest.raises(ValueError, match=r"but the model was begun with \(0, some\)"):
            call()
    assert state(memory) == before


@pytest.mark.parametrize("rates", [SLOW, FAST])
def test_one_memory_refuses_rates_of_several(rates):
    memory = alone([(0, 1), (1, 2)], rates)
    for call in (
        lambda: memory.learn(*encode([(0, 5)]), TWO),
        lambda: memory.best(CODES, TWO, 1),
        lambda: memory.saturation(TWO),
    ):
        with pytest.raises(ValueError, match="2 compartments, but the model was begun with one"):
            call()
    assert memory.classes.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("given_rates", "sentence"),
    [
        (((0.1, 0.2), 0.0), r"an entry for each compartment, but are \(0.1, 0.2\) and 0.0"),
        ((0.1, (0.0, 0.1)), "an entry for each compartment"),
        (((0.1, 0.2), (0.0,)), "an entry for each compartment"),
        (((), ()), "an entry for each compartment"),
        (((0.1, 0.2), (0.0, 0.0)), "decay must be 0 for at most one compartment"),
        (((0.1, "auto"), (0.0, 0.1)), "must be a number where decay is not 0, but is 'auto' in"),
        (((0.1, -1), (0.0, 0.1)), "learning_rate must be 'auto' or a number above 0, but is -1"),
        (((0.1, 0.2), (0.0, 1)), "decay must be a number from 0 to below 1, but is 1"),
        ((((0.1,), 0.2), (0.0, 0.1)), "an entry for each compartment"),
    ],
)
def test_rates_that_cannot_be(given_rates, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_rates(*given_rates)
