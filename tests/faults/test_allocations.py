"""A failed allocation of the kernel leaves a model as it was before or as it is after a change."""

import numpy as np
import pytest

import kenyon
from kenyon import _native
from tests.faults.cases import CASES, KINDS, X, Prepared, fitted, state

pytestmark = pytest.mark.skipif(
    not hasattr(_native, "fail_allocation"),
    reason="allocations fail in the build for tests alone (make sanitize)",
)
READS = {
    "predict": lambda model: model.predict(X),
    "predict_one": lambda model: model.predict_one(X[0]),
    "predict_proba": lambda model: model.predict_proba(X),
    "predict_top": lambda model: model.predict_top(X, 2)[1],
    "decision_function": lambda model: model.decision_function(X),
    "novelty": lambda model: model.novelty(X),
    "explain": lambda model: model.explain(X[0]).contributions,
}


def attempts(prepare, call):
    """Yield a model for each allocation of a call, which fails; then for the call without fault."""
    n, failed = 1, True
    while failed:
        model, result = prepare(), None
        _native.fail_allocation(n)
        try:
            result = call(model)
        except MemoryError:
            pass
        failed = _native.allocation_failed()
        yield model, result, failed
        n += 1


@pytest.mark.parametrize(("kind", "change"), CASES)
def test_changes(kind, change, tmp_path):
    prepared = Prepared(kind, change)

    def apply(model):
        prepared.change(model)
        return True

    for model, returned, failed in attempts(prepared.fresh, apply):
        found = prepared.check(model, tmp_path / "model.kenyon")
        # An allocation for speed alone may fail without an exception: the change is made.
        assert returned or failed
        assert found == "after" or not returned


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
