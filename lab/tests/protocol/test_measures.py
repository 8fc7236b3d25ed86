"""Measures against their definitions, written as loops."""

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon_lab.protocol.measures import (
    accuracy_so_far,
    backward_transfer,
    intransigence,
    mean,
    memory_loss,
)


@st.composite
def tables(draw):
    """Right answers on each task after each, of so many samples, some tasks of none."""
    n_tested = draw(st.lists(st.integers(0, 30), min_size=1, max_size=7))
    right = [[draw(st.integers(0, n)) for n in n_tested[: i + 1]] for i in range(len(n_tested))]
    return right, n_tested


def matrix(right, n_tested):
    R = np.full((len(n_tested), len(n_tested)), nan)
    for i, row in enumerate(right):
        for j, count in enumerate(row):
            if n_tested[j]:
                R[i, j] = count / n_tested[j]
    return R


def average(numbers):
    known = [number for number in numbers if not isnan(number)]
    return sum(known) / len(known) if known else nan


def same(found, expected):
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(tables())
def test_accuracy_so_far_counts_samples(case):
    right, n_tested = case
    expected = [
        sum(row) / sum(n_tested[: i + 1]) if sum(n_tested[: i + 1]) else nan
        for i, row in enumerate(right)
    ]
    same(list(accuracy_so_far(matrix(*case), np.array(n_tested))), expected)


@given(tables())
def test_of_the_first_tasks_it_is_the_same(case):
    R, n_tested = matrix(*case), np.array(case[1])
    for n in range(1, len(R) + 1):
        same(list(accuracy_so_far(R[:n], n_tested)), list(accuracy_so_far(R, n_tested)[:n]))


@given(tables())
def test_memory_loss_is_what_a_task_lost_since_it_was_learned(case):
    R = matrix(*case)
    last = len(R) - 1
    loss = memory_loss(R)
    same(list(loss), [R[j, j] - R[last, j] for j in range(len(R))])
    if case[1][last]:
        assert loss[last] == 0, "the last task counts with 0"


@given(tables())
def test_backward_transfer_is_over_all_tasks_but_the_last(case):
    R = matrix(*case)
    last = len(R) - 1
    same(backward_transfer(R), average([R[last, j] - R[j, j] for j in range(last)]))


@given(tables(), st.data())
def test_intransigence_is_what_a_model_that_learns_nothing_else_does_better(case, data):
    R = matrix(*case)
    alone = [data.draw(st.floats(0, 1)) if n else nan for n in case[1]]
    same(list(intransigence(R, np.array(alone))), [alone[j] - R[j, j] for j in range(len(R))])


@given(st.lists(st.floats(-1, 1) | st.just(nan), max_size=9))
def test_the_mean_is_of_numbers_only(numbers):
    same(mean(np.array(numbers, dtype=float)), average(numbers))


def test_a_method_that_never_learns_loses_nothing():
    R = np.array([[0.0, nan, nan], [0.0, 0.0, nan], [0.0, 0.0, 0.0]])
    assert mean(memory_loss(R)) == mean(np.diag(R)) == backward_transfer(R) == 0


def test_the_vanilla_case_by_hand():
    R = np.array([[1.0, nan, nan], [0.0, 0.9, nan], [0.0, 0.1, 0.8]])
    n_tested = np.array([10, 10, 20])
    same(list(accuracy_so_far(R, n_tested)), [1.0, 9 / 20, 17 / 40])
    same(mean(memory_loss(R)), (1.0 + 0.8 + 0.0) / 3)
    same(backward_transfer(R), -(1.0 + 0.8) / 2)
    same(mean(intransigence(R, np.array([1.0, 1.0, 1.0]))), (0.0 + 0.1 + 0.2) / 3)
