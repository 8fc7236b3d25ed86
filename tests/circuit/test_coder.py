"""Layer 1 against its plain definition, and against golden values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from kenyon import _native
from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER
from tests import reference
from tests.reading import by_cell, instruction_set


def encode(coder, X, n_threads=1):
    return by_cell(coder.native.encode(np.ascontiguousarray(X), n_threads))


def encode_one(coder, x):
    return by_cell(coder.native.encode_one(x))[0]


@st.composite
def coders(draw):
    n_features = draw(st.integers(1, 40))
    channels = draw(st.sampled_from(["raw", "on-off", "signed"]))
    n_channels = n_features * (1 if channels == "raw" else 2)
    n_cells = draw(st.integers(1, 200))
    return design_layer(
        n_features,
        FLY_LAYER,
        n_cells=n_cells,
        fan_in=draw(st.integers(1, min(n_channels, 12))),
        n_active=draw(st.integers(1, n_cells)),
        inhibition=draw(st.sampled_from(["cut", "subtract"])),
        channels=channels,
        seed=draw(st.integers(0, 2**64 - 1)),
    )


def rows(n_features, max_rows=40):
    """Ordinary numbers, few different values (many ties), zeros, and every scale."""
    few = st.sampled_from([0.0, 1.0, 2.0, -1.0])
    ordinary = st.floats(-10, 10, allow_nan=False, width=32)
    extreme = st.floats(-1e300, 1e300, allow_nan=False)
    return st.integers(1, max_rows).flatmap(
        lambda n: st.one_of(
            *(arrays(np.float64, (n, n_features), elements=e) for e in (few, ordinary, extreme))
        )
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_codes_match_the_definition(data):
    coder = data.draw(coders())
    X = data.draw(rows(coder.n_features, max_rows=12))
    assert encode(coder, X) == [reference.code(x, coder) for x in X]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_instruction_sets_and_threads_give_the_same_bits(data):
    coder = data.draw(coders())
    X = data.draw(rows(coder.n_features, max_rows=100))
    expected = [encode_one(coder, x) for x in X]
    for name in _native.instruction_sets():
        with instruction_set(name):
            assert [encode_one(coder, x) for x in X[:5]] == expected[:5], name
            for n_threads in (1, 2, 3):
                assert encode(coder, X, n_threads) == expected, (name, n_threads)


@pytest.mark.parametrize("inhibition", ["cut", "subtract"])
@pytest.mark.parametrize("name", _native.instruction_sets())
def test_large_circuits_match_a_full_sort(name, inhibition):
    """Sizes at which the threshold is estimated from a sample, and is sometimes wrong."""
    sizes = {"n_cells": 3210, "fan_in": 10, "n_active": 100}
    coder = design_layer(84, FLY_LAYER, **sizes, inhibition=inhibition, seed=3)
    X = np.maximum(np.random.default_rng(0).standard_normal((640, 84)), 0)
    inputs = coder.native.connections
    psi = np.array([reference.quantise(x, 10)[inputs].sum(axis=1) for x in X])
    order = np.argsort(-psi, axis=1, kind="stable")
    with instruction_set(name):
        codes = encode(coder, X)
    for code, row, ranked in zip(codes, psi, order, strict=True):
        offset = row[ranked[100]] if inhibition == "subtract" else 0
        top = row[ranked[0]] - offset
        winners = np.sort(ranked[:100])
        levels = (510 * (row[winners] - offset) + top) // (2 * top)
        expected = dict(zip(winners.tolist(), levels.tolist(), strict=True))
        assert code == {cell: level for cell, level in expected.items() if level}


def test_wiring_too_large_to_store_by_channel_gives_the_same_codes():
    coder = design_layer(40_000, FLY_LAYER, n_cells=4000, fan_in=50, channels="raw", seed=1)
    X = np.random.default_rng(0).standard_normal((40, 40_000)).astype(np.float32)
    assert [encode_one(coder, x) for x in X[:3]] == encode(coder, X)[:3]
    assert coder.native.nbytes == 4 * 4000 * 50


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_codes_ignore_the_scale(data):
    """For scales that lose no digits: powers of two, from subnormal numbers to the largest."""
    coder = data.draw(coders())
    X = data.draw(arrays(np.float64, (3, coder.n_features), elements=st.integers(-99, 99)))
    scale = 2.0 ** data.draw(st.integers(-1066, 1016))
    assert encode(coder, X * scale) == encode(coder, X)


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_every_scale_matches_the_definition(scale):
    coder = design_layer(50, FLY_LAYER, n_cells=500, fan_in=5, seed=2)
    X = np.random.default_rng(0).standard_normal((5, 50)) * scale
    assert encode(coder, X) == [reference.code(x, coder) for x in X]


def test_zeros_activate_no_cell():
    coder = design_layer(40, FLY_LAYER, seed=0)
    assert encode(coder, np.zeros((2, 40))) == [{}, {}]


def test_float32_and_float64_give_the_same_codes():
    coder = design_layer(64, FLY_LAYER, seed=0)
    X = np.random.default_rng(0).standard_normal((50, 64)).astype(np.float32)
    assert encode(coder, X) == encode(coder, X.astype(np.float64))


def test_wiring_matches_the_definition():
    seed = 2**63 + 5
    coder = design_layer(30, FLY_LAYER, n_cells=50, fan_in=4, channels="raw", seed=seed)
    expected = reference.wiring(seed, 30, 50, 4)
    np.testing.assert_array_equal(coder.native.connections, expected)


def test_golden_wiring_and_codes():
    """Never change these: saved models depend on them."""
    coder = design_layer(50, FLY_LAYER, n_cells=2000, fan_in=6, n_active=100, seed=42)
    assert coder.native.connections[[0, 1, 1999]].tolist() == [
        [5, 13, 19, 26, 31, 46],
        [8, 13, 25, 32, 36, 49],
        [9, 18, 24, 31, 32, 47],
    ]
    code = encode_one(coder, np.arange(50.0) % 7)
    first = [(0, 223), (7, 231), (46, 215), (50, 207), (71, 207), (106, 231), (182, 207)]
    assert list(code.items())[:7] == first
    assert (len(code), sum(code.values())) == (100, 21772)


def test_wiring_is_uniform_and_seeds_differ():
    inputs = design_layer(100, FLY_LAYER, n_cells=20_000, fan_in=10, seed=0).native.connections
    uses = np.bincount(inputs.ravel(), minlength=100)
    assert abs(uses - 2000).max() < 6 * np.sqrt(2000 * 0.9)
    other = design_layer(100, FLY_LAYER, n_cells=20_000, fan_in=10, seed=1).native.connections
    shared = (inputs[:, :, None] == other[:, None, :]).any(axis=2).mean()
    assert abs(shared - 0.1) < 0.005


def test_more_cells_begin_with_the_cells_of_fewer():
    few, many = (
        design_layer(20, FLY_LAYER, n_cells=n, fan_in=3, seed=9).native.connections
        for n in (100, 300)
    )
    np.testing.assert_array_equal(many[:100], few)


@pytest.mark.parametrize("convert", [np.asarray, csr_matrix])
def test_batches_cover_all_rows_in_order_and_stay_small(convert):
    coder = design_layer(1000, FLY_LAYER, n_cells=400)
    X = np.arange(5000 * 1000, dtype=np.uint16).reshape(5000, 1000)
    batches = list(coder.encode(convert(X), 2))
    size = len(batches[0][1])
    assert size == 2**24 // 8000
    assert [rows for rows, _ in batches] == [
        slice(start, min(start + size, 5000)) for start in range(0, 5000, size)
    ]
    codes = [code for _, batch in batches for code in by_cell(batch)]
    assert codes == encode(coder, X.astype(np.float64))
