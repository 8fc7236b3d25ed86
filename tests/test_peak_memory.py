"""Samples are not copied as a whole, and large results are written batch by batch."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from kenyon import FlyClassifier, SparseCoder
from kenyon.circuit.coder import _contiguous

SIZES = {"n_cells": 100, "fan_in": 4, "n_active": 5}
BATCH = 2**22
"""Bytes that hold a few batches of these samples."""


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.random((50_000, 64), dtype=np.float32), rng.integers(0, 3, 50_000)


@contextmanager
def at_most(n_bytes):
    """Check the peak of what Python and NumPy allocate."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n_bytes


def every_layout(X, folder):
    np.save(folder / "X.npy", X)
    wide = np.zeros((len(X), 2 * X.shape[1]), X.dtype)
    wide[:, ::2] = X
    return {
        "contiguous": X,
        "by columns": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "memory map": np.load(folder / "X.npy", mmap_mode="r"),
    }


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
def test_samples_are_read_without_a_copy(readout, samples, tmp_path):
    X, y = samples
    labels, scores = y.nbytes, 3 * 8 * len(y)
    for layout in every_layout(X, tmp_path).values():
        model = FlyClassifier(readout=readout, **SIZES)
        with at_most(BATCH + 3 * labels):
            model.fit(layout, y)
        with at_most(BATCH + 3 * labels):
            model.partial_fit(layout, y)
        model.predict_proba(X[:1])
        with at_most(BATCH + 3 * labels):
            model.predict(layout)
        with at_most(BATCH + scores):
            model.predict_proba(layout)
        with at_most(BATCH + scores):
            model.predict_top(layout, 1)
    assert BATCH + 3 * labels < X.nbytes / 2


def test_float32_reaches_the_kernel_as_it_is(samples, tmp_path):
    X, _ = samples
    layouts = every_layout(X[:1000], tmp_path)
    for name, layout in layouts.items():
        batch = _contiguous(layout[10:20])
        assert batch.dtype == np.float32
        assert np.shares_memory(batch, layout) is (name in ("contiguous", "memory map"))
    assert SparseCoder(**SIZES).fit_transform(X[:10]).dtype == np.float32


def test_answers_do_not_depend_on_the_precision_of_equal_numbers(samples):
    X, y = samples[0][:3000], samples[1][:3000]
    single = FlyClassifier(**SIZES).fit(X, y)
    double = FlyClassifier(**SIZES).fit(X.astype(np.float64), y)
    for read in ("predict_proba", "decision_function", "novelty"):
        found = getattr(single, read)(X)
        np.testing.assert_array_equal(found, getattr(double, read)(X.astype(np.float64)))


@pytest.mark.parametrize("readout", ["fly", "ridge"])
def test_probabilities_of_many_classes_are_written_batch_by_batch(readout, samples):
    X, n_classes = samples[0][:6000], 2000
    # With one sample of each class there is nothing to calibrate with, which would take long.
    model = FlyClassifier(readout=readout, **SIZES).fit(X[:n_classes], np.arange(n_classes))
    model.predict_proba(X[:1])
    size, batch = 8 * n_classes * len(X), 2**24
    for read in (model.predict_proba, model.decision_function):
        with at_most(size + 4 * batch):
            read(X)
    with at_most(8 * batch):
        model.predict_top(X, 5)
    assert 8 * batch < 1.5 * size
