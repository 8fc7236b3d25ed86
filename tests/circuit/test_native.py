"""The kernel defends itself, and its stub tells the truth."""

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
    arguments = {"n_features": 8, "n_cells": 20, "fan_in": 2, "n_active": 3, "on_off": False}
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
        lambda: coder(n_cells=0),
        lambda: coder(n_cells=2**31),
        lambda: coder(fan_in=9),
        lambda: coder(n_features=9000, fan_in=4096),
        lambda: coder(n_active=21),
        lambda: coder().encode(np.zeros((3, 7)), 1),
        lambda: coder().encode_one(np.zeros(9)),
        lambda: coder().encode_one(np.array([np.nan, *range(7)])),
        lambda: coder().encode_one(np.array([np.inf, *range(7)], dtype=np.float32)),
        lambda: coder().encode_dense(np.zeros((3, 7)), 1),
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
        lambda: one_class(WEIGHTS).correct(FOREIGN, SLOTS, True, True),
        lambda: one_class(WEIGHTS).correct(CODES, np.zeros(2, dtype=np.int32), True, True),
        lambda: one_class(WEIGHTS).correct(CODES, SLOTS + 1, True, True),
        lambda: WEIGHTS(20).correct(CODES, SLOTS, True, True),
        lambda: one_class(WEIGHTS).scores(FOREIGN, 1),
        lambda: WEIGHTS(20).best_one(CODES),
        lambda: _native.use_instruction_set("abacus"),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises((ValueError, IndexError)):
        call()


def test_arrays_of_other_types_or_layouts_are_not_taken_silently():
    for X in (np.zeros((2, 8), dtype=np.int64), np.asfortranarray(np.zeros((2, 8))), [[0.0] * 8]):
        with pytest.raises(TypeError):
            coder().encode(X, 1)


def test_the_stub_names_what_the_module_has():
    stub = ast.parse(Path(kenyon.__file__).with_name("_native.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(_native, node.name))
        elif isinstance(node, ast.ClassDef):
            kind = getattr(_native, node.name)
            named = {
                item.name if isinstance(item, ast.FunctionDef) else item.target.id
                for item in node.body
                if isinstance(item, ast.FunctionDef | ast.AnnAssign)
            }
            present = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
            assert {name for name in named if not name.startswith("__")} == present, node.name
