"""Class weights: ranking by an 8-bit copy gives the classes that exact scores give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import _native
from kenyon._native import ClassWeights
from tests.reading import dense, instruction_set

N_CELLS = 75
MAX_DOUBLE_CLASSES = 1024
SETS = _native.instruction_sets()


def new_coder(n_cells=N_CELLS, n_active=N_CELLS // 2, seed=0):
    return _native.Coder(16, n_cells, 3, n_active, "raw", subtract=True, seed=seed)


def encode(n_samples, **coder):
    X = np.random.default_rng(0).random((n_samples, 16))
    return new_coder(**coder).encode(X, 1)


def encode_each(n_samples):
    """Return the codes of `encode`, one by one."""
    X = np.random.default_rng(0).random((n_samples, 1, 16))
    return [new_coder().encode(x, 1) for x in X]


CODES = encode(40)
FOREIGN = encode(1, n_cells=N_CELLS + 1)


def filled(W):
    weights = ClassWeights(W.shape[1], len(W))
    for slot, row in enumerate(W):
        weights.set(slot, row)
    return weights


def rows(weights):
    return np.array([weights.get(slot) for slot in range(weights.n_classes)])


def order_of(n_classes, seed=0):
    return np.random.default_rng(seed).permutation(n_classes).astype(np.int32)


def expected_top(weights, codes, k, scale, offsets, order):
    """Sort all exact scores: descending, and by rank where they are equal."""
    raw = weights.scores(codes, 1)
    scores = (scale * (raw if offsets is None else raw + offsets))[:, order]
    ranks = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return ranks, np.take_along_axis(scores, ranks, axis=1)


def check_ranking(weights, codes, scale=None, offsets=None, order=None, k=3):
    n_classes = weights.n_classes
    scale = np.ones(n_classes) if scale is None else scale
    order = order_of(n_classes) if order is None else order
    ranks, scores = expected_top(weights, codes, min(k, n_classes), scale, offsets, order)
    for n_threads in (1, 3):
        best = weights.best(codes, scale, offsets, order, n_threads)
        assert best.tolist() == ranks[:, 0].tolist()
        top = weights.top(codes, min(k, n_classes), scale, offsets, order, n_threads)
        assert top[0].tolist() == ranks.tolist()
        assert top[1].tolist() == scores.tolist()


def random_weights(rng, n_classes, exponents=(0,)):
    sizes = 10.0 ** rng.choice(exponents, (n_classes, 1))
    return rng.standard_normal((n_classes, N_CELLS)) * sizes


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_classes=st.sampled_from([1, 2, 9, 63, 64, 65, 130, 200]),
    exponents=st.sampled_from(
        [(0,), (-3, 0), (-20, 20), (200, 299), (-299, -280), (-323, -300), (-320, 0, 290)]
    ),
    with_offsets=st.booleans(),
)
def test_best_and_top_are_those_of_exact_scores(seed, n_classes, exponents, with_offsets):
    rng = np.random.default_rng(seed)
    weights = filled(random_weights(rng, n_classes, exponents))
    offsets = None
    if with_offsets:
        offsets = random_weights(rng, len(CODES), exponents)[:, :1] * rng.standard_normal(n_classes)
    # Scores of tiny weights are scaled to sizes that float32 can tell apart.
    scale = rng.random(n_classes) * 10.0 ** min(300, -max(exponents))
    check_ranking(weights, CODES, scale, offsets, order_of(n_classes, seed))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_classes=st.sampled_from([3, 64, 150]),
    n_ulps=st.integers(0, 2),
    size=st.sampled_from([1e-310, 1e-250, 1.0, 1e280]),
)
def test_ties_and_differences_of_one_bit(seed, n_classes, n_ulps, size):
    rng = np.random.default_rng(seed)
    W = np.repeat(rng.standard_normal((1, N_CELLS)) * size, n_classes, axis=0)
    for _ in range(n_ulps):
        W[rng.random(W.shape) < 0.02] *= 1 + 2.0**-52
    check_ranking(filled(W), CODES, order=order_of(n_classes, seed), k=n_classes)


def test_ties_by_scale_and_offset():
    W = np.outer([1.0, 2.0, 4.0, 0.5], np.ones(N_CELLS))
    order = np.array([2, 0, 3, 1], dtype=np.int32)
    weights = filled(W)
    scale = np.array([1.0, 0.5, 0.25, 2.0])
    assert set(weights.best(CODES, scale, None, order, 1).tolist()) == {0}
    raw = weights.scores(CODES, 1)
    assert set(weights.best(CODES, np.ones(4), raw.max() - raw, order, 1).tolist()) == {0}
    assert set(weights.best(CODES, np.zeros(4), None, order, 1).tolist()) == {0}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_classes", [2, 70, MAX_DOUBLE_CLASSES + 1])
def test_weights_that_round_in_the_worst_direction(sign, n_classes):
    """The better of two classes seems worse by nearly the sum of both radii."""
    near, order = 0.4999, np.arange(n_classes, dtype=np.int32)
    for code, levels in zip(encode_each(5), dense(encode(5), N_CELLS), strict=True):
        silent = int(np.flatnonzero(levels == 0)[0])
        better = np.full(N_CELLS, sign * 40 + near)
        worse = better - 1e-4
        better[silent] = 127
        worse[silent] = 127 * worse[-1 if silent == 0 else 0] / (sign * 40 - near)
        W = np.vstack([[worse, better], np.full((n_classes - 2, N_CELLS), -127.0)])
        weights = filled(W)
        assert weights.best(code, np.ones(n_classes), None, order, 1).tolist() == [1]
        check_ranking(weights, code)


def test_offsets_that_round_scores_to_a_tie():
    """The exact score of the first class rounds up to that of the second, its estimate down."""
    for code, levels in zip(encode_each(5), dense(encode(5), N_CELLS), strict=True):
        silent = int(np.flatnonzero(levels == 0)[0])
        W = np.outer([40.4999, 80.0], np.ones(N_CELLS)) / (40.25 * levels.sum())
        W[:, silent] = 127 / (40.25 * levels.sum())
        # The sums are multiples of 2, and the offset is the last that is 2.0**53 as a float32.
        offsets = np.full((1, 2), 2.0**53 + 2.0**29)
        weights, order = filled(W), np.arange(2, dtype=np.int32)
        assert (weights.scores(code, 1) + offsets == offsets + 2).all()
        assert weights.best(code, np.ones(2), offsets, order, 1).tolist() == [0]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), exponents=st.sampled_from([(0,), (-30, 30), (-42,)]))
def test_float_weights(seed, exponents):
    rng = np.random.default_rng(seed)
    n_classes = MAX_DOUBLE_CLASSES + 1 + int(rng.integers(70))
    W = random_weights(rng, n_classes, exponents)
    W[1::7] = W[0]
    weights = filled(W)
    assert weights.is_float
    assert rows(weights).tolist() == W.astype(np.float32).tolist()
    check_ranking(weights, CODES, rng.random(n_classes))


def test_bounds_leave_few_candidates():
    """The winner of a clear decision is the only candidate."""
    n_classes = 300
    W = dense(encode(n_classes), N_CELLS) - 100.0
    order = np.arange(n_classes, dtype=np.int32)
    counts = filled(W).count_candidates(CODES, np.ones(n_classes), None, order, 1)
    assert counts.min() == 1
    assert counts.mean() < 10
    equal = filled(np.ones((n_classes, N_CELLS)))
    assert set(equal.count_candidates(CODES, np.ones(n_classes), None, order, 1)) == {n_classes}


@pytest.mark.parametrize("n_classes", [100, MAX_DOUBLE_CLASSES + 10])
def test_every_instruction_set_gives_the_same_bits(n_classes):
    rng = np.random.default_rng(5)
    W = random_weights(rng, n_classes, (-2, 0))
    gains, errors = rng.standard_normal((5, N_CELLS)), rng.standard_normal((5, n_classes))
    scale, order = rng.random(n_classes), order_of(n_classes)
    results = []
    for name in SETS:
        with instruction_set(name):
            weights = filled(W)
            weights.add(gains, errors, 1)
            top = weights.top(CODES, 4, scale, None, order, 1)
            counts = weights.count_candidates(CODES, scale, None, order, 1)
            scores = weights.scores(CODES, 1)
            check_ranking(weights, CODES, scale)
            results.append([a.tolist() for a in (rows(weights), scores, counts, *top)])
    assert all(result == results[0] for result in results)


def test_more_active_cells_than_fit_into_32_bits():
    n_cells = 70_001
    codes = encode(2, n_cells=n_cells, n_active=n_cells - 1)
    assert dense(codes, n_cells).sum() * 255 > 2**31
    W = np.ones((3, n_cells)) * [[0.9], [1.0], [-1.0]]
    for name in SETS:
        with instruction_set(name):
            weights = filled(W)
            check_ranking(weights, codes)
            order = np.arange(3, dtype=np.int32)
            assert weights.count_candidates(codes, np.ones(3), None, order, 1).tolist() == [1, 1]


@pytest.mark.parametrize("n_classes", [7, MAX_DOUBLE_CLASSES + 1])
@pytest.mark.parametrize("n_active", [1, 2, 37, 74])
def test_scores_are_sums_of_level_times_weight(n_classes, n_active):
    codes = encode(37, n_active=n_active)
    W = np.random.default_rng(1).standard_normal((n_classes, N_CELLS))
    weights = filled(W)
    levels = dense(codes, N_CELLS)
    scores = weights.scores(codes, 1)
    bound = 1e-14 * (levels @ np.abs(W.T))
    assert (np.abs(scores - levels @ rows(weights).T) <= bound).all()
    integers = filled(np.round(W * 100))
    assert (integers.scores(codes, 1) == levels @ np.round(W * 100).T).all()


@pytest.mark.parametrize("n_classes", [90, MAX_DOUBLE_CLASSES + 1])
def test_batches_and_threads_change_nothing(n_classes):
    rng = np.random.default_rng(2)
    weights = filled(random_weights(rng, n_classes))
    scale, order = rng.random(n_classes), order_of(n_classes)
    X = rng.random((150, 16))
    coder = new_coder()
    codes = coder.encode(X, 1)
    scores = weights.scores(codes, 1)
    best = weights.best(codes, scale, None, order, 1)
    for n_threads in (0, 2, 5):
        assert (weights.scores(codes, n_threads) == scores).all()
        assert (weights.best(codes, scale, None, order, n_threads) == best).all()
    for i in range(0, len(X), 7):
        one = coder.encode(X[i : i + 1], 1)
        assert (weights.scores(one, 1)[0] == scores[i]).all()
        assert weights.best(one, scale, None, order, 1)[0] == best[i]


def test_several_threads_may_read():
    rng = np.random.default_rng(3)
    weights = filled(random_weights(rng, 200))
    scale, order = rng.random(200), order_of(200)
    expected = weights.best(CODES, scale, None, order, 1).tolist()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: weights.best(CODES, scale, None, order, 2), range(50)))
    assert all(result.tolist() == expected for result in results)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_classes=st.sampled_from([1, 5, 64, 100]),
    n_cells=st.sampled_from([1, 3, 16, 75, 131]),
    n_terms=st.sampled_from([0, 1, 2, 33, 70]),
)
def test_add_is_a_sum_of_products(seed, n_classes, n_cells, n_terms):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((n_classes, n_cells))
    gains, errors = (
        rng.standard_normal((n_terms, n_cells)),
        rng.standard_normal((n_terms, n_classes)),
    )
    expected = W.copy()
    for t in range(n_terms):
        expected += np.outer(errors[t], gains[t])
    results = []
    for n_threads in (1, 3):
        weights = filled(W)
        weights.add(gains, errors, n_threads)
        results.append(rows(weights))
        codes = encode(5, n_cells=n_cells, n_active=max(1, n_cells // 2))
        check_ranking(weights, codes)
    assert (results[0] == results[1]).all()
    assert (results[0] == expected).all()


def test_float_weights_are_rounded_once_by_add():
    rng = np.random.default_rng(4)
    n_classes = MAX_DOUBLE_CLASSES + 70
    W = rng.standard_normal((n_classes, N_CELLS)).astype(np.float32).astype(np.float64)
    gains, errors = rng.standard_normal((9, N_CELLS)), rng.standard_normal((9, n_classes))
    weights = filled(W)
    weights.add(gains, errors, 2)
    for t in range(9):
        W += np.outer(errors[t], gains[t])
    assert (rows(weights) == W.astype(np.float32)).all()
    check_ranking(weights, CODES)


@settings(max_examples=30, deadline=None)
@given(
    start=st.sampled_from([0, 1, 63, 64, 65]),
    changes=st.lists(st.tuples(st.sampled_from(["insert", "drop", "set", "add"]), st.integers(0))),
)
def test_changes_keep_slots_and_ranking(start, changes):
    rng = np.random.default_rng(start)
    W = rng.standard_normal((start, N_CELLS))
    weights = filled(W)
    for change, number in changes:
        if change == "insert":
            weights.insert()
            W = np.vstack([W, np.zeros(N_CELLS)])
        elif len(W) and change == "drop":
            weights.drop(number % len(W))
            W[number % len(W)] = W[-1]
            W = W[:-1]
        elif len(W) and change == "set":
            W[number % len(W)] = rng.standard_normal(N_CELLS)
            weights.set(number % len(W), W[number % len(W)])
        elif change == "add":
            gain, error = rng.standard_normal((1, N_CELLS)), rng.standard_normal((1, len(W)))
            weights.add(gain, error, 1)
            W = W + error.T * gain
    assert weights.n_classes == len(W)
    assert rows(weights).tolist() == W.tolist()
    if len(W):
        check_ranking(weights, CODES)


def test_weights_become_float_beyond_the_limit():
    rng = np.random.default_rng(6)
    W = rng.standard_normal((MAX_DOUBLE_CLASSES, N_CELLS))
    weights = filled(W)
    assert not weights.is_float
    assert (rows(weights) == W).all()
    before = weights.nbytes
    weights.insert()
    assert weights.is_float
    assert weights.nbytes < 0.7 * before
    assert (rows(weights)[:-1] == W.astype(np.float32)).all()
    assert not weights.get(MAX_DOUBLE_CLASSES).any()
    check_ranking(weights, CODES)
    weights.drop(3)
    assert weights.is_float
    assert (weights.get(3) == 0).all()
    check_ranking(weights, CODES)


def test_nbytes_counts_rows_and_blocks_of_bytes():
    padded, block = 80, 64 * N_CELLS
    assert ClassWeights(N_CELLS, 0).nbytes == 0
    assert ClassWeights(N_CELLS, 65).nbytes == 65 * (padded * 8 + 16) + 2 * block
    assert ClassWeights(N_CELLS, 1025).nbytes == 1025 * (padded * 4 + 16) + 17 * block


def test_an_empty_batch_and_a_code_without_active_cells():
    weights = filled(np.ones((5, N_CELLS)))
    coder = new_coder()
    order = np.array([4, 3, 2, 1, 0], dtype=np.int32)
    none = coder.encode(np.zeros((0, 16)), 1)
    assert weights.scores(none, 1).shape == (0, 5)
    assert weights.best(none, np.ones(5), None, order, 1).shape == (0,)
    assert [a.shape for a in weights.top(none, 2, np.ones(5), None, order, 1)] == [(0, 2)] * 2
    silent = coder.encode(np.zeros((1, 16)), 1)
    assert silent.to_csr()[0].tolist() == [0, 0]
    assert weights.best(silent, np.ones(5), None, order, 1).tolist() == [0]
    assert weights.best(silent, np.ones(5), np.eye(5)[2:3], order, 1).tolist() == [2]


ONE = np.ones(3)
ORDER = np.arange(3, dtype=np.int32)


def three():
    return ClassWeights(N_CELLS, 3)


def with_row(value):
    row = np.zeros(N_CELLS)
    row[-1] = value
    return row


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ClassWeights(0, 1), "n_cells must be from 1"),
        (lambda: ClassWeights(_native.MAX_CELLS + 1, 1), "n_cells must be from 1"),
        (lambda: ClassWeights(5, -1), "n_classes must be from 0"),
        (lambda: three().get(3), "slot must be from 0 to 2, but is 3"),
        (lambda: three().set(-1, with_row(0)), "slot must be from 0 to 2, but is -1"),
        (lambda: three().drop(3), "slot must be from 0 to 2, but is 3"),
        (lambda: three().set(0, np.zeros(N_CELLS - 1)), "length of row must be 75, but is 74"),
        (lambda: three().set(0, with_row(np.nan)), "row contains NaN or infinity"),
        (lambda: three().set(0, with_row(-np.inf)), "row contains NaN or infinity"),
        (
            lambda: three().add(np.zeros((2, N_CELLS + 1)), np.zeros((2, 3)), 1),
            r"gains must be \(2, 75\), but is \(2, 76\)",
        ),
        (
            lambda: three().add(np.zeros((2, N_CELLS)), np.zeros((1, 3)), 1),
            r"errors must be \(2, 3\), but is \(1, 3\)",
        ),
        (lambda: three().add(np.full((1, N_CELLS), np.nan), np.zeros((1, 3)), 1), "gains contains"),
        (lambda: three().add(np.zeros((1, N_CELLS)), np.full((1, 3), np.inf), 1), "errors contai"),
        (lambda: three().scores(FOREIGN, 1), "cells of codes must be 75, but is 76"),
        (lambda: three().best(FOREIGN, ONE, None, ORDER, 1), "cells of codes must be 75"),
        (lambda: three().best(CODES, ONE[:2], None, ORDER, 1), "length of scale must be 3"),
        (lambda: three().best(CODES, -ONE, None, ORDER, 1), "scale must not be negative"),
        (lambda: three().best(CODES, ONE * np.inf, None, ORDER, 1), "scale contains NaN"),
        (lambda: three().best(CODES, ONE, np.ones((1, 3)), ORDER, 1), r"offsets must be \(40, 3\)"),
        (lambda: three().best(CODES, ONE, None, ORDER[:2], 1), "slot_of_rank must be 3"),
        (lambda: three().best(CODES, ONE, None, ORDER + 1, 1), "slot must be from 0 to 2"),
        (lambda: three().best(CODES, ONE, None, ORDER // 2, 1), "slot_of_rank contains 0 twice"),
        (lambda: three().top(CODES, 0, ONE, None, ORDER, 1), "k must be from 1 to 3, but is 0"),
        (lambda: three().top(CODES, 4, ONE, None, ORDER, 1), "k must be from 1 to 3, but is 4"),
        (lambda: three().count_candidates(FOREIGN, ONE, None, ORDER, 1), "cells of codes must be"),
        (
            lambda: ClassWeights(N_CELLS, 0).best(CODES, ONE[:0], None, ORDER[:0], 1),
            "there are no classes",
        ),
    ],
)
def test_rejects_invalid_arguments(call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call()
