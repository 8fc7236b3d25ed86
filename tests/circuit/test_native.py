"""The checks of the kernel's arguments, its limits and its stub."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import kenyon
from kenyon import _native
from tests.circuit import changes

SLOTS = np.zeros(1, dtype=np.int32)


def coder(**changes):
    arguments = {"n_features": 8, "n_cells": 20, "fan_in": 2, "n_active": 3, "channels": "raw"}
    return _native.Coder(**{**arguments, "subtract": False, "seed": 0, **changes})


def one_class(kind):
    memory = kind(20)
    memory.insert(SLOTS)
    return memory


def changed(counters, pairs=None, window=None, **changes):
    return _native.change(counters, pairs, window, 1, **changes)


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
        lambda: changes.learn(one_class(COUNTERS), None, FOREIGN, SLOTS),
        lambda: changes.learn(one_class(COUNTERS), None, CODES, np.zeros(2, dtype=np.int32)),
        lambda: changes.learn(one_class(COUNTERS), None, CODES, SLOTS + 1),
        lambda: changes.unlearn(one_class(COUNTERS), None, CODES, SLOTS - 1),
        lambda: changes.merge(one_class(COUNTERS), None, COUNTERS(21), None, SLOTS[:0]),
        lambda: changes.merge(one_class(COUNTERS), None, one_class(COUNTERS), None, SLOTS + 1),
        lambda: changed(one_class(COUNTERS), learned=CODES),
        lambda: changed(one_class(COUNTERS), unlearned=CODES),
        lambda: changed(
            one_class(COUNTERS), learned=CODES, learned_slots=SLOTS, inserted=SLOTS + 2
        ),
        lambda: changed(one_class(COUNTERS), inserted=np.array([1, 1], np.int32)),
        lambda: changed(one_class(COUNTERS), dropped=SLOTS + 1),
        lambda: changed(one_class(COUNTERS), dropped=SLOTS - 1),
        lambda: changed(one_class(COUNTERS), dropped=np.array([0, 0], np.int32)),
        lambda: changed(one_class(COUNTERS), window=_native.Window(21, 4)),
        lambda: changed(
            one_class(COUNTERS),
            window=_native.Window(20, 1),
            unlearned=CODES,
            unlearned_slots=SLOTS,
        ),
        lambda: COUNTERS(0),
        lambda: COUNTERS(2**58),
        lambda: WEIGHTS(-1),
        lambda: one_class(COUNTERS).insert(SLOTS + 2),
        lambda: one_class(WEIGHTS).insert(SLOTS - 1),
        lambda: one_class(COUNTERS).insert(np.array([0, 3], np.int32)),
        lambda: one_class(COUNTERS).insert(np.array([0, -1], np.int32)),
        lambda: one_class(WEIGHTS).insert(np.array([1, 1], np.int32)),
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
        (lambda: one_class(COUNTERS).insert(SLOTS + 2), "ranks must be distinct and from 0 to 1"),
        (
            lambda: changes.learn(one_class(COUNTERS), None, FOREIGN, SLOTS),
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
        memory.insert(np.array(ranks, np.int32))
        assert memory.slot_of_rank.tolist() == slots
    assert memory.samples.tolist() == [0] * 6


@pytest.mark.parametrize(("kind", "dtype"), [(COUNTERS, np.int32), (WEIGHTS, np.float64)])
@pytest.mark.parametrize("n_classes", [0, 1, 40])
def test_rows_are_in_the_order_of_ranks(kind, dtype, n_classes):
    memory = kind(20)
    memory.insert(np.random.default_rng(0).permutation(n_classes).astype(np.int32))
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
    assert (_native.MAX_CONNECTIONS, _native.MAX_CLASSES) == (2**25, 2**20)
    assert _native.MAX_COUNT == 2**31 - 1
    assert (_native.MAX_FAN_IN, _native.MAX_LEVEL) == (4095, 255)
    assert _native.MAX_SAMPLES == 2**37


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
    counters.insert(np.arange(_native.MAX_CLASSES, dtype=np.int32))
    with pytest.raises(ValueError, match="a model may have up to 1048576 classes"):
        counters.insert(np.zeros(1, np.int32))


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
    assert changes.learn(counters, None, CODES, SLOTS)
    assert set(counters.gather(CODES, SLOTS).tolist()) == {limit}
    other = one_class(COUNTERS)
    other.set(0, np.ones(20, np.int32), 1)
    assert not changes.learn(counters, None, CODES, SLOTS)
    assert not changes.merge(counters, None, other, None, SLOTS)
    assert counters.get(0).max() == limit
    assert counters.samples.tolist() == [2]
    assert counters.cap(0, 1e-300) == limit


def test_max_samples_of_a_class_is_enforced():
    limit, counters = _native.MAX_SAMPLES, one_class(COUNTERS)
    other = one_class(COUNTERS)
    other.set(0, np.zeros(20, np.int32), 1)
    for learn in (
        lambda: changes.learn(counters, None, CODES, SLOTS),
        lambda: changes.merge(counters, None, other, None, SLOTS),
    ):
        counters.set(0, np.zeros(20, np.int32), limit - 1)
        assert learn()
        assert counters.samples.tolist() == [limit]
        before = counters.get(0).tolist()
        assert not learn()
        assert (counters.get(0).tolist(), counters.samples.tolist()) == (before, [limit])


def test_max_pair_samples_is_enforced():
    limit, counters, pairs = _native.MAX_SAMPLES, one_class(COUNTERS), _native.Pairs(20)
    sums, one = pairs.get(), _native.Pairs(20)
    one.set(sums, 1)
    for learn in (
        lambda: changes.learn(counters, pairs, CODES, SLOTS),
        lambda: changes.merge(counters, pairs, one_class(COUNTERS), one, SLOTS),
    ):
        pairs.set(sums, limit - 1)
        assert learn()
        assert pairs.n_samples == limit
        before = pairs.get().tolist(), counters.get(0).tolist()
        assert not learn()
        assert (pairs.get().tolist(), counters.get(0).tolist()) == before
        assert pairs.n_samples == limit


def silent(n):
    """Return codes without active cells, which no counter shows."""
    return coder().encode(np.zeros((n, 8)), 1)


def full():
    counters = one_class(COUNTERS)
    counters.set(0, np.full(20, _native.MAX_COUNT, np.int32), 1)
    # The new class has room, but the old one has not.
    codes, slots = coder().encode(np.eye(8)[[0, 0]], 1), np.array([1, 0], np.int32)
    return counters, {"learned": codes, "learned_slots": slots, "inserted": SLOTS}


def never_learned():
    return one_class(COUNTERS), {"unlearned": CODES, "unlearned_slots": SLOTS}


def left_the_window():
    counters, window = one_class(COUNTERS), _native.Window(20, 2)
    twice = np.zeros(2, np.int32)
    assert changed(counters, None, window, learned=silent(2), learned_slots=twice) == "done"
    return counters, {"window": window, "unlearned": CODES, "unlearned_slots": SLOTS}


def not_the_oldest():
    counters, changes = left_the_window()
    return counters, {**changes, "learned": CODES, "learned_slots": SLOTS}


def keeps_counts():
    counters = one_class(COUNTERS)
    counters.set(0, np.ones(20, np.int32), 1)
    counters.disable_calibration(SLOTS)
    return counters, {"unlearned": silent(1), "unlearned_slots": SLOTS, "dropped": SLOTS}


def below_calibration():
    """Lower the counters of a sample that the calibration sample keeps."""
    counters = one_class(COUNTERS)
    for codes in (CODES, silent(1)):
        assert changed(counters, learned=codes, learned_slots=SLOTS) == "done"
    counts = counters.get(0)
    counts[counts > 0] -= 1
    counters.set(0, counts, 2)
    return counters, {"unlearned": silent(1), "unlearned_slots": SLOTS}


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        (full, "overflow"),
        (never_learned, "not learned"),
        (left_the_window, "not in window"),
        (not_the_oldest, "not in window"),
        (keeps_counts, "residue"),
        (below_calibration, "below calibration"),
    ],
)
def test_a_refused_change_changes_nothing(case, outcome):
    counters, changes = case()
    window = changes.get("window")

    def everything():
        arrays = [counters.get_all(), counters.samples, *counters.get_calibration()]
        arrays += [] if window is None else window.get()
        return [array.tolist() for array in arrays], counters.version, counters.labels

    before = everything()
    assert changed(counters, **changes, labels="new") == outcome
    assert everything() == before


def test_a_change_happens_in_order_and_takes_the_labels():
    counters, labels = COUNTERS(20, "none"), object()
    assert (counters.labels, counters.version) == ("none", 0)
    # Two classes come, one sample of each is learned, that of the first is unlearned again.
    outcome = changed(
        counters,
        learned=coder().encode(np.eye(8)[:2], 1),
        learned_slots=np.array([0, 1], np.int32),
        unlearned=CODES,
        unlearned_slots=SLOTS,
        inserted=np.array([1, 0], np.int32),
        dropped=SLOTS,
        labels=labels,
    )
    assert outcome == "done"
    assert (counters.version, counters.n_classes, counters.samples.tolist()) == (1, 1, [1])
    assert counters.labels is labels
    expected = one_class(COUNTERS)
    assert changes.learn(expected, None, coder().encode(np.eye(8)[1:2], 1), SLOTS)
    assert counters.get(0).tolist() == expected.get(0).tolist()
    assert changed(counters) == "done"
    assert counters.labels is labels, "None leaves the labels as they are"
    assert counters.copy().version == counters.version == 2


@pytest.mark.parametrize("kind", [COUNTERS, WEIGHTS])
def test_every_change_of_classes_takes_labels_and_counts(kind):
    memory = kind(20)
    memory.insert(np.array([0, 1], np.int32), "two")
    assert (memory.labels, memory.version) == ("two", 1)
    memory.move(0, 1, "moved")
    assert (memory.labels, memory.version) == ("moved", 2)
    memory.weaken(SLOTS, memory.get(0)[np.newaxis], "weakened")
    assert (memory.labels, memory.version) == ("weakened", 3)
    memory.drop(0, "one")
    assert (memory.labels, memory.version) == ("one", 4)
    for call in (
        lambda: memory.insert(SLOTS + 5, "wrong"),
        lambda: memory.move(0, 5, "wrong"),
        lambda: memory.weaken(SLOTS + 5, memory.get(0)[np.newaxis], "wrong"),
        lambda: memory.drop(5, "wrong"),
    ):
        with pytest.raises((ValueError, IndexError)):
            call()
        assert (memory.labels, memory.version) == ("one", 4)


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
