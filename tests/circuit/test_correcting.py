"""Learning from mistakes, against a literal loop in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import _native
from kenyon.circuit import Coder
from tests import reference

CODER = Coder.design(12, n_cells=90, fan_in=3, n_active=9, seed=5)
POOL = np.vstack([np.random.default_rng(1).standard_normal((60, 12)), np.zeros(12)])
CODES = [reference.code(x, CODER) for x in POOL]
N_CLASSES = 11  # more than a row of the kernel holds

sample = st.tuples(st.integers(0, len(POOL) - 1), st.integers(0, N_CLASSES - 1))
# Left to itself, Hypothesis draws lists that are too short to make many mistakes.
samples = st.just([]) | st.lists(sample, min_size=50, max_size=150)


def empty(order):
    """A store in which the class of slot s has the rank order[s]."""
    store = _native.Weights(CODER.n_cells)
    for slot in range(len(order)):
        store.insert(slot)
    for slot in np.argsort(order):
        store.move(int(slot), int(order[slot]))
    return store


def correct(store, chosen, always, weaken):
    codes = CODER.native.encode(POOL[[row for row, _ in chosen]], 1)
    store.correct(codes, np.array([slot for _, slot in chosen], dtype=np.int32), always, weaken)


def literal(chosen, order, always, weaken):
    weights = [[0] * CODER.n_cells for _ in order]
    by_rank = sorted(range(len(order)), key=order.__getitem__)
    for row, target in chosen:
        code = CODES[row].items()
        score = [sum(level * weights[slot][cell] for cell, level in code) for slot in by_rank]
        predicted = by_rank[score.index(max(score))]
        for cell, level in code:
            if always or predicted != target:
                weights[target][cell] += level
            if weaken and predicted != target:
                weights[predicted][cell] -= level
    return weights


def state(store):
    return [store.get(slot).tolist() for slot in range(store.n_classes)], store.samples.tolist()


@given(samples, st.permutations(range(N_CLASSES)), st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_path_does_as_the_literal_loop(chosen, order, always, weaken):
    expected = literal(chosen, order, always, weaken)
    n_taught = [sum(slot == taught for _, taught in chosen) for slot in range(N_CLASSES)]
    best = _native.current_path()
    try:
        for path in _native.available_paths():
            _native.use_path(path)
            store = empty(order)
            correct(store, chosen, always, weaken)
            assert state(store) == (expected, n_taught)
    finally:
        _native.use_path(best)


@given(samples, st.integers(0, 150), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_batches_do_not_matter(chosen, cut, always, weaken):
    whole, parts = empty(range(N_CLASSES)), empty(range(N_CLASSES))
    correct(whole, chosen, always, weaken)
    correct(parts, chosen[:cut], always, weaken)
    correct(parts, chosen[cut:], always, weaken)
    assert state(parts) == state(whole)


def test_weights_that_have_decayed_are_not_corrected():
    store = empty([0])
    store.learn(CODER.native.encode(POOL[:1], 1), np.zeros(1, dtype=np.int32), 0.1, 0.5)
    before = state(store)
    with pytest.raises(ValueError, match="decayed"):
        correct(store, [(1, 0)], True, False)
    assert state(store) == before
