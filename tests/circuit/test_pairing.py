"""Pairs of cells: exact sums for every order, batch, instruction set and number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import _native
from kenyon._native import Counters, Pairs
from kenyon._validation import design_layer
from kenyon.circuit import CountingMemory, PairingMemory
from kenyon.circuit.defaults import FLY_LAYER
from tests import reference
from tests.circuit import changes
from tests.reading import AUTO, dense, instruction_set, restored, state

# Enough cells for several blocks of rows.
CODER = design_layer(12, FLY_LAYER, n_cells=420, fan_in=3, n_active=12, seed=5)
POOL = np.random.default_rng(1).standard_normal((60, 12))
# So many active cells that many samples are multiplied at once; the last panel is partly empty.
BUSY = design_layer(12, FLY_LAYER, n_cells=77, fan_in=3, n_active=50, seed=5)

samples = st.lists(st.tuples(st.integers(0, 59), st.integers(0, 5)), min_size=1, max_size=60)


def encode(chosen):
    rows = [row for row, _ in chosen]
    return CODER.native.encode(POOL[rows], 1), [label for _, label in chosen]


def learned(chosen):
    memory = PairingMemory(CODER.n_cells)
    if chosen:
        memory.learn(*encode(chosen), AUTO, 2)
    return memory


def levels(row):
    code = reference.code(POOL[row], CODER)
    return np.array([code.get(cell, 0) for cell in range(CODER.n_cells)])


@given(samples, st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_pairs_are_sums_of_products_of_levels(chosen, n_threads):
    memory = learned(chosen)
    expected = sum(np.outer(levels(row), levels(row)) for row, _ in chosen)
    assert memory.pairs.expand(n_threads).tolist() == np.tril(expected).tolist()
    assert memory.pairs.get().tolist() == expected[np.tril_indices(CODER.n_cells)].tolist()
    assert memory.pairs.n_samples == len(chosen)


@given(samples, st.randoms(), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_order_batches_and_shards_do_not_matter(chosen, random, n_shards):
    whole = state(learned(chosen))
    one_by_one = PairingMemory(CODER.n_cells)
    for sample in random.sample(chosen, len(chosen)):
        one_by_one.learn(*encode([sample]), AUTO)
    merged = PairingMemory(CODER.n_cells)
    for i in range(n_shards):
        merged.merge(learned(chosen[i::n_shards]))
    assert state(one_by_one) == state(merged) == whole


def paired(codes, n_threads=2):
    counters, pairs = Counters(BUSY.n_cells), Pairs(BUSY.n_cells)
    counters.insert(np.zeros(1, np.int32))
    slots = np.zeros(len(codes), dtype=np.int32)
    assert changes.learn(counters, pairs, codes, slots, n_threads)
    return counters, pairs


# Two samples are added one by one; 1024 are a block, so that the last block has three.
@pytest.mark.parametrize("n_samples", [2, 63, 64, 1024, 2051])
def test_blocks_give_the_sums_of_one_by_one(n_samples):
    X = np.random.default_rng(n_samples).standard_normal((n_samples, 12))
    codes = BUSY.native.encode(X, 1)
    rows = dense(codes, BUSY.n_cells)
    expected = (rows.T @ rows)[np.tril_indices(BUSY.n_cells)].tolist()
    for name in _native.instruction_sets():
        with instruction_set(name):
            for n_threads in (1, 3):
                assert paired(codes, n_threads)[1].get().tolist() == expected


def test_the_largest_sums_of_a_block_do_not_overflow():
    alike = design_layer(40, FLY_LAYER, n_cells=77, fan_in=40, n_active=77, seed=5)
    codes = alike.native.encode(np.ones((2048, 40)), 1)
    assert set(paired(codes)[1].get().tolist()) == {2048 * 255**2}


def test_blocks_are_unlearned_or_nothing_changes():
    X = np.random.default_rng(0).standard_normal((300, 12))
    codes, others = BUSY.native.encode(X, 1), BUSY.native.encode(-X[:100], 1)
    slots = np.zeros(300, dtype=np.int32)
    counters, pairs = paired(codes)
    assert changes.learn(counters, None, others, slots[:100])
    before = pairs.get().tolist()
    pairs.set(np.where(np.arange(len(before)) % 2, before, 0), 300)
    changed = pairs.get().tolist()
    assert not changes.unlearn(counters, pairs, others, slots[:100], 2)
    assert pairs.get().tolist() == changed
    assert pairs.n_samples == 300
    pairs.set(np.array(before), 300)
    assert changes.unlearn(counters, pairs, codes, slots, 2)
    assert not any(pairs.get())
    assert pairs.n_samples == 0


@given(samples, samples)
@settings(max_examples=25, deadline=None)
def test_unlearn_is_exact(chosen, removed):
    memory = learned(chosen + removed)
    memory.unlearn(*encode(removed), 2)
    assert state(memory) == state(learned(chosen))


def test_rejects_a_pair_that_was_never_active_together():
    rows = np.zeros((3, 12))
    rows[0, :4], rows[1, 4:8], rows[2, 2:6] = 1, 1, 0.2
    memory = PairingMemory(CODER.n_cells)
    for _ in range(3):
        memory.learn(CODER.native.encode(rows[:2], 1), [0, 0], AUTO)
    before = state(memory)
    with pytest.raises(ValueError, match="were not learned"):
        memory.unlearn(CODER.native.encode(rows[2:], 1), [0])
    assert state(memory) == before


def test_rejected_unlearn_changes_nothing():
    memory = learned([(0, 0), (1, 1)])
    before = state(memory)
    for never in ([(2, 0)], [(0, 0), (2, 1)], [(0, 1)], [(0, 0), (0, 0)]):
        with pytest.raises(ValueError, match="were not learned"):
            memory.unlearn(*encode(never))
        assert state(memory) == before


def test_counters_are_those_of_a_memory_without_pairs():
    chosen = [(i, i % 4) for i in range(40)]
    plain = CountingMemory(CODER.n_cells)
    plain.learn(*encode(chosen), AUTO)
    memory = learned(chosen)
    assert memory.synapses.tolist() == plain.synapses.tolist()
    assert memory.nbytes == plain.nbytes + 4 * CODER.n_cells * (CODER.n_cells + 1) // 2


def test_pairs_keep_the_samples_of_dropped_classes():
    memory = learned([(0, 0), (1, 1)])
    before = memory.pairs.get().tolist()
    memory.drop_class(1)
    assert memory.classes.tolist() == [0]
    assert memory.pairs.get().tolist() == before


def test_copies_are_equal_and_independent():
    memory = learned([(i, i % 3) for i in range(9)])
    before = state(memory)
    for other in (memory.copy(), restored(memory)):
        assert state(other) == before
        other.learn(*encode([(4, 1)]), AUTO)
        assert state(other) != before == state(memory)


def test_the_kernel_rejects_arguments_that_do_not_match():
    counters, pairs, others = Counters(CODER.n_cells), Pairs(CODER.n_cells), Pairs(7)
    counters.insert(np.zeros(1, np.int32))
    codes, _ = encode([(0, 0)])
    slots = np.zeros(1, dtype=np.int32)
    for change in (changes.learn, changes.unlearn):
        with pytest.raises(ValueError, match="the number of cells of pairs must be 420, but is 7"):
            change(counters, others, codes, slots, 1)
        with pytest.raises(ValueError, match="the number of cells of codes must be 420, but is 77"):
            change(counters, pairs, BUSY.native.encode(POOL[:1], 1), slots, 1)
        with pytest.raises(IndexError, match="slot must be from 0 to 0, but is 1"):
            change(counters, pairs, codes, slots + 1, 1)
        with pytest.raises(ValueError, match="the length of slots must be 1, but is 0"):
            change(counters, pairs, codes, slots[:0], 1)
    other, other_pairs = counters.copy(), pairs.copy()
    for arguments, message in [
        ((other, others, slots), "the number of cells of pairs must be 420, but is 7"),
        ((other, other_pairs, slots[:0]), "the length of slots must be 1, but is 0"),
        ((other, None, slots), "both memories must have pairs, or none"),
        ((counters, other_pairs, slots), "a memory cannot be merged with itself"),
    ]:
        with pytest.raises(ValueError, match=message):
            changes.merge(counters, pairs, *arguments)
    with pytest.raises(ValueError, match="the length of sums must be 88410, but is 3"):
        pairs.set(np.zeros(3, dtype=np.int64), 1)
    with pytest.raises(ValueError, match="n_cells must be from 1 to 1048576, but is 0"):
        Pairs(0)


def test_rejects_more_samples_than_are_exact():
    memory = learned([(0, 0), (1, 1)])
    memory.pairs.set(memory.pairs.get(), _native.MAX_SAMPLES - 1)
    before = state(memory)
    message = "more than 137438953472 samples in all"
    with pytest.raises(OverflowError, match=message):
        memory.learn(*encode([(2, 0), (3, 2)]), AUTO)
    with pytest.raises(OverflowError, match=message):
        memory.merge(learned([(2, 0), (3, 2)]))
    assert state(memory) == before


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_rows", [3, 300])
def test_sums_become_wider_before_they_overflow(n_rows, n_threads):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, 12))
    codes = BUSY.native.encode(X, 1)
    counters, pairs = paired(codes, n_threads)
    narrow, sums = pairs.nbytes, pairs.get().astype(np.int64)
    near = np.where(sums == sums.max(), 2**32 - 1 - sums.max(), sums)
    pairs.set(near, 2**20)
    slots = np.zeros(n_rows, dtype=np.int32)
    assert pairs.nbytes == narrow
    assert changes.learn(counters, pairs, codes, slots, n_threads)
    assert pairs.get().tolist() == (near + sums).tolist()
    assert pairs.get().max() == 2**32 - 1
    assert pairs.get().dtype == np.uint32
    assert changes.learn(counters, pairs, codes, slots, n_threads)
    assert pairs.get().tolist() == (near + 2 * sums).tolist()
    assert pairs.get().dtype == np.int64
    assert pairs.nbytes == 2 * narrow
    assert changes.unlearn(counters, pairs, codes, slots, n_threads)
    assert pairs.get().tolist() == (near + sums).tolist()
    assert pairs.get().dtype == np.uint32, "what is saved depends on the sums alone"


@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
def test_sums_are_set_from_either_width(dtype):
    pairs = Pairs(3)
    sums = np.array([9, 3, 4, 2**32 - 1, 0, 7], dtype)
    pairs.set(sums, 5)
    assert pairs.get().tolist() == sums.tolist()
    assert (pairs.largest, pairs.n_samples, pairs.nbytes) == (2**32 - 1, 5, 24)


@pytest.mark.parametrize(
    ("sums", "expected"),
    [([4, 6, 9], True), ([4, 7, 9], False), ([0, 0, 9], True), ([0, 1, 9], False)],
)
@pytest.mark.parametrize("factor", [1, 2**33])
def test_products_are_bounded_by_squares(sums, expected, factor):
    pairs = Pairs(2)
    pairs.set(np.array(sums) * factor, 5)
    assert pairs.may_be_products() is expected


@given(
    ours=st.sampled_from([5, 2**31, 2**32 - 1, 2**40]),
    theirs=st.sampled_from([7, 2**31, 2**32 - 1, 2**40]),
)
def test_merge_is_exact_for_every_width(ours, theirs):
    memories = []
    for sum_ in (ours, theirs):
        counters, pairs = Counters(3), Pairs(3)
        pairs.set(np.arange(6) * (sum_ // 5), 2**30)
        memories.append((counters, pairs))
    (counters, pairs), (other, other_pairs) = memories
    assert changes.merge(counters, pairs, other, other_pairs, np.zeros(0, dtype=np.int32))
    assert pairs.get().tolist() == (np.arange(6) * (ours // 5 + theirs // 5)).tolist()
