"""Layer 2 against its plain definition, with and without decay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import _native
from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, DecayingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from tests import reference
from tests.reading import AUTO, best, instruction_set, restored, scores, state

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
POOL = np.random.default_rng(1).standard_normal((60, 12))
CODES = CODER.native.encode(POOL, 1)
RATES = {CountingMemory: (Rates(0.1),), DecayingMemory: (Rates(0.1, 0.01),)}

samples = st.lists(st.tuples(st.integers(0, 59), st.integers(0, 24)), min_size=1, max_size=120)


def encode(chosen):
    rows = [row for row, _ in chosen]
    return CODER.native.encode(POOL[rows], 1), [label for _, label in chosen]


def learned(chosen, kind=CountingMemory, rates=AUTO):
    memory = kind(CODER.n_cells)
    if chosen:
        memory.learn(*encode(chosen), rates)
    return memory


def sums(memory):
    """Return everything learned but the calibration sample, which unlearning may leave smaller."""
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
    memory, counts = learned(chosen), literal_counts(chosen)
    assert memory.classes.tolist() == list(counts)
    assert memory.synapses.tolist() == list(counts.values())


@given(samples, st.randoms(), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_order_batches_and_shards_do_not_matter(chosen, random, n_shards):
    whole = state(learned(chosen))
    one_by_one = CountingMemory(CODER.n_cells)
    for sample in chosen:
        one_by_one.learn(*encode([sample]), AUTO)
    assert state(one_by_one) == whole
    shuffled = random.sample(chosen, len(chosen))
    assert state(learned(shuffled)) == whole
    merged = CountingMemory(CODER.n_cells)
    for shard in range(n_shards):
        merged.merge(learned(shuffled[shard::n_shards]))
    assert state(merged) == whole


@given(samples, samples)
@settings(max_examples=40, deadline=None)
def test_unlearn_is_exact(chosen, removed):
    memory = learned(chosen + removed)
    memory.unlearn(*encode(removed))
    assert sums(memory) == sums(learned(chosen))


@given(samples, samples)
@settings(max_examples=40, deadline=None)
def test_rejected_unlearn_changes_nothing(chosen, other):
    memory = learned(chosen)
    before = state(memory)
    known = {label for _, label in chosen}
    extra = [(row, label) for row, label in other if label in known]
    with pytest.raises(ValueError, match="not learned"):
        memory.unlearn(*encode([*chosen, *extra, chosen[0]]))
    assert state(memory) == before


def test_rejects_a_class_without_samples_but_with_counts():
    memory = learned([(0, 1), (1, 1), (2, 2)])
    before = state(memory)
    with pytest.raises(ValueError, match="not learned"):
        memory.unlearn(*encode([(0, 1), (0, 1)]))
    silent = CODER.native.encode(np.zeros((2, 12)), 1)
    with pytest.raises(ValueError, match="a code is missing from the calibration sample"):
        memory.unlearn(silent, [1, 1])
    assert state(memory) == before
    # Without a calibration sample, only the counters that are left show it.
    content = {name: memory.content()[name] for name in ("synapses", "samples")}
    blank = CountingMemory.restore(memory.classes, content)
    before = state(blank)
    with pytest.raises(ValueError, match="would keep counts"):
        blank.unlearn(silent, [1, 1])
    assert state(blank) == before


@given(samples, st.sampled_from([None, 0.01, 0.3, 1.0, 1e-9, 700.0]))
@settings(max_examples=30, deadline=None)
def test_scores_match_the_definition_for_every_instruction_set(chosen, rate):
    memory, rates = learned(chosen), (Rates(rate),)
    expected = [
        reference.fly_scores(memory.synapses, memory.samples, reference.code(x, CODER), rate)
        for x in POOL[:10]
    ]
    for name in _native.instruction_sets():
        with instruction_set(name):
            for n_threads in (1, 2, 3):
                found = scores(memory, CODES, rates, n_threads)
                assert found[:10].tolist() == expected
                ranks = best(memory, CODES, rates, n_threads)
                assert ranks.tolist() == found.argmax(axis=1).tolist()


@given(samples, st.floats(0.001, 0.2))
@settings(max_examples=30, deadline=None)
def test_cap_at_every_sample_equals_cap_when_reading(chosen, rate):
    """Nothing is ever negative, so min(1, sum) equals the sum with a cap at every step."""
    memory = learned(chosen)
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
def test_decay_matches_a_literal_loop(chosen, alpha, beta, cut):
    memory = DecayingMemory(CODER.n_cells)
    for part in (chosen[:cut], chosen[cut:]):
        if part:
            memory.learn(*encode(part), (Rates(beta, alpha),))
    labels = sorted({label for _, label in chosen})
    expected = np.zeros((CODER.n_cells, len(labels)))
    for row, label in chosen:
        expected *= 1 - alpha
        for cell, level in reference.code(POOL[row], CODER).items():
            place = cell, labels.index(label)
            expected[place] = min(1.0, expected[place] + beta * level / 255)
    np.testing.assert_allclose(weights(memory), expected, rtol=0, atol=1e-9)
    assert memory.classes.tolist() == labels


def test_decay_is_exact_after_many_rescalings():
    rates = (Rates(0.5, 0.5),)
    chosen = [(i % 60, i % 3) for i in range(3000)]
    memory = learned(chosen, DecayingMemory, rates)
    recent = learned([(0, 0), (0, 1), (0, 2), *chosen[-40:]], DecayingMemory, rates)
    np.testing.assert_allclose(weights(memory), weights(recent), atol=1e-9)


def test_decaying_scores_are_equal_for_instruction_sets_and_threads():
    chosen = [(i % 60, i % 11) for i in range(500)]
    memory = learned(chosen, DecayingMemory, RATES[DecayingMemory])
    codes = CODER.native.encode(np.tile(POOL, (5, 1)), 1)
    expected = scores(memory, codes)
    for name in _native.instruction_sets():
        with instruction_set(name):
            for n_threads in (1, 2, 3):
                np.testing.assert_array_equal(scores(memory, codes, n_threads=n_threads), expected)
                ranks = best(memory, codes, n_threads=n_threads)
                np.testing.assert_array_equal(ranks, expected.argmax(axis=1))


@pytest.mark.parametrize("kind", RATES)
@given(chosen=samples, dropped=st.integers(0, 24))
@settings(max_examples=25, deadline=None)
def test_drop_and_rename_change_one_class_only(kind, chosen, dropped):
    memory = learned(chosen, kind, RATES[kind])
    classes, counts, synapses = sums(memory)
    target = classes[dropped % len(classes)]
    others = [i for i, label in enumerate(classes) if label != target]
    places = [*others, classes.index(target)]
    memory.rename_class(target, 99)
    assert sums(memory) == (
        [*(classes[i] for i in others), 99],
        [counts[i] for i in places],
        [synapses[i] for i in places],
    )
    memory.drop_class(99)
    assert sums(memory) == tuple(
        [values[i] for i in others] for values in (classes, counts, synapses)
    )


@pytest.mark.parametrize("kind", RATES)
def test_copies_are_equal_and_independent(kind):
    memory = learned([(i % 60, i % 17) for i in range(200)], kind, RATES[kind])
    before, expected = state(memory), scores(memory, CODES, RATES[kind])
    for other in (restored(memory), memory.copy()):
        assert state(other) == before
        np.testing.assert_array_equal(scores(other, CODES, RATES[kind]), expected)
        other.learn(*encode([(0, 3)]), RATES[kind])
        assert state(other) != before == state(memory)


def test_rejects_overflow():
    synapses = np.full((1, CODER.n_cells), 2**31 - 1 - 255, dtype=np.int32)
    content = {"synapses": synapses, "samples": np.array([10])}
    memory = CountingMemory.restore(np.array([7]), content)
    memory.learn(*encode([(0, 7)]), AUTO)
    before = state(memory)
    with pytest.raises(OverflowError, match="2147483647"):
        memory.learn(*encode([(1, 3), (0, 7), (2, 7)]), AUTO)
    with pytest.raises(OverflowError, match="2147483647"):
        memory.merge(memory.copy())
    assert state(memory) == before


def test_scores_of_very_many_active_cells_are_exact():
    coder = design_layer(40, FLY_LAYER, n_cells=40_000, fan_in=3, n_active=40_000, seed=0)
    codes = coder.native.encode(np.ones((1, 40)), 1)
    synapses = np.full((2, 40_000), 2**31 - 1, dtype=np.int32)
    content = {"synapses": synapses, "samples": np.array([1, 10**9])}
    found = scores(CountingMemory.restore(np.array([0, 1]), content), codes)[0]
    total = 40_000 * 255
    assert found.tolist() == [total * 13 / (255 * 13), total * (2**31 - 1) / (255 * (2**31 - 1))]


def test_ranks_follow_every_change_of_classes():
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


@pytest.mark.parametrize("kind", RATES)
def test_every_change_increases_the_version_and_replaces_the_labels(kind):
    memory = learned([(0, 1), (1, 2), (2, 3)], kind, RATES[kind])
    kept = [(memory.labels, [1, 2, 3])]
    changes = [
        (lambda: memory.learn(*encode([(3, 7)]), RATES[kind]), [1, 2, 3, 7]),
        (lambda: memory.rename_class(1, 9), [2, 3, 7, 9]),
        (lambda: memory.extinguish(*encode([(1, 2)]), 0.5, RATES[kind]), [2, 3, 7, 9]),
        (lambda: memory.drop_class(3), [2, 7, 9]),
        (lambda: memory.learn(*encode([(3, 7)]), RATES[kind], 1, [11, 7]), [2, 7, 9, 11]),
    ]
    for change, labels in changes:
        version = memory.version
        assert memory.copy().version == version
        change()
        assert memory.version > version
        kept.append((memory.labels, labels))
    for before, labels in kept:
        assert before.classes.tolist() == labels
        assert sorted(before.label(slot) for slot in range(len(before))) == labels
        assert [before.at(rank) for rank in range(len(before))] == labels
        assert [before.label(slot) for slot in before.slots(labels)] == labels


def test_a_refused_change_keeps_the_version_and_the_labels():
    memory = learned([(0, 1), (1, 2)])
    memory.store.set(memory.labels.slot(2), np.full(90, 2**31 - 1, np.int32), 5)
    before, version, labels = state(memory), memory.version, memory.labels
    for call, error, message in [
        (lambda: memory.learn(*encode([(3, 7), (4, 2)]), AUTO), OverflowError, "too many"),
        (lambda: memory.learn(*encode([(3, 7), (4, "a")]), AUTO), ValueError, "1 and 'a'"),
        (lambda: memory.learn(*encode([(3, 7)]), AUTO, 1, [True]), ValueError, "1 and True"),
        (lambda: memory.unlearn(*encode([(3, 1)])), ValueError, "not learned"),
        (lambda: memory.unlearn(*encode([(0, 1), (0, 5)])), ValueError, "label 5 has not"),
        (lambda: memory.merge(memory.copy()), OverflowError, "too many"),
        (lambda: memory.merge(learned([(3, "a")])), ValueError, "1 and 'a' are mixed"),
        (lambda: memory.extinguish(*encode([(0, 1), (0, 5)]), 0.5, AUTO), ValueError, "label 5"),
        (lambda: memory.drop_class(5), ValueError, "label 5 has not"),
        (lambda: memory.rename_class(1, 2), ValueError, "exists already"),
        (lambda: memory.rename_class(1, "a"), ValueError, "1 and 'a' are mixed"),
    ]:
        with pytest.raises(error, match=message):
            call()
        assert (state(memory), memory.version) == (before, version)
        assert memory.labels is labels


def test_ten_thousand_classes():
    memory = CountingMemory(CODER.n_cells)
    codes = CODER.native.encode(POOL[:1], 1)
    for label in range(10_000):
        memory.learn(codes, [label * 7919 % 10_007], AUTO)
    assert memory.samples.tolist() == [1] * 10_000
    assert best(memory, codes).tolist() == [0]
