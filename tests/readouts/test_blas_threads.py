"""BLAS keeps its own number of threads, and models solve at the same time."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from kenyon.readouts import RidgeReadout, ridge
from kenyon.readouts.blas_threads import blas_threads
from tests.readouts.test_ridge import TEST, X, learned

PARTS = slice(0, 400), slice(400, 800)


def limits(api="blas"):
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == api}


ORIGINAL = limits()
OTHER = min({2, 3, 4} - ORIGINAL - limits("openmp"))
"""A limit that differs from the original ones, and that every machine allows."""


@pytest.fixture(autouse=True)
def restored():
    """Check, after each test, the limits of this thread and of a new one."""
    yield
    with ThreadPoolExecutor(1) as pool:
        assert limits() == pool.submit(limits).result() == ORIGINAL


def test_limits_blas_alone():
    openmp = limits("openmp")
    with blas_threads(OTHER):
        assert limits() == {OTHER}
        assert limits("openmp") == openmp
    assert limits() == ORIGINAL


def test_an_error_restores_the_limits():
    with pytest.raises(ZeroDivisionError), blas_threads(OTHER), blas_threads(OTHER + 1):
        raise ZeroDivisionError
    assert limits() == ORIGINAL


@pytest.mark.parametrize("first_to_leave", [0, 1])
def test_overlapping_users_restore_the_limits(first_to_leave):
    """In either order, and while the threads of both live on."""
    entered, leave = ([threading.Event() for _ in range(2)] for _ in range(2))

    def use(i):
        with blas_threads(OTHER + i):
            found = limits()
            entered[i].set()
            assert leave[i].wait(30)
        return found

    with ThreadPoolExecutor(2) as pool:
        users = []
        for i in range(2):
            users.append(pool.submit(use, i))
            assert entered[i].wait(30)
        for i in (first_to_leave, 1 - first_to_leave):
            leave[i].set()
            users[i].result(30)
        assert users[0].result() == {OTHER}
        assert limits() == ORIGINAL
        assert set.union(*pool.map(lambda _: limits(), range(10))) == ORIGINAL
    with blas_threads(OTHER):
        assert limits() == {OTHER}


def test_a_model_file_cannot_ask_for_more_threads_than_are_useful():
    with blas_threads(1024):
        assert max(limits()) <= max(4, os.cpu_count())


def test_many_users_restore_the_limits():
    def use(n):
        for _ in range(50):
            with blas_threads(OTHER + n):
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
        assert limits() == ORIGINAL


@pytest.mark.parametrize(("owner", "name"), [(RidgeReadout, "_compute"), (ridge, "_solve")])
def test_two_models_solve_at_the_same_time(monkeypatch, owner, name):
    """Each waits inside its computation for the other, so one lock for both would time out."""
    expected = [learned(rows, penalty=0.1).decision_function(X[TEST]) for rows in PARTS]
    meeting, function = threading.Barrier(2, timeout=30), getattr(owner, name)

    def meet(*arguments):
        meeting.wait()
        result = function(*arguments)
        meeting.wait()
        return result

    models = [learned(rows, penalty=0.1) for rows in PARTS]
    monkeypatch.setattr(owner, name, meet)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda model: model.decision_function(X[TEST]), models))
    np.testing.assert_allclose(found, expected, atol=1e-9)
