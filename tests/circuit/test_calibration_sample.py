"""The calibration sample depends on the samples learned and not on their order."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, PairingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.readouts import FlyReadout
from tests.reading import AUTO, bayes, by_cell, snapshot, state

CODER = design_layer(6, FLY_LAYER, n_cells=60, fan_in=3, n_active=5, channels="raw", seed=3)
BUDGET, FIRST_THRESHOLD = 1024, 2**62


def encode(rows):
    return CODER.native.encode(np.ascontiguousarray(rows, dtype=np.float64), 1)


def draw(n, seed=0, n_values=9):
    """Return rows of few values, so that some samples occur more than once."""
    return np.random.default_rng(seed).integers(0, n_values, (n, 6)).astype(float)


def learn(memory, rows, y, size=200):
    for start in range(0, len(rows), size):
        memory.learn(encode(rows[start : start + size]), y[start : start + size], AUTO)
    return memory


def learned(n, kind=CountingMemory):
    return learn(kind(60), X[:n], Y[:n])


def hashable(codes):
    return [tuple(code.items()) for code in by_cell(codes)]


def by_label(memory):
    """Return the number of samples of each label and code in the calibration sample."""
    sample = memory.calibration_sample()
    labels = memory.classes[sample.ranks].tolist()
    keys = zip(labels, hashable(sample.codes), strict=True)
    return dict(zip(keys, sample.counts.tolist(), strict=True))


def thresholds(memory):
    return dict(
        zip(memory.classes.tolist(), memory.content()["calibration_thresholds"], strict=True)
    )


def held_out(readout, memory):
    return readout.held_out_scores(snapshot(memory), memory.calibration_sample(), 1)


X = draw(6000)
Y = np.where(np.arange(6000) % 3 == 0, 7, np.arange(6000) % 4)


def test_few_samples_are_all_kept():
    memory = learned(300)
    found = by_label(memory)
    for label in memory.classes.tolist():
        expected = hashable(encode(X[:300][Y[:300] == label]))
        counts = {code: n for (of, code), n in found.items() if of == label}
        assert counts == {code: expected.count(code) for code in expected}
    assert set(thresholds(memory).values()) == {FIRST_THRESHOLD}


def test_many_samples_are_thinned_out_evenly():
    memory = learned(6000)
    content, found = memory.content(), by_label(memory)
    most = -(-BUDGET // len(memory))
    assert (content["calibration_sizes"] <= most).all()
    # A full sample lowers the threshold by an eighth.
    assert (content["calibration_sizes"] > 0.6 * most).all()
    for rank, (label, threshold) in enumerate(thresholds(memory).items()):
        distinct = set(hashable(encode(X[label == Y])))
        assert content["calibration_sizes"][rank] == pytest.approx(
            threshold / FIRST_THRESHOLD * len(distinct), rel=0.25
        )
        assert {code for of, code in found if of == label} <= distinct


def test_more_classes_keep_fewer_codes_each_but_at_least_eight():
    rows, y = draw(5000, 1), np.arange(5000) % 2
    memory = learn(CountingMemory(60), rows, y)
    for n_classes in (40, 300):
        y = np.arange(5000) % n_classes
        learn(memory, rows[: 60 * n_classes], y[: 60 * n_classes])
        most = max(8, -(-BUDGET // n_classes))
        sizes = memory.content()["calibration_sizes"]
        assert most / 2 < sizes.max() <= most


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4), st.sampled_from([400, 3000]))
def test_order_batches_and_shards_do_not_matter(random, n_shards, n):
    order = list(range(n))
    random.shuffle(order)
    shards = [
        learn(CountingMemory(60), X[part], Y[part], random.randint(50, n))
        for part in (order[i::n_shards] for i in range(n_shards))
    ]
    random.shuffle(shards)
    for other in shards[1:]:
        shards[0].merge(other)
    assert state(shards[0]) == state(learned(n))


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([300, 3000]))
def test_unlearn_leaves_the_others_below_the_threshold(random, n):
    memory = learned(n)
    before, thresholds_before = by_label(memory), thresholds(memory)
    gone = np.zeros(n, bool)
    gone[random.sample(range(n), n // 3)] = True
    memory.unlearn(encode(X[:n][gone]), Y[:n][gone])
    left = zip(Y[:n][~gone].tolist(), hashable(encode(X[:n][~gone])), strict=True)
    assert by_label(memory) == Counter(key for key in left if key in before)
    assert thresholds(memory).items() <= thresholds_before.items()
    if n == 300:
        assert state(memory) == state(learn(CountingMemory(60), X[:n][~gone], Y[:n][~gone]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2500), st.sampled_from([1, 900]))
def test_rejected_unlearn_changes_nothing(n, n_unknown):
    memory = learned(2500)
    before = state(memory)
    unknown = np.tile([9, 9, 9, 0.5, 0, 0], (n_unknown, 1))
    try:
        memory.unlearn(encode(np.vstack([X[:n], unknown])), np.append(Y[:n], [7] * n_unknown))
    except ValueError:
        assert state(memory) == before
    else:
        # The class has fewer than 900 samples; one unknown sample need not be noticed.
        assert n_unknown == 1


def test_counters_contain_the_sample_whatever_is_unlearned():
    memory = learn(CountingMemory(60), X[:3000], np.zeros(3000, int))
    known = set(hashable(encode(X[:3000])))
    messages = []
    for row in draw(12, seed=5):
        unknown = encode(np.tile(row, (10, 1)))
        if hashable(unknown)[0] in known:
            continue
        for _ in range(300):
            before = state(memory)
            try:
                memory.unlearn(unknown, np.zeros(10, int))
            except ValueError as error:
                assert state(memory) == before
                messages.append(str(error))
                break
    assert any("below the sum over the calibration sample" in message for message in messages)
    assert state(pickle.loads(pickle.dumps(memory))) == state(memory)
    assert len(memory.calibration_sample().codes) > 0
    for readout in FlyReadout(AUTO), bayes(0.1):
        assert np.isfinite(held_out(readout, memory)).all()


def test_copies_go_on_with_the_same_sample():
    memory = learned(2000)
    for other in (
        memory.copy(),
        pickle.loads(pickle.dumps(memory)),
        CountingMemory.restore(memory.classes, memory.content()),
    ):
        assert state(other) == state(memory)
        assert state(learn(other, X[2000:], Y[2000:])) == state(learned(6000))
    assert state(learned(2000)) == state(memory)


def test_drop_and_rename_keep_the_codes_of_other_classes():
    memory = learned(400)
    before = by_label(memory)
    memory.drop_class(1)
    memory.rename_class(0, 100)
    new_label = {0: 100, 2: 2, 3: 3, 7: 7}
    assert by_label(memory) == {
        (new_label[label], code): n for (label, code), n in before.items() if label in new_label
    }


@pytest.mark.parametrize("kind", [CountingMemory, PairingMemory])
@pytest.mark.parametrize("rates", [AUTO, (Rates(0.03),)])
def test_held_out_scores_equal_scores_after_unlearn(kind, rates):
    memory = learned(150, kind)
    sample = memory.calibration_sample()
    assert len(sample.codes) > 100
    readouts = FlyReadout(rates), bayes(0.1, rates)
    fly, multinomial = (held_out(readout, memory) for readout in readouts)
    row_of_code = {code: i for i, code in enumerate(hashable(encode(X[:150])))}
    for i, code in enumerate(hashable(sample.codes)):
        codes = encode(X[[row_of_code[code]]])
        without = memory.copy()
        without.unlearn(codes, memory.classes[sample.ranks[[i]]])
        expected = [readout.scores(snapshot(without), codes, 1)[0] for readout in readouts]
        np.testing.assert_array_equal(expected[0], fly[i])
        np.testing.assert_allclose(expected[1], multinomial[i], atol=1e-9)


def test_held_out_scores_are_finite_even_if_counters_lack_the_codes():
    memory = learned(150)
    memory.store.set(memory.labels.slot(7), np.zeros(60, np.int32), 50)
    ranks = memory.calibration_sample().ranks
    own = ranks == memory.classes.tolist().index(7)
    assert own.any()
    assert (held_out(FlyReadout(AUTO), memory)[own, ranks[own]] == 0).all()
    assert np.isfinite(held_out(bayes(0.001), memory)).all()


def test_a_class_with_one_sample_is_not_read_without_it():
    memory = learn(CountingMemory(60), X[:3], np.array([1, 1, 2]))
    assert set(memory.calibration_sample().ranks.tolist()) == {0}
    assert memory.content()["calibration_sizes"].tolist() == [2, 1]
    assert len(learned(1).calibration_sample().codes) == 0


def test_a_sample_without_active_cells_is_kept():
    memory = learn(CountingMemory(60), np.zeros((3, 6)), np.array([1, 1, 1]))
    assert memory.calibration_sample().counts.tolist() == [3]
    memory.unlearn(encode(np.zeros((3, 6))), np.array([1, 1, 1]))
    assert len(memory) == 0


def test_cells_far_apart_are_packed_correctly():
    coder = design_layer(
        40, FLY_LAYER, n_cells=70_000, fan_in=8, n_active=4, channels="raw", seed=1
    )
    codes = coder.native.encode(np.random.default_rng(0).random((50, 40)), 1)
    memory = CountingMemory(70_000)
    for _ in range(2):
        memory.learn(codes, np.arange(50) % 2, AUTO)
    sample = memory.calibration_sample()
    assert sorted(hashable(sample.codes)) == sorted(hashable(codes))
    assert set(sample.counts.tolist()) == {2}


def test_classes_and_samples_of_a_class_count_alike():
    memory = learn(CountingMemory(60), X[[0, 0, 0, 1, 2, 3]], np.array([1, 1, 1, 1, 2, 2]))
    shares = memory.calibration_sample().shares
    assert shares.sum() == pytest.approx(1)
    assert sorted(shares) == pytest.approx([0.125, 0.25, 0.25, 0.375])
