"""Runs that differ only in their seeds."""

import statistics
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon_lab.protocol.summary import Spread, Summary, spread
from lab.tests.protocol.samples import record


@given(st.lists(st.none() | st.floats(0, 1), max_size=9))
def test_spread_against_the_standard_library(numbers):
    known = [number for number in numbers if number is not None]
    found = spread(numbers)
    expected = statistics.mean(known) if known else nan
    assert found.mean == pytest.approx(expected, abs=1e-12, nan_ok=True)
    expected = statistics.stdev(known) if len(known) > 1 else nan
    assert found.deviation == pytest.approx(expected, abs=1e-7, nan_ok=True)


def test_as_people_read_them():
    assert str(Spread(0.70449, 0.0125)) == "0.704±0.013"
    assert str(Spread(0.5, nan)) == Spread(0.5, 0.1).middle == "0.500"
    assert str(Spread(nan, nan)) == Spread(nan, nan).middle == "-"


@pytest.fixture
def summary():
    slow = {"learn_seconds": [1.0, 3.0], "n_shown": 110, "accuracy_so_far": [1.0, 0.75]}
    return Summary([record(0.25), record(0.75, seed=1, **slow)], "tuned")


def test_what_they_have_in_common(summary):
    assert (summary.method, summary.setting, summary.order) == ("slda", "tuned", "shuffled")


def test_measures_over_seeds(summary):
    assert summary.measure("accuracy") == Spread(0.5, statistics.stdev([0.25, 0.75]))
    assert isnan(summary.measure("intransigence").mean)
    assert summary.accuracy_after(1).mean == 1.0
    assert summary.accuracy_after(2).mean == (0.5 + 0.75) / 2


def test_what_a_run_took(summary):
    assert summary.cost("learn_seconds") == (0.75 + 4.0) / 2
    assert summary.cost("n_shown") == (90 + 110) / 2
    assert summary.cost("n_passes") == 1.5


def test_one_number_is_above_another_by_more_than_their_deviations_together():
    assert Spread(0.61, 0.03).above(Spread(0.55, 0.04))
    assert not Spread(0.59, 0.03).above(Spread(0.55, 0.04))
    assert not Spread(0.54, nan).above(Spread(0.5, nan))
    assert Spread(0.55, nan).above(Spread(0.5, nan))
    assert not Spread(0.53, 0.001).above(Spread(0.5, nan))


def test_task_by_task():
    first = record(
        n_classes=5, n_tasks=2, accuracies=[[0.9], [0.5, 0.8]], accuracy_so_far=[0.9, 0.6]
    )
    second = record(
        n_classes=5, n_tasks=2, accuracies=[[0.7], [0.4, None]], accuracy_so_far=[0.7, 0.4]
    )
    summary = Summary([first, second])
    assert summary.n_classes_so_far.tolist() == [3, 5]
    assert summary.accuracy_so_far.tolist() == [[0.9, 0.6], [0.7, 0.4]]
    np.testing.assert_equal(summary.learned, [[0.9, 0.8], [0.7, nan]])
    np.testing.assert_equal(summary.remembered, [[0.5, 0.8], [0.4, nan]])


@pytest.mark.parametrize(
    ("n_exemplars", "n_passes", "once"), [(0, 1.0, True), (0, 2.0, False), (256, 1.0, False)]
)
def test_who_sees_a_sample_once(n_exemplars, n_passes, once):
    assert Summary([record(n_exemplars=n_exemplars, n_passes=n_passes)]).sees_once == once
