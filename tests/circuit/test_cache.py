"""Cached values: computed once for each key, one of each kind."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kenyon.circuit.cache import Cache


class Computation:
    """Count the calls, and return the number of each."""

    def __init__(self, seconds=0.0):
        self.n_calls, self.seconds = 0, seconds

    def __call__(self):
        self.n_calls += 1
        time.sleep(self.seconds)
        return self.n_calls


@pytest.fixture
def cache():
    return Cache(max_pending=10)


def test_computes_once_for_each_key(cache):
    compute = Computation()
    assert [cache.get("sum", key, compute) for key in (1, 1, 2, 2)] == [1, 1, 2, 2]
    assert cache.get("mean", 2, compute) == 3
    assert cache.get("sum", 2, compute) == 2


def test_keeps_one_value_of_each_kind(cache):
    compute = Computation()
    for key in range(50):
        cache.get("sum", key, compute)
    assert len(cache._entries) == 1
    assert cache.peek("sum") == 50
    # The value of a former key is gone.
    assert cache.get("sum", 0, compute) == 51


def test_computes_again_after_none(cache):
    assert cache.get("sum", 1, lambda: None) is None
    assert cache.get("sum", 1, Computation()) == 1


def test_concurrent_readers_wait_for_the_first(cache):
    compute = Computation(seconds=0.1)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: cache.get("sum", 1, compute), range(8))) == {1}


def test_cached_values_are_read_without_the_lock(cache):
    cache.put("sum", 1, "value")
    entered, leave = threading.Event(), threading.Event()

    def wait():
        entered.set()
        return leave.wait(10)

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(cache.get, "mean", 1, wait)
        assert entered.wait(10)
        try:
            assert pool.submit(cache.get, "sum", 1, Computation()).result(10) == "value"
        finally:
            leave.set()
        assert slow.result(10)


def test_a_value_may_be_computed_from_another(cache):
    compute = Computation()
    assert cache.get("mean", 1, lambda: -cache.get("sum", 1, compute)) == -1
    assert cache.peek("sum") == 1


def test_a_computation_that_raises_leaves_the_former_value(cache):
    compute = Computation()
    cache.get("sum", 1, compute)
    with pytest.raises(ZeroDivisionError):
        cache.get("sum", 2, lambda: 1 / 0)
    assert cache.get("sum", 1, compute) == 1
    # The lock is free again.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(cache.get, "sum", 2, compute).result(10) == 2


def test_put_peek_and_discard(cache):
    assert cache.peek("factor") is None
    cache.put("factor", None, 7)
    assert cache.peek("factor") == 7
    cache.discard("factor")
    cache.discard("factor")
    assert cache.peek("factor") is None


def test_branches_share_values_until_one_changes(cache):
    compute = Computation()
    cache.get("sum", 1, compute)
    branch = cache.branch()
    assert branch.get("sum", 1, compute) == 1
    assert branch.get("sum", 2, compute) == 2
    assert cache.get("sum", 1, compute) == 1
    cache.discard("sum")
    assert branch.peek("sum") == 2
    assert (branch.lock, branch.updates) == (cache.lock, cache.updates)
