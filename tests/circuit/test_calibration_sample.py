"""Codes that are kept: which they are follows from the samples, not from their order."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, PairingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER

CODER = design_layer(6, FLY_LAYER, n_cells=60, fan_in=3, n_active=5, channels="raw", seed=3)
AUTO = Rates()
BUDGET, FIRST = 1024, 2**62


def code(rows):
    return CODER.native.encode(np.ascontiguousarray(rows, dtype=np.float64), 1)


def draw(n, seed=0, n_values=9):
    """Few values, so that some samples come more than once."""
    return np.random.default_rng(seed).integers(0, n_values, (n, 6)).astype(float)


def learn(memory, rows, y, size=200):
    for start in range(0, len(rows), size):
        memory.learn(code(rows[start : start + size]), y[start : start + size], AUTO)
    return memory


def state(memory):
    return {name: array.tolist() for name, array in memory.content().items()}


def as_tuples(codes):
    starts, cells, levels = codes.to_csr()
    return [(*cells[a:b].tolist(), -1, *levels[a:b].tolist()) for a, b in pairwise(starts)]


def by_label(memory):
    kept = memory.kept
    labels = memory.classes[kept.ranks].tolist()
    pairs = zip(labels, as_tuples(kept.codes), strict=True)
    return dict(zip(pairs, kept.counts.tolist(), strict=True))


X = draw(6000)
Y = np.where(np.arange(6000) % 3 == 0, 7, np.arange(6000) % 4)


def test_all_samples_are_kept_as_long_as_they_are_few():
    memory = learn(CountingMemory(60), X[:300], Y[:300])
    kept = memory.kept
    for rank, label in enumerate(memory.classes):
        of_class = kept.ranks == rank
        expected = as_tuples(code(X[:300][Y[:300] == label]))
        codes = [c for c, mine in zip(as_tuples(kept.codes), of_class, strict=True) if mine]
        assert sorted(codes) == sorted(set(expected))
        assert kept.counts[of_class].sum() == len(expected)
    assert set(memory.content()["calibration_thresholds"].tolist()) == {FIRST}


def test_many_samples_are_thinned_out_evenly():
    memory = learn(CountingMemory(60), X, Y)
    content = memory.content()
    most = -(-BUDGET // len(memory))
    assert (content["calibration_sizes"] <= most).all()
    # The bound falls by an eighth at a time.
    assert (content["calibration_sizes"] > 0.6 * most).all()
    shares = content["calibration_thresholds"] / FIRST
    for rank, label in enumerate(memory.classes):
        different = set(as_tuples(code(X[label == Y])))
        assert content["calibration_sizes"][rank] == pytest.approx(
            shares[rank] * len(different), rel=0.25
        )
        codes = as_tuples(memory.kept.codes)
        assert {c for c, r in zip(codes, memory.kept.ranks, strict=True) if r == rank} <= different


def test_with_more_classes_each_keeps_fewer_and_none_fewer_than_eight():
    rows, y = draw(5000, 1), np.arange(5000) % 2
    memory = learn(CountingMemory(60), rows, y)
    for n_classes in (40, 300):
        y = np.arange(5000) % n_classes
        learn(memory, rows[: 60 * n_classes], y[: 60 * n_classes])
        most = max(8, -(-BUDGET // n_classes))
        kept = memory.content()["calibration_sizes"]
        assert kept.max() <= most
        assert kept.max() > most / 2


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4), st.sampled_from([400, 3000]))
def test_shuffled_cut_and_merged_it_is_the_same(random, n_shards, n):
    whole = learn(CountingMemory(60), X[:n], Y[:n])
    order = list(range(n))
    random.shuffle(order)
    shards = [
        learn(
            CountingMemory(60), X[order[i::n_shards]], Y[order[i::n_shards]], random.randint(50, n)
        )
        for i in range(n_shards)
    ]
    random.shuffle(shards)
    for other in shards[1:]:
        shards[0].merge(other)
    assert state(shards[0]) == state(whole)


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([300, 3000]))
def test_after_unlearning_it_is_what_remains_below_the_bound(random, n):
    memory = learn(CountingMemory(60), X[:n], Y[:n])
    bounds = dict(zip(memory.classes.tolist(), memory.content()["calibration_thresholds"], strict=True))
    gone = np.zeros(n, bool)
    gone[random.sample(range(n), n // 3)] = True
    before = set(by_label(memory))
    memory.unlearn(code(X[:n][gone]), Y[:n][gone])
    left = zip(Y[:n][~gone].tolist(), as_tuples(code(X[:n][~gone])), strict=True)
    expected = {}
    for one in left:
        if one in before:
            expected[one] = expected.get(one, 0) + 1
    assert by_label(memory) == expected
    after = dict(zip(memory.classes.tolist(), memory.content()["calibration_thresholds"], strict=True))
    assert after.items() <= bounds.items()
    if n == 300:
        never = learn(CountingMemory(60), X[:n][~gone], Y[:n][~gone])
        assert state(memory) == state(never)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2500))
def test_a_sample_that_was_not_learned_is_refused_and_nothing_changes(n):
    memory = learn(CountingMemory(60), X[:2500], Y[:2500])
    before = state(memory)
    strange = np.vstack([X[:n], [[9, 9, 9, 0.5, 0, 0]]])
    labels = np.append(Y[:n], 7)
    try:
        memory.unlearn(code(strange), labels)
    except ValueError:
        assert state(memory) == before


def test_what_is_kept_stays_counted_whatever_is_unlearned():
    memory = learn(CountingMemory(60), X[:3000], np.zeros(3000, int))
    known = set(as_tuples(code(X[:3000])))
    sentences = []
    for row in draw(12, seed=5):
        strange = code(np.tile(row, (10, 1)))
        if as_tuples(strange)[0] in known:
            continue
        for _ in range(300):
            before = state(memory)
            try:
                memory.unlearn(strange, np.zeros(10, int))
            except ValueError as error:
                assert state(memory) == before
                sentences.append(str(error))
                break
    assert any("below what codes that are kept" in sentence for sentence in sentences)
    assert state(pickle.loads(pickle.dumps(memory))) == state(memory)
    assert len(memory.kept.codes) > 0
    for readout in FlyReadout(AUTO), BayesReadout(0.1):
        assert np.isfinite(readout.held_out_scores(memory, memory.kept, 1)).all()


def test_saved_copied_and_pickled_it_is_the_same():
    memory = learn(CountingMemory(60), X[:2000], Y[:2000])
    for other in (
        memory.copy(),
        pickle.loads(pickle.dumps(memory)),
        CountingMemory.restore(memory.classes, memory.content()),
    ):
        assert state(other) == state(memory)
        assert state(learn(other, X[2000:], Y[2000:])) == state(
            learn(memory.copy(), X[2000:], Y[2000:])
        )
    assert state(learn(CountingMemory(60), X[:2000], Y[:2000])) == state(memory)


def test_classes_keep_their_codes_when_others_are_renamed_or_forgotten():
    memory = learn(CountingMemory(60), X[:400], Y[:400])
    before = by_label(memory)
    memory.drop_class(1)
    memory.rename_class(0, 100)
    now = {0: 100, 2: 2, 3: 3, 7: 7}
    assert by_label(memory) == {
        (now[label], c): count for (label, c), count in before.items() if label in now
    }


@pytest.mark.parametrize("kind", [CountingMemory, PairingMemory])
@pytest.mark.parametrize("rates", [AUTO, Rates(0.03)])
def test_held_out_scores_are_those_after_unlearning(kind, rates):
    memory = learn(kind(60), X[:150], Y[:150])
    kept = memory.kept
    readouts = FlyReadout(rates), BayesReadout(0.1)
    fly, bayes = (readout.held_out_scores(memory, kept, 1) for readout in readouts)
    original = {c: i for i, c in enumerate(as_tuples(code(X[:150])))}
    for i, key in enumerate(as_tuples(kept.codes)):
        row = X[[original[key]]]
        label = memory.classes[kept.ranks[[i]]]
        without = memory.copy()
        without.unlearn(code(row), label)
        np.testing.assert_array_equal(readouts[0].scores(without, code(row), 1)[0], fly[i])
        without.age += 1
        np.testing.assert_allclose(
            readouts[1].scores(without, code(row), 1)[0], bayes[i], atol=1e-9
        )


def test_held_out_scores_are_numbers_though_the_counters_have_not_seen_the_code():
    memory = learn(CountingMemory(60), X[:150], Y[:150])
    memory.store.set(memory.labels.slot(7), np.zeros(60, np.int32), 50)
    own = memory.kept.ranks == memory.classes.tolist().index(7)
    assert own.any()
    fly = FlyReadout(AUTO).held_out_scores(memory, memory.kept, 1)
    assert (fly[own, memory.kept.ranks[own]] == 0).all()
    assert np.isfinite(BayesReadout(0.001).held_out_scores(memory, memory.kept, 1)).all()


def test_of_a_class_with_one_sample_nothing_can_be_held_out():
    memory = learn(CountingMemory(60), X[:3], np.array([1, 1, 2]))
    assert set(memory.kept.ranks.tolist()) == {0}
    assert memory.content()["calibration_sizes"].tolist() == [2, 1]
    assert len(learn(CountingMemory(60), X[:1], Y[:1]).kept.codes) == 0


def test_a_sample_that_no_cell_answers_to_is_kept_too():
    memory = learn(CountingMemory(60), np.zeros((3, 6)), np.array([1, 1, 1]))
    assert memory.kept.counts.tolist() == [3]
    memory.unlearn(code(np.zeros((3, 6))), np.array([1, 1, 1]))
    assert len(memory) == 0


def test_cells_far_apart_are_kept_as_they_are():
    coder = design_layer(40, FLY_LAYER, n_cells=70_000, fan_in=8, n_active=4, channels="raw", seed=1)
    rows = np.random.default_rng(0).random((50, 40))
    codes = coder.native.encode(rows, 1)
    memory = CountingMemory(70_000)
    memory.learn(codes, np.arange(50) % 2, AUTO)
    memory.learn(codes, np.arange(50) % 2, AUTO)
    assert sorted(as_tuples(memory.kept.codes)) == sorted(as_tuples(codes))
    assert set(memory.kept.counts.tolist()) == {2}


def test_classes_count_alike_and_samples_of_one_do():
    memory = learn(CountingMemory(60), X[[0, 0, 0, 1, 2, 3]], np.array([1, 1, 1, 1, 2, 2]))
    kept = memory.kept
    assert kept.shares.sum() == pytest.approx(1)
    assert sorted(kept.shares) == pytest.approx([0.125, 0.25, 0.25, 0.375])
