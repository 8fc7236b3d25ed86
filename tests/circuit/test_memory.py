"""Layer 2 against its plain definition, with and without decay."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import _native
from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, DecayingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from tests import reference
from tests.reading import best, scores

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
POOL = np.random.default_rng(1).standard_normal((60, 12))
AUTO = (Rates(),)

samples = st.lists(st.tuples(st.integers(0, 59), st.integers(0, 24)), min_size=1, max_size=120)


def encode(chosen):
    rows = [row for row, _ in chosen]
    return CODER.native.encode(POOL[rows], 1), np.array([label for _, label in chosen])


def taught(chosen, kind=CountingMemory, rates=AUTO):
    memory = kind(CODER.n_cells)
    if chosen:
        memory.learn(*encode(chosen), rates)
    return memory


def state(memory):
    return memory.classes.tolist(), memory.samples.tolist(), memory.synapses.tolist()


def weights(memory):
    return memory.synapses.T * memory.store.factor


def literal_counts(chosen):
    counts = {label: np.zeros(CODER.n_cells, dtype=int) for _, label in sorted(chosen)}
    for row, label in chosen:
        for cell, level in reference.code(POOL[row], CODER).items():
            counts[label][cell] += level
    return {label: counts[label].tolist() for label in sorted(counts)}


@given(samples)
@settings(max_examples=25, deadline=None)
def test_counters_are_sums_of_levels(chosen):
    memory = taught(chosen)
    counts = literal_counts(chosen)
    assert memory.classes.tolist() == list(counts)
    assert memory.synapses.tolist() == list(counts.values())


@given(samples, st.randoms(), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_order_batches_and_shards_leave_the_same_counters(chosen, random, n_shards):
    whole = state(taught(chosen))
    one_by_one = CountingMemory(CODER.n_cells)
    for sample in chosen:
        one_by_one.learn(*encode([sample]), AUTO)
    assert state(one_by_one) == whole
    shuffled = random.sample(chosen, len(chosen))
    assert state(taught(shuffled)) == whole
    merged = CountingMemory(CODER.n_cells)
    for shard in range(n_shards):
        merged.merge(taught(shuffled[shard::n_shards]))
    assert state(merged) == whole


@given(samples, samples)
@settings(max_examples=40, deadline=None)
def test_unlearned_is_never_learned(kept, taken):
    memory = taught(kept + taken)
    memory.unlearn(*encode(taken))
    assert state(memory) == state(taught(kept))


@given(samples, samples)
@settings(max_examples=40, deadline=None)
def test_refusing_to_unlearn_changes_nothing(learned, other):
    memory = taught(learned)
    before = state(memory)
    unlearned = learned + [
        (row, label) for row, label in other if label in dict(map(reversed, learned))
    ]
    try:
        memory.unlearn(*encode([*unlearned, learned[0]]))
    except ValueError:
        assert state(memory) == before
    else:
        pytest.fail("more samples than were learned were unlearned")


def test_a_class_cannot_end_without_samples_but_with_counts():
    memory = taught([(0, 1), (1, 1), (2, 2)])
    twice = [(0, 1), (0, 1)]
    before = state(memory)
    with pytest.raises(ValueError, match="not learned"):
        memory.unlearn(*encode(twice))
    silent = CODER.native.encode(np.zeros((2, 12)), 1)
    with pytest.raises(ValueError, match="a code is missing from the calibration sample"):
        memory.unlearn(silent, np.array([1, 1]))
    assert state(memory) == before
    # Without codes, only the counters that are left tell.
    blank = CountingMemory.restore(
        memory.classes, {name: memory.content()[name] for name in ("synapses", "samples")}
    )
    with pytest.raises(ValueError, match="would keep counts"):
        blank.unlearn(silent, np.array([1, 1]))
    assert state(memory) == before


@given(samples, st.sampled_from([None, 0.01, 0.3, 1.0, 1e-9, 700.0]))
@settings(max_examples=30, deadline=None)
def test_scores_are_those_of_the_definition_on_every_path(chosen, rate):
    memory = taught(chosen)
    codes = CODER.native.encode(POOL, 1)
    expected = [
        reference.fly_scores(memory.synapses, memory.samples, reference.code(x, CODER), rate)
        for x in POOL[:10]
    ]
    best = _native.instruction_set()
    try:
        for path in _native.instruction_sets():
            _native.use_instruction_set(path)
            for n_threads in (1, 2, 3):
                found = scores(memory, codes, (Rates(rate),), n_threads)
                assert found[:10].tolist() == expected
                ranks = best(memory, codes, (Rates(rate),), n_threads)
                assert ranks.tolist() == found.argmax(axis=1).tolist()
    finally:
        _native.use_instruction_set(best)


@given(samples, st.floats(0.001, 0.2))
@settings(max_examples=30, deadline=None)
def test_capping_at_every_step_is_capping_when_reading(chosen, rate):
    """min(1, sum) = the sum with every partial sum held below 1, since nothing is ever negative."""
    memory = taught(chosen)
    cap = round(255 / rate)
    for label, counts in zip(memory.classes.tolist(), memory.synapses, strict=True):
        stepwise = np.zeros(CODER.n_cells, dtype=int)
        for row, target in chosen:
            if target == label:
                for cell, level in reference.code(POOL[row], CODER).items():
                    stepwise[cell] = min(stepwise[cell] + level, cap)
        np.testing.assert_array_equal(np.minimum(counts, cap), stepwise)


@given(samples, st.floats(1e-6, 0.9), st.floats(0.001, 2.0), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_decay_is_that_of_a_literal_loop(chosen, alpha, beta, cut):
    rates = (Rates(beta, alpha),)
    memory = DecayingMemory(CODER.n_cells)
    for part in (chosen[:cut], chosen[cut:]):
        if part:
            memory.learn(*encode(part), rates)
    labels = sorted({label for _, label in chosen})
    weights = np.zeros((CODER.n_cells, len(labels)))
    for row, label in chosen:
        weights *= 1 - alpha
        for cell, level in reference.code(POOL[row], CODER).items():
            place = cell, labels.index(label)
            weights[place] = min(1.0, weights[place] + beta * level / 255)
    np.testing.assert_allclose(
        weights(memory), weights, rtol=0, atol=1e-9
    )
    assert memory.classes.tolist() == labels


def test_decay_stays_exact_through_many_rescalings():
    rates = (Rates(0.5, 0.5),)
    chosen = [(i % 60, i % 3) for i in range(3000)]
    memory = taught(chosen, DecayingMemory, rates)
    last = chosen[-40:]
    np.testing.assert_allclose(
        weights(memory),
        weights(taught([(0, 0), (0, 1), (0, 2), *last], DecayingMemory, rates)),
        atol=1e-9,
    )


def test_decaying_paths_and_threads_agree_to_the_bit():
    memory = taught([(i % 60, i % 11) for i in range(500)], DecayingMemory, (Rates(0.1, 0.01),))
    codes = CODER.native.encode(np.tile(POOL, (5, 1)), 1)
    expected = scores(memory, codes, AUTO)
    best = _native.instruction_set()
    try:
        for path in _native.instruction_sets():
            _native.use_instruction_set(path)
            for n_threads in (1, 2, 3):
                np.testing.assert_array_equal(scores(memory, codes, AUTO, n_threads), expected)
                ranks = best(memory, codes, AUTO, n_threads)
                np.testing.assert_array_equal(ranks, expected.argmax(axis=1))
    finally:
        _native.use_instruction_set(best)


@pytest.mark.parametrize("kind", [CountingMemory, DecayingMemory])
@given(chosen=samples, dropped=st.integers(0, 24))
@settings(max_examples=25, deadline=None)
def test_forgetting_and_renaming_touch_one_class_only(kind, chosen, dropped):
    rates = (Rates(0.1, 0.01 if kind is DecayingMemory else 0.0),)
    memory = taught(chosen, kind, rates)
    classes, counts, synapses = state(memory)
    target = classes[dropped % len(classes)]
    memory.rename_class(target, 99)
    kept = [i for i, label in enumerate(classes) if label != target]
    place = classes.index(target)
    expected = [*kept, place]
    assert state(memory) == (
        [*(classes[i] for i in kept), 99],
        [counts[i] for i in expected],
        [synapses[i] for i in expected],
    )
    memory.drop_class(99)
    assert state(memory) == (
        [classes[i] for i in kept],
        [counts[i] for i in kept],
        [synapses[i] for i in kept],
    )


@pytest.mark.parametrize("kind", [CountingMemory, DecayingMemory])
def test_pickled_is_the_same_and_copies_are_apart(kind):
    rates = (Rates(0.1, 0.01 if kind is DecayingMemory else 0.0),)
    memory = taught([(i % 60, i % 17) for i in range(200)], kind, rates)
    before = state(memory)
    codes = CODER.native.encode(POOL, 1)
    for other in (pickle.loads(pickle.dumps(memory)), memory.copy()):
        assert state(other) == before
        expected = scores(memory, codes, rates)
        np.testing.assert_array_equal(scores(other, codes, rates), expected)
        other.learn(*encode([(0, 3)]), rates)
        assert state(memory) == before


def test_counters_end_where_they_would_overflow():
    synapses = np.full((1, CODER.n_cells), 2**31 - 1 - 255, dtype=np.int32)
    content = {"synapses": synapses, "samples": np.array([10])}
    memory = CountingMemory.restore(np.array([7]), content)
    memory.learn(*encode([(0, 7)]), AUTO)
    before = state(memory)
    with pytest.raises(OverflowError, match="2147483647"):
        memory.learn(*encode([(1, 3), (0, 7), (2, 7)]), AUTO)
    assert state(memory) == before
    with pytest.raises(OverflowError, match="2147483647"):
        memory.merge(memory.copy())
    assert state(memory) == before


def test_very_many_active_cells_still_add_up_exactly():
    coder = design_layer(40, FLY_LAYER, n_cells=40_000, fan_in=3, n_active=40_000, seed=0)
    codes = coder.native.encode(np.ones((1, 40)), 1)
    synapses = np.full((2, 40_000), 2**31 - 1, dtype=np.int32)
    memory = CountingMemory.restore(
        np.array([0, 1]), {"synapses": synapses, "samples": np.array([1, 10**9])}
    )
    found = scores(memory, codes, AUTO)[0]
    total = 40_000 * 255
    assert found.tolist() == [total * 13 / (255 * 13), total * (2**31 - 1) / (255 * (2**31 - 1))]


def test_ranks_follow_every_change_of_the_classes():
    """Whatever is added, dropped or renamed, slots and ranks stay a permutation that sorts."""
    random = np.random.default_rng(0)
    memory = CountingMemory(CODER.n_cells)
    expected = {}
    for step in range(600):
        known = sorted(expected)
        choice = random.integers(3) if known else 0
        label = int(random.integers(1000))
        if choice == 0:
            memory.learn(*encode([(step % 60, label)]), AUTO)
            expected[label] = expected.get(label, 0) + 1
        elif choice == 1:
            dropped = known[random.integers(len(known))]
            memory.drop_class(dropped)
            del expected[dropped]
        elif label not in expected:
            old = known[random.integers(len(known))]
            memory.rename_class(old, label)
            expected[label] = expected.pop(old)
        assert memory.classes.tolist() == sorted(expected)
        assert memory.samples.tolist() == [expected[label] for label in sorted(expected)]


def test_ten_thousand_classes_one_after_the_other():
    memory = CountingMemory(CODER.n_cells)
    codes = CODER.native.encode(POOL[:1], 1)
    for label in range(10_000):
        memory.learn(codes, np.array([label * 7919 % 10_007]), AUTO)
    assert memory.samples.tolist() == [1] * 10_000
    assert best(memory, codes, AUTO).tolist() == [0]
