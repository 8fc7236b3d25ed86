"""A fifth of every class is put aside, drawn by a seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kenyon_lab.data.split import split

labels = st.lists(st.sampled_from("abcde"), min_size=1, max_size=120).map(np.array)
seeds = st.integers(0, 2**32)


def rows(y):
    """Samples that say where they came from."""
    return np.column_stack([np.arange(len(y)), -np.arange(len(y))])


@given(labels, seeds)
def test_every_sample_goes_to_one_part_and_all_stay_in_their_order(y, seed):
    X_train, y_train, X_test, y_test = split(rows(y), y, seed)
    assert sorted([*X_train[:, 0], *X_test[:, 0]]) == list(range(len(y)))
    for X_part, y_part in ((X_train, y_train), (X_test, y_test)):
        assert (np.diff(X_part[:, 0]) > 0).all()
        assert_array_equal(X_part[:, 1], -X_part[:, 0])
        assert_array_equal(y_part, y[X_part[:, 0]])


@given(labels, seeds)
def test_a_fifth_of_every_class_is_to_test_on_and_of_one_or_two_none(y, seed):
    _, y_train, _, y_test = split(rows(y), y, seed)
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        aside = np.count_nonzero(y_test == label)
        assert abs(aside - count / 5) <= 0.5
        assert aside == 0 or count > 2
        assert np.count_nonzero(y_train == label) == count - aside > 0


@given(labels, seeds)
def test_the_same_seed_draws_the_same(y, seed):
    for first, second in zip(split(rows(y), y, seed), split(rows(y), y, seed), strict=True):
        assert_array_equal(first, second)


def test_other_seeds_draw_others():
    y = np.repeat([0, 1], 50)
    drawn = {tuple(split(rows(y), y, seed)[2][:, 0]) for seed in range(20)}
    assert len(drawn) == 20


def test_every_sample_is_drawn_as_often_as_others():
    y = np.repeat([0, 1], 10)
    often = sum(np.bincount(split(rows(y), y, seed)[2][:, 0], minlength=20) for seed in range(500))
    assert often.sum() == 500 * 4
    assert abs(often - 100).max() < 50


def test_what_a_seed_draws_does_not_change():
    """Figures on datasets of one's own must be had again with the next version."""
    y = np.repeat([0, 1], 10)
    assert split(rows(y), y, 0)[2][:, 0].tolist() == [4, 6, 12, 19]


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_seeds_that_cannot_be(seed):
    with pytest.raises((TypeError, ValueError)):
        split(rows(np.zeros(9)), np.zeros(9), seed)
