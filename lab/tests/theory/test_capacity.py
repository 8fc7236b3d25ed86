"""Capacity, against codes that are drawn as the model says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kenyon.suggest import MASS, activity, count_chances, gaussian_overlap
from kenyon_lab.theory.capacity import Overlaps, predict_accuracy
from kenyon_lab.theory.cells import cosine_within


def simulate(n_cells, n_active, n_classes, n_samples, cosine, n_asked, rng):
    """The accuracy with cells that are independent normal variables."""

    def winners(common):
        own = rng.standard_normal(common.shape)
        sums = np.sqrt(cosine) * common + np.sqrt(1 - cosine) * own
        codes = np.zeros(common.shape)
        np.put_along_axis(codes, sums.argpartition(-n_active, axis=1)[:, -n_active:], 1, axis=1)
        return codes

    common = rng.standard_normal((n_classes, n_cells))
    counts = sum(winners(common) for _ in range(n_samples))
    asked = rng.integers(0, n_classes, n_asked)
    scores = winners(common[asked]) @ counts.T + 1e-6 * rng.random((n_asked, n_classes))
    return (scores.argmax(axis=1) == asked).mean()


@pytest.mark.parametrize(("n_samples", "cosine"), [(1, 0.5), (3, 0.3), (40, 0.1)])
def test_accuracy_is_that_of_normal_cells(n_samples, cosine):
    sizes = 300, 15, 50, n_samples
    measured = simulate(*sizes, cosine, 2000, np.random.default_rng(0))
    within = float(gaussian_overlap(cosine, 0.05))
    overlaps = Overlaps.of_prototypes(within, 10**9, n_samples, 0.05)
    assert 0.3 < measured < 0.95
    assert predict_accuracy(*sizes, overlaps) == pytest.approx(measured, abs=0.05)


def test_neighbours_collide_when_there_are_more_or_fewer_features():
    overlaps = Overlaps.of_prototypes(0.2, 100, 5, 0.05)
    by_classes = [predict_accuracy(1000, 50, n, 5, overlaps) for n in (1, 10, 100, 1000)]
    assert by_classes[0] == pytest.approx(1)
    assert by_classes == sorted(by_classes, reverse=True)
    fewer = Overlaps.of_prototypes(0.2, 20, 5, 0.05)
    assert predict_accuracy(1000, 50, 100, 5, fewer) < by_classes[2] - 0.1


def test_more_cells_are_better():
    overlaps = Overlaps.of_prototypes(0.2, 100, 5, 0.05)
    accuracies = [predict_accuracy(m, m // 20, 100, 5, overlaps) for m in (100, 400, 1600)]
    assert accuracies == sorted(accuracies)


def test_overlaps_are_measured_one_by_one():
    rng = np.random.default_rng(0)
    codes = rng.random((12, 30)) * (rng.random((12, 30)) < 0.4)
    y = np.repeat([0, 1, 2], [3, 4, 5])
    active = codes > 0
    own, others = [], []
    for i in range(12):
        shares = (active[i] & active).sum(axis=1) / active[i].sum()
        for label in range(3):
            members = (y == label) & (np.arange(12) != i)
            (own if label == y[i] else others).append(shares[members].mean())
    expected = np.mean(own), np.std(own), np.mean(others), np.std(others)
    found = Overlaps.measure(sparse.csr_matrix(codes), y)
    assert (found.within, found.within_spread, found.between, found.between_spread) == (
        pytest.approx(expected, rel=1e-5)
    )


@given(st.floats(0.01, 0.95), st.floats(0.005, 0.3))
@settings(deadline=None)
def test_cells_win_and_win_together_as_often_as_they_should(cosine, active):
    chances = activity(np.sqrt(cosine), active)
    assert chances @ MASS == pytest.approx(active, rel=1e-4)
    within = float(gaussian_overlap(cosine, active))
    assert chances**2 @ MASS / active == pytest.approx(within, rel=1e-3)
    assert cosine_within(within, active) == pytest.approx(cosine, abs=1e-6)


def test_counts_have_chances():
    never, half, always = count_chances(3, np.array([0, 0.5, 1])).T
    assert never.tolist() == [1, 0, 0, 0]
    assert half == pytest.approx(np.array([1, 3, 3, 1]) / 8)
    assert always.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("overlap", [0.05, 0.01, 1])
def test_an_overlap_of_no_class_is_refused(overlap):
    with pytest.raises(ValueError, match=r"overlap must be above chance, 0\.05"):
        cosine_within(overlap, 0.05)
