"""The checks of the kernel's arguments, its limits and its stub."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import kenyon
from kenyon import _native

SLOTS = np.zeros(1, dtype=np.int32)


def coder(**changes):
    arguments = {"n_features": 8, "n_cells": 20, "fan_in": 2, "n_active": 3, "channels": "raw"}
    return _native.Coder(**{**arguments, "subtract": False, "seed": 0, **changes})


def one_class(kind):
    memory = kind(20)
    memory.insert(0)
    return memory


CODES = coder().encode(np.eye(8)[:1], 1)
FOREIGN = coder(n_cells=40).encode(np.eye(8)[:1], 1)
COUNTERS, WEIGHTS = _native.Counters, _native.Weights


@pytest.mark.parametrize(
    "call",
    [
        lambda: coder(n_features=0),
        lambda: coder(n_features=2**30),
        lambda: coder(n_cells=0),
        lambda: coder(n_cells=_native.MAX_CELLS + 1),
        lambda: coder(fan_in=9),
        lambda: coder(n_features=9000, fan_in=_native.MAX_FAN_IN + 1),
        lambda: coder(n_active=21),
        lambda: coder().encode(np.zeros((3, 7)), 1),
        lambda: coder().encode_one(np.zeros(9)),
        lambda: coder().encode_one(np.array([np.nan, *range(7)])),
        lambda: coder().encode_one(np.array([np.inf, *range(7)], dtype=np.float32)),
        lambda: one_class(COUNTERS).learn(FOREIGN, SLOTS),
        lambda: one_class(COUNTERS).learn(CODES, np.zeros(2, dtype=np.int32)),
        lambda: one_class(COUNTERS).learn(CODES, SLOTS + 1),
        lambda: one_class(COUNTERS).unlearn(CODES, SLOTS - 1),
        lambda: one_class(COUNTERS).merge(COUNTERS(21), np.zeros(0, dtype=np.int32)),
        lambda: one_class(COUNTERS).merge(one_class(COUNTERS), SLOTS + 1),
        lambda: COUNTERS(0),
        lambda: COUNTERS(2**58),
        lambda: WEIGHTS(-1),
        lambda: one_class(COUNTERS).insert(2),
        lambda: one_class(WEIGHTS).insert(-1),
        lambda: one_class(COUNTERS).insert_all(np.array([0, 3], np.int32)),
        lambda: one_class(COUNTERS).insert_all(np.array([0, -1], np.int32)),
        lambda: one_class(WEIGHTS).insert_all(np.array([1, 1], np.int32)),
        lambda: one_class(COUNTERS).set_all(np.zeros((2, 20), np.int32), np.zeros(1, np.int64)),
        lambda: one_class(COUNTERS).set_all(np.zeros((1, 19), np.int32), np.zeros(1, np.int64)),
        lambda: one_class(WEIGHTS).set_all(np.zeros((1, 20)), np.zeros(2, np.int64)),
        lambda: one_class(COUNTERS).includes_calibration(1),
        lambda: one_class(COUNTERS).disable_calibration(SLOTS + 1),
        lambda: one_class(COUNTERS).set_calibration(
            2**62, *[np.zeros(2, np.int64)] * 2, *[np.zeros(1, np.int64)] * 2, np.zeros(0, np.uint8)
        ),
        lambda: CODES.part(0, 2),
        lambda: CODES.part(1, 0),
        lambda: CODES.part(-1, 1),
        lambda: one_class(COUNTERS).move(0, 1),
        lambda: one_class(COUNTERS).move(1, 0),
        lambda: one_class(COUNTERS).drop(1),
        lambda: one_class(COUNTERS).get(1),
        lambda: one_class(COUNTERS).set(0, np.zeros(19, dtype=np.int32), 1),
        lambda: one_class(COUNTERS).cap(1, None),
        lambda: one_class(COUNTERS).has_residue(-1),
        lambda: one_class(COUNTERS).scores(FOREIGN, None, 1),
        lambda: one_class(COUNTERS).best_one(FOREIGN, None),
        lambda: COUNTERS(20).best(CODES, None, 1),
        lambda: one_class(WEIGHTS).learn(CODES, SLOTS, 0.1, 1.0),
        lambda: one_class(WEIGHTS).learn(CODES, SLOTS + 1, 0.1, 0.1),
        lambda: one_class(WEIGHTS).scores(FOREIGN, 1),
        lambda: WEIGHTS(20).best_one(CODES),
        lambda: _native.use_instruction_set("abacus"),
    ],
)
def test_rejects_invalid_arguments(call):
    with pytest.raises((ValueError, IndexError)):
        call()


def test_rejects_arrays_of_other_types_and_layouts():
    for X in (np.zeros((2, 8), dtype=np.int64), np.asfortranarray(np.zeros((2, 8))), [[0.0] * 8]):
        with pytest.raises(TypeError):
            coder().encode(X, 1)


def test_messages_name_the_argument_and_its_limits():
    for call, message in [
        (lambda: coder(fan_in=9), "fan_in must be from 1 to 8, but is 9"),
        (lambda: coder().encode_one(np.zeros(9)), "X has 9 features, but 8 were expected"),
        (lambda: COUNTERS(0), "n_cells must be from 1 to 1048576, but is 0"),
        (lambda: one_class(COUNTERS).insert(2), "rank must be from 0 to 1, but is 2"),
        (
            lambda: one_class(COUNTERS).learn(FOREIGN, SLOTS),
            "the number of cells of codes must be 20, but is 40",
        ),
        (lambda: WEIGHTS(20).best(CODES, 1), "the memory has no classes"),
        (
            lambda: _native.use_instruction_set("abacus"),
            "the instruction set 'abacus' is not available here",
        ),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            call()
    with pytest.raises(IndexError, match="slot must be from 0 to 0, but is 1"):
        one_class(COUNTERS).drop(1)


@pytest.mark.parametrize("kind", [COUNTERS, WEIGHTS])
def test_new_classes_have_the_ranks_given(kind):
    memory, slots = kind(20), []
    for ranks in ([1, 0], [2, 0, 4], [1], []):
        for rank, slot in sorted(zip(ranks, range(len(slots), 9), strict=False)):
            slots.insert(rank, slot)
        memory.insert_all(np.array(ranks, np.int32))
        assert memory.slot_of_rank.tolist() == slots
    assert memory.samples.tolist() == [0] * 6


@pytest.mark.parametrize(("kind", "dtype"), [(COUNTERS, np.int32), (WEIGHTS, np.float64)])
@pytest.mark.parametrize("n_classes", [0, 1, 40])
def test_rows_are_in_the_order_of_ranks(kind, dtype, n_classes):
    memory = kind(20)
    memory.insert_all(np.random.default_rng(0).permutation(n_classes).astype(np.int32))
    rows = np.arange(n_classes * 20, dtype=dtype).reshape(n_classes, 20)
    memory.set_all(rows, np.arange(n_classes))
    np.testing.assert_array_equal(memory.get_all(), rows, strict=True)
    slots = memory.slot_of_rank
    assert memory.samples[slots].tolist() == list(range(n_classes))
    for rank, slot in enumerate(slots.tolist()):
        np.testing.assert_array_equal(memory.get(slot), rows[rank])


def test_a_part_of_codes_is_a_copy_of_them():
    codes = coder().encode(np.random.default_rng(0).random((6, 8)), 1)
    starts, cells, levels = codes.to_csr()
    for first, end in ((0, 6), (2, 5), (3, 3)):
        own = slice(starts[first], starts[end])
        part = codes.part(first, end).to_csr()
        expected = starts[first : end + 1] - starts[first], cells[own], levels[own]
        for found, array in zip(part, expected, strict=True):
            np.testing.assert_array_equal(found, array, strict=True)


def test_limits():
    assert (_native.MAX_FEATURES, _native.MAX_CELLS) == (2**24, 2**20)
    assert (_native.MAX_CONNECTIONS, _native.MAX_CLASSES) == (2**25, 2**21)
    assert _native.MAX_COUNT == 2**31 - 1
    assert (_native.MAX_FAN_IN, _native.MAX_LEVEL) == (4095, 255)
    assert _native.MAX_PAIR_SAMPLES == 2**37


@pytest.mark.parametrize("kind", [COUNTERS, WEIGHTS, _native.Pairs, lambda n: coder(n_cells=n)])
def test_max_cells_is_enforced(kind):
    limit = _native.MAX_CELLS
    with pytest.raises(ValueError, match=f"n_cells must be from 1 to {limit}, but is {limit + 1}"):
        kind(limit + 1)


def test_max_fan_in_is_enforced():
    limit = _native.MAX_FAN_IN
    assert coder(n_features=9000, fan_in=limit).connections.shape == (20, limit)
    with pytest.raises(ValueError, match=f"fan_in must be from 1 to {limit}, but is {limit + 1}"):
        coder(n_features=9000, fan_in=limit + 1)


def test_max_connections_is_enforced():
    n_cells = _native.MAX_CONNECTIONS // 4096
    assert coder(n_features=4096, n_cells=n_cells, fan_in=4095).nbytes > 4 * 4095 * n_cells
    message = "n_cells times fan_in must be at most 33554432, but is 33556480"
    with pytest.raises(ValueError, match=message):
        coder(n_features=4096, n_cells=16385, fan_in=2048)


def test_max_classes_is_enforced():
    counters = COUNTERS(1)
    counters.insert_all(np.arange(_native.MAX_CLASSES, dtype=np.int32))
    for insert in (counters.insert, lambda rank: counters.insert_all(np.array([rank], np.int32))):
        with pytest.raises(ValueError, match="a model may have up to 2097152 classes"):
            insert(0)


def test_one_sample_has_the_code_of_a_tile():
    X = np.random.default_rng(0).random((40, 8))
    many = coder().encode(X, 1)
    for i, x in enumerate(X):
        for one in (coder().encode(X[i : i + 1], 1), coder().encode_one(x)):
            for found, expected in zip(one.to_csr(), many.part(i, i + 1).to_csr(), strict=True):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("subtract", [False, True])
def test_the_strongest_cell_has_the_highest_level(subtract):
    X = np.random.default_rng(0).random((200, 8))
    starts, _, levels = coder(subtract=subtract).encode(X, 1).to_csr()
    assert set(np.maximum.reduceat(levels, starts[:-1]).tolist()) == {_native.MAX_LEVEL}


def test_max_count_is_enforced():
    limit, levels = _native.MAX_COUNT, CODES.to_csr()[2].astype(np.int32)
    counters = one_class(COUNTERS)
    counts = np.zeros(20, np.int32)
    counts[CODES.to_csr()[1]] = limit - levels
    counters.set(0, counts, 1)
    assert counters.learn(CODES, SLOTS)
    assert set(counters.gather(CODES, SLOTS).tolist()) == {limit}
    other = one_class(COUNTERS)
    other.set(0, np.ones(20, np.int32), 1)
    assert not counters.learn(CODES, SLOTS)
    assert not counters.merge(other, SLOTS)
    assert counters.get(0).max() == limit
    assert counters.samples.tolist() == [2]
    assert counters.cap(0, 1e-300) == limit


def test_max_pair_samples_is_enforced():
    limit, counters, pairs = _native.MAX_PAIR_SAMPLES, one_class(COUNTERS), _native.Pairs(20)
    sums, one = pairs.get(), _native.Pairs(20)
    one.set(sums, 1)
    for learn in (
        lambda: _native.learn_with_pairs(counters, pairs, CODES, SLOTS, 1),
        lambda: _native.merge_with_pairs(counters, pairs, one_class(COUNTERS), one, SLOTS),
    ):
        pairs.set(sums, limit - 1)
        assert learn()
        assert pairs.n_samples == limit
        before = pairs.get().tolist(), counters.get(0).tolist()
        assert not learn()
        assert (pairs.get().tolist(), counters.get(0).tolist()) == before
        assert pairs.n_samples == limit


def test_stub_matches_module():
    stub = ast.parse(Path(kenyon.__file__).with_name("_native.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(_native, node.name))
        elif isinstance(node, ast.AnnAssign):
            assert isinstance(getattr(_native, node.target.id), int | float)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            kind = getattr(_native, node.name)
            bodies = [classes[base.id].body for base in node.bases] + [node.body]
            named = {
                item.name if isinstance(item, ast.FunctionDef) else item.target.id
                for body in bodies
                for item in body
                if isinstance(item, ast.FunctionDef | ast.AnnAssign)
            }
            present = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
            assert {name for name in named if not name.startswith("__")} == present, node.name
