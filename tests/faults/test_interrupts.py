"""An exception at any moment leaves a model as it was before or as it is after a change."""

import os
import time
from contextlib import suppress
from copy import deepcopy
from zlib import crc32

import numpy as np
import pytest

from tests.faults.cases import (
    CASES,
    KINDS,
    PIPELINES,
    READS,
    TEXTS,
    Prepared,
    Y,
    fitted,
    in_a_thread,
    new_model,
    state,
)
from tests.faults.injector import Fault, interrupt
from tests.faults.tally import count

STRIDE = int(os.environ.get("KENYON_FAULT_STRIDE", "3"))
"""Every how many places an exception is raised; `make faults` sets 1."""
STRIDES = dict.fromkeys(PIPELINES, STRIDE if STRIDE == 1 else 4 * STRIDE)
"""Pipelines have more places, and most of them are in encoders, which change nothing."""
N_SIGNALS = int(os.environ.get("KENYON_SIGNALS", "6"))
"""Signals for each case; `make faults` sets more."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("kind", "change"), CASES)
def test_every_place(kind, change, error, tmp_path):
    prepared, found, stride = Prepared(kind, change), [], STRIDES.get(kind, STRIDE)
    # Other cases begin at other places.
    n = 1 + crc32(f"{kind} {change}".encode()) % stride
    while True:
        model = prepared.fresh()
        with Fault(n, error) as fault:
            try:
                prepared.change(model)
            except error:
                assert fault.happened
        found.append(prepared.check(model, tmp_path / "model.kenyon"))
        if not fault.happened:
            break
        n += stride
    assert found[-1] == "after"
    count(f"{error.__name__} at a place in Kenyon's code", len(found) - 1)


@pytest.mark.parametrize("kind", PIPELINES)
def test_every_place_of_the_first_samples(kind):
    """The transformers are fitted too."""
    expected, n, n_unfitted = state(new_model(kind).fit(TEXTS, Y)), 1, 0
    while True:
        model = new_model(kind)
        steps = model.steps
        with Fault(n, KeyboardInterrupt) as fault, suppress(KeyboardInterrupt):
            model.partial_fit(TEXTS, Y)
        if hasattr(model, "classes_"):
            assert state(model) == expected
        else:
            n_unfitted += 1
            assert model.steps is steps
            assert not any(hasattr(step, "digest_") for _, step in steps)
        if not fault.happened:
            break
        n += STRIDES[kind]
    assert n_unfitted
    count("KeyboardInterrupt at a place in Kenyon's code", (n - 1) // STRIDES[kind])


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_place_of_a_read(kind, read):
    """Cached values that were being computed must not be used."""
    prototype, stride = fitted(kind), STRIDES.get(kind, STRIDE)
    expected, n = READS[read](deepcopy(prototype)), 1 + crc32(f"{kind} {read}".encode()) % stride
    while True:
        model = deepcopy(prototype)
        with Fault(n, KeyboardInterrupt) as fault, suppress(KeyboardInterrupt):
            READS[read](model)
        in_a_thread(lambda model=model: READS[read](model))
        np.testing.assert_array_equal(READS[read](model), expected)
        if not fault.happened:
            break
        n += stride
    assert state(model) == state(prototype)
    count("KeyboardInterrupt at a place of a read", (n - 1) // stride)


@pytest.mark.parametrize(("kind", "change"), CASES)
def test_real_signals(kind, change, tmp_path):
    """Signals at random moments, in the code of other libraries too."""
    prepared, n_interrupts = Prepared(kind, change), 0
    random = np.random.default_rng(crc32(f"{kind} {change}".encode()))
    start = time.perf_counter()
    prepared.change(prepared.fresh())
    duration = time.perf_counter() - start
    for seconds in random.uniform(1e-6, duration, N_SIGNALS):
        model = prepared.fresh()
        n_interrupts += interrupt(lambda model=model: prepared.change(model), float(seconds))
        prepared.check(model, tmp_path / "model.kenyon")
    count("signal at a random moment", n_interrupts)
