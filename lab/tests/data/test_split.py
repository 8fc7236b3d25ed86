"""The stratified train-test split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kenyon_lab.data.split import split

labels = st.lists(st.sampled_from("abcde"), min_size=1, max_size=120).map(np.array)
seeds = st.integers(0, 2**32)


def rows(y):
    """Samples that hold their own row numbers."""
    return np.column_stack([np.arange(len(y)), -np.arange(len(y))])


@given(labels, seeds)
def test_split_keeps_every_sample_in_order(y, seed):
    X_train, y_train, X_test, y_test = split(rows(y), y, seed)
    assert sorted([*X_train[:, 0], *X_test[:, 0]]) == list(range(len(y)))
    for X_part, y_part in ((X_train, y_train), (X_test, y_test)):
        assert (np.diff(X_part[:, 0]) > 0).all()
        assert_array_equal(X_part[:, 1], -X_part[:, 0])
        assert_array_equal(y_part, y[X_part[:, 0]])


@given(labels, seeds)
def test_tests_on_a_fifth_of_every_class(y, seed):
    _, y_train, _, y_test = split(rows(y), y, seed)
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        aside = np.count_nonzero(y_test == label)
        assert abs(aside - count / 5) <= 0.5
        assert aside == 0 or count > 2
        assert np.count_nonzero(y_train == label) == count - aside > 0


@given(labels, seeds)
def test_same_seed_same_split(y, seed):
    for first, second in zip(split(rows(y), y, seed), split(rows(y), y, seed), strict=True):
        assert_array_equal(first, second)


def test_seeds_differ():
    y = np.repeat([0, 1], 50)
    drawn = {tuple(split(rows(y), y, seed)[2][:, 0]) for seed in range(20)}
    assert len(drawn) == 20


def test_split_is_uniform():
    y = np.repeat([0, 1], 10)
    often = sum(np.bincount(split(rows(y), y, seed)[2][:, 0], minlength=20) for seed in range(500))
    assert often.sum() == 500 * 4
    assert abs(often - 100).max() < 50


def test_split_of_seed_0():
    """Results on user files must be reproducible with later versions."""
    y = np.repeat([0, 1], 10)
    assert split(rows(y), y, 0)[2][:, 0].tolist() == [4, 6, 12, 19]


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_rejects_invalid_seed(seed):
    with pytest.raises((TypeError, ValueError)):
        split(rows(np.zeros(9)), np.zeros(9), seed)
