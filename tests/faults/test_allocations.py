"""A failed allocation of the kernel leaves a model as it was before or as it is after a change."""

from contextlib import suppress

import numpy as np
import pytest

import kenyon
from kenyon import _native
from tests.faults.cases import CASES, KINDS, READS, Prepared, X, fitted, state
from tests.faults.tally import count

pytestmark = pytest.mark.skipif(
    not hasattr(_native, "fail_allocation"),
    reason="allocations fail in the build for tests alone (make sanitize)",
)


def attempts(prepare, call):
    """Yield a model for each allocation of a call, which fails; then for the call without fault."""
    n, failed = 1, True
    while failed:
        model, result = prepare(), None
        _native.fail_allocation(n)
        with suppress(MemoryError):
            result = call(model)
        failed = _native.allocation_failed()
        yield model, result, failed
        n += 1


@pytest.mark.parametrize(("kind", "change"), CASES)
def test_changes(kind, change, tmp_path):
    prepared = Prepared(kind, change)

    def apply(model):
        prepared.change(model)
        return True

    n_failed = 0
    for model, returned, failed in attempts(prepared.fresh, apply):
        found = prepared.check(model, tmp_path / "model.kenyon")
        # An allocation for speed alone may fail without an exception: the change is made.
        assert returned or failed
        assert found == "after" or not returned
        n_failed += failed
    count("failed allocation of the kernel", n_failed)


def test_allocations_are_counted():
    prepared = Prepared("ridge window", "partial_fit new classes")
    assert len([*attempts(prepared.fresh, prepared.change)]) > 20


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_reads(kind, read):
    prototype = fitted(kind)
    expected, before = READS[read](prototype), state(prototype)
    for model, result, failed in attempts(lambda: fitted(kind), READS[read]):
        assert failed or result is not None
        assert state(model) == before
        np.testing.assert_array_equal(READS[read](model), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_load(kind, tmp_path):
    path, prototype = tmp_path / "model.kenyon", fitted(kind)
    prototype.save(path)
    n, failed = 1, True
    while failed:
        _native.fail_allocation(n)
        try:
            model = kenyon.load(path)
        except (MemoryError, ValueError):
            model = None
        failed = _native.allocation_failed()
        if model is not None:
            assert state(model) == state(prototype)
        n += 1


def test_wider_sums():
    """The sums of pairs are copied into 64 bits when 32 may not suffice."""
    coder = fitted("ridge").circuit_.coder.native
    codes, slots = coder.encode(X[:2], 1), np.zeros(2, np.int32)
    n, failed = 1, True
    while failed:
        counters, pairs = _native.Counters(40, "before"), _native.Pairs(40)
        sums = np.full(40 * 41 // 2, 2**32 - 300, np.uint32)
        pairs.set(sums, 10**6)
        _native.fail_allocation(n)
        inserted = np.zeros(1, np.int32)
        outcome = None
        with suppress(MemoryError):
            outcome = _native.change(
                counters,
                pairs,
                None,
                1,
                learned=codes,
                learned_slots=slots,
                inserted=inserted,
                labels="after",
            )
        failed = _native.allocation_failed()
        if counters.labels == "after":
            assert (pairs.n_samples, counters.samples.tolist()) == (10**6 + 2, [2])
            assert pairs.largest > sums[0]
        else:
            assert outcome is None
            assert (pairs.n_samples, counters.n_classes) == (10**6, 0)
            np.testing.assert_array_equal(pairs.get(), sums)
        n += 1
    assert n > 5
