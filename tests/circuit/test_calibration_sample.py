"""The calibration sample depends on the samples learned and not on their order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, PairingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.readouts import FlyReadout
from tests.reading import AUTO, bayes, by_cell, restored, snapshot, state

CODER = design_layer(6, FLY_LAYER, n_cells=60, fan_in=3, n_active=5, channels="raw", seed=3)
BUDGET, MIN_CAPACITY, FIRST_THRESHOLD = 512, 4, 2**62


def encode(rows):
    return CODER.native.encode(np.ascontiguousarray(rows, dtype=np.float64), 1)


def draw(n, seed=0, n_values=9):
    """Return rows of few values, so that some samples occur more than once."""
    return np.random.default_rng(seed).integers(0, n_values, (n, 6)).astype(float)


def learn(memory, rows, y, size=200):
    for start in range(0, len(rows), size):
        memory.learn(encode(rows[start : start + size]), y[start : start + size].tolist(), AUTO)
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


def codes_by_label(memory):
    """Return the same, including classes with one sample."""
    slots = memory.store.slot_of_rank
    codes, ranks, counts = memory.store.calibration_codes(slots)
    keys = zip(memory.classes[ranks].tolist(), hashable(codes), strict=True)
    return dict(zip(keys, counts.tolist(), strict=True))


def thresholds(memory):
    return dict(
        zip(memory.classes.tolist(), memory.content()["calibration_thresholds"], strict=True)
    )


def common_threshold(memory):
    return int(memory.content()["calibration_common_threshold"][0])


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
    most = BUDGET // len(memory)
    assert (content["calibration_sizes"] <= most).all()
    # A full sample lowers the threshold by an eighth.
    assert (content["calibration_sizes"] > 0.6 * most).all()
    for rank, (label, threshold) in enumerate(thresholds(memory).items()):
        distinct = set(hashable(encode(X[label == Y])))
        assert content["calibration_sizes"][rank] == pytest.approx(
            threshold / FIRST_THRESHOLD * len(distinct), rel=0.25
        )
        assert {code for of, code in found if of == label} <= distinct


def test_more_classes_keep_fewer_codes_each():
    rows = draw(12_000, 1)
    memory = learn(CountingMemory(60), rows, np.arange(12_000) % 2)
    for n_classes in (40, 100, 128):
        learn(memory, rows, np.arange(12_000) % n_classes)
        most = max(MIN_CAPACITY, BUDGET // n_classes)
        sizes = memory.content()["calibration_sizes"]
        assert most / 2 < sizes.max() <= most
        assert memory.content()["calibration_common_threshold"] == FIRST_THRESHOLD
    for n_classes in (129, 600, 6000):
        learn(memory, rows, np.arange(12_000) % n_classes)
        sizes = memory.content()["calibration_sizes"]
        assert sizes.max() <= MIN_CAPACITY
        assert BUDGET / 2 < sizes.sum() <= BUDGET
        assert memory.content()["calibration_common_threshold"] < FIRST_THRESHOLD


def test_many_classes_are_thinned_out_evenly():
    n_samples = np.random.default_rng(2).geometric(0.02, 900)
    y = np.repeat(np.arange(900), n_samples)
    memory = learn(CountingMemory(60), draw(len(y), 2, n_values=99), y, 4000)
    sizes, common = memory.content()["calibration_sizes"], common_threshold(memory)
    expected = n_samples * (common / FIRST_THRESHOLD)
    assert (sizes[expected > 2 * MIN_CAPACITY] > 0).all()
    # Small classes have as many codes as their share of all samples lets expect.
    for small in (expected < 0.5, (expected > 0.5) & (expected < 1)):
        mean = expected[small].sum()
        assert sizes[small].sum() == pytest.approx(mean, abs=4 * np.sqrt(mean))
    assert BUDGET / 2 < sizes.sum() <= BUDGET


def test_classes_without_codes_do_not_matter():
    y = np.arange(6000) % 2000
    memory = learn(CountingMemory(60), X, y)
    sample = memory.calibration_sample()
    assert 0 < len(np.unique(sample.ranks)) < 600
    assert sample.shares.sum() == pytest.approx(1)
    per_class = np.bincount(sample.ranks, sample.shares)
    assert np.ptp(per_class[per_class > 0]) < 1e-12


def labels_of(kind, n):
    """Return labels of few, of some or of many classes; with "skewed" most samples are of few."""
    if kind == "skewed":
        return (np.random.default_rng(n).pareto(0.7, n) * 30).astype(int) % 700
    return Y[:n] if kind == "few" else np.arange(n) % (140 if kind == "some" else 1900)


@settings(max_examples=40, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(1, 4),
    st.sampled_from([400, 3000]),
    st.sampled_from(["few", "some", "many", "skewed"]),
    st.booleans(),
)
def test_order_batches_and_shards_do_not_matter(random, n_shards, n, kind, by_class):
    y = labels_of(kind, n)
    expected = learn(CountingMemory(60), X[:n], y)
    order = list(range(n))
    random.shuffle(order)
    if by_class:
        order.sort(key=y.__getitem__, reverse=random.random() < 0.5)
    shards = [
        learn(CountingMemory(60), X[part], y[part], random.randint(50, n))
        for part in np.array_split(order, n_shards)
    ]
    random.shuffle(shards)
    for other in shards[1:]:
        shards[0].merge(other)
    assert state(shards[0]) == state(expected)


@settings(max_examples=25, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from([300, 3000]),
    st.sampled_from(["few", "many", "skewed"]),
)
def test_unlearn_leaves_the_others_below_the_threshold(random, n, kind):
    y = labels_of(kind, n)
    memory = learn(CountingMemory(60), X[:n], y)
    before, thresholds_before = codes_by_label(memory), thresholds(memory)
    common_before = common_threshold(memory)
    gone = np.zeros(n, bool)
    gone[random.sample(range(n), n // 3)] = True
    memory.unlearn(encode(X[:n][gone]), y[gone].tolist())
    left = zip(y[~gone].tolist(), hashable(encode(X[:n][~gone])), strict=True)
    assert codes_by_label(memory) == Counter(key for key in left if key in before)
    assert thresholds(memory).items() <= thresholds_before.items()
    assert common_threshold(memory) == common_before
    if n == 300 and kind != "skewed":
        assert state(memory) == state(learn(CountingMemory(60), X[:n][~gone], y[~gone]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2500), st.sampled_from([1, 900]))
def test_rejected_unlearn_changes_nothing(n, n_unknown):
    memory = learned(2500)
    before = state(memory)
    unknown = np.tile([9, 9, 9, 0.5, 0, 0], (n_unknown, 1))
    try:
        memory.unlearn(encode(np.vstack([X[:n], unknown])), [*Y[:n].tolist(), *[7] * n_unknown])
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
                memory.unlearn(unknown, [0] * 10)
            except ValueError as error:
                assert state(memory) == before
                messages.append(str(error))
                break
    assert any("below the sum over the calibration sample" in message for message in messages)
    assert state(restored(memory)) == state(memory)
    assert len(memory.calibration_sample().codes) > 0
    for readout in FlyReadout(AUTO), bayes(0.1):
        assert np.isfinite(held_out(readout, memory)).all()


def test_copies_go_on_with_the_same_sample():
    memory = learned(2000)
    for other in (
        memory.copy(),
        restored(memory),
    ):
        assert state(other) == state(memory)
        assert state(learn(other, X[2000:], Y[2000:])) == state(learned(6000))
    assert state(learned(2000)) == state(memory)


def test_copies_of_many_classes_go_on_with_the_same_sample():
    y = labels_of("many", 6000)
    memory, whole = (learn(CountingMemory(60), X[:n], y[:n]) for n in (3000, 6000))
    for other in (memory.copy(), CountingMemory.restore(memory.classes, memory.content())):
        assert state(learn(other, X[3000:], y[3000:])) == state(whole)


@pytest.mark.parametrize("kind", ["few", "some"])
def test_larger_samples_of_older_files_are_thinned_out(kind):
    y = labels_of(kind, 1500)
    alone = [
        learn(CountingMemory(60), X[:1500][y == label], y[y == label]).content()
        for label in np.unique(y)
    ]
    content = {name: np.concatenate([each[name] for each in alone]) for name in alone[0]}
    content["calibration_common_threshold"] = np.array([FIRST_THRESHOLD])
    lengths = [np.diff(each["calibration_starts"]) for each in alone]
    content["calibration_starts"] = np.append(0, np.cumsum(np.concatenate(lengths)))
    assert content["calibration_sizes"].sum() > 2 * BUDGET
    restored = CountingMemory.restore(np.unique(y), content)
    assert state(restored) == state(learn(CountingMemory(60), X[:1500], y))


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
        without.unlearn(codes, [memory.labels.at(sample.ranks[i])])
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
    memory.unlearn(encode(np.zeros((3, 6))), [1, 1, 1])
    assert len(memory) == 0


def test_cells_far_apart_are_packed_correctly():
    coder = design_layer(
        40, FLY_LAYER, n_cells=70_000, fan_in=8, n_active=4, channels="raw", seed=1
    )
    codes = coder.native.encode(np.random.default_rng(0).random((50, 40)), 1)
    memory = CountingMemory(70_000)
    for _ in range(2):
        memory.learn(codes, [0, 1] * 25, AUTO)
    sample = memory.calibration_sample()
    assert sorted(hashable(sample.codes)) == sorted(hashable(codes))
    assert set(sample.counts.tolist()) == {2}


def test_classes_and_samples_of_a_class_count_alike():
    memory = learn(CountingMemory(60), X[[0, 0, 0, 1, 2, 3]], np.array([1, 1, 1, 1, 2, 2]))
    shares = memory.calibration_sample().shares
    assert shares.sum() == pytest.approx(1)
    assert sorted(shares) == pytest.approx([0.125, 0.25, 0.25, 0.375])
