"""Common winners: the curve that is measured, and what is known of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from kenyon import SparseCoder
from kenyon.suggest import gaussian_overlap
from kenyon_lab.theory import overlap_curve
from kenyon_lab.theory.overlap import (
    GaussianCoder,
    OverlapCurve,
    _draw_pairs,
    find_winners,
    rough_overlap,
)


@pytest.fixture(scope="module")
def fly():
    return SparseCoder(n_cells=400, fan_in=6, n_active=20).fit(np.zeros((1, 50)))


@pytest.fixture(scope="module")
def curve(fly):
    return overlap_curve(fly, [-0.5, 0, 0.3, 0.6, 0.9, 1], n_pairs=200)


@given(st.floats(-0.99, 0.99), st.floats(0.001, 0.4))
def test_the_exact_overlap_is_the_orthant_probability(cosine, active):
    threshold = norm.isf(active)
    both = multivariate_normal([0, 0], [[1, cosine], [cosine, 1]]).cdf([-threshold, -threshold])
    assert gaussian_overlap(cosine, active) == pytest.approx(both / active, abs=1e-4)


@given(st.floats(0.001, 0.49))
def test_it_is_known_at_the_ends_and_in_the_middle(active):
    assert gaussian_overlap([-1, 0, 1], active) == pytest.approx([0, active, 1], abs=1e-9)
    assert rough_overlap([0, 1], active) == pytest.approx([active, 1])


def test_the_rough_form_is_no_bound():
    assert gaussian_overlap(0.5, 0.01) == pytest.approx(0.129, abs=5e-4)
    assert rough_overlap(0.5, 0.01) == pytest.approx(0.100)


def test_a_gaussian_matrix_comes_near_the_exact_overlap():
    measured = overlap_curve(GaussianCoder(20, 1000, 50), [0, 0.4, 0.8], 300)
    assert measured.mean == pytest.approx(gaussian_overlap([0, 0.4, 0.8], 0.05), abs=0.02)


def test_the_winners_of_a_gaussian_matrix_have_the_largest_sums():
    coder = GaussianCoder(20, 100, 7, seed=3)
    X = np.random.default_rng(0).standard_normal((5, 20))
    codes = coder.levels(X).toarray()
    for x, code in zip(X, codes, strict=True):
        sums = x.astype(np.float32) @ coder.matrix
        assert set(np.flatnonzero(code)) == set(np.argsort(sums)[-7:])
        assert code.max() == 1


@given(st.floats(-1, 1))
def test_pairs_are_at_their_cosine_and_have_no_mean(cosine):
    one, other = _draw_pairs(20, 10, cosine, np.random.default_rng(0))
    assert (one * other).sum(axis=1) == pytest.approx(np.full(20, cosine), abs=1e-9)
    for side in (one, other):
        assert np.linalg.norm(side, axis=1) == pytest.approx(np.ones(20))
        assert side.sum(axis=1) == pytest.approx(np.zeros(20), abs=1e-9)


def test_what_is_added_to_all_features_changes_no_winner():
    coder = SparseCoder(n_cells=400, fan_in=4, n_active=20).fit(np.zeros((1, 50)))
    X = np.random.default_rng(0).integers(-4095, 4096, size=(50, 50)).astype(float)
    # With the largest at 8191 before and after, inputs are their own quantised form.
    X[:, 0], X[:, 1] = -8191, 4095
    before, after = find_winners(coder, X), find_winners(coder, X + 4096)
    assert (before != after).nnz == 0
    assert (coder.levels(X) != coder.levels(X + 4096)).nnz > 0


def test_the_curve_is_ordered(curve):
    assert (np.diff(curve.upper) >= 0).all()
    assert (np.diff(curve.lower) >= 0).all()
    assert (curve.lower <= curve.mean).all()
    assert (curve.mean <= curve.upper).all()
    assert (np.diff(curve.mean) > 0).all()
    assert (curve.mean[-1], curve.lower[-1]) == (1, 1)


def test_the_share_is_that_of_the_winners(fly):
    (share,) = overlap_curve(fly, [0.5], n_pairs=1, seed=4).mean
    one, other = _draw_pairs(1, 50, 0.5, np.random.default_rng(4))
    winners = [set(fly.levels(side).indices) for side in (one, other)]
    assert share == pytest.approx(len(winners[0] & winners[1]) / 20)


def test_pieces_change_nothing(fly, monkeypatch):
    monkeypatch.setattr("kenyon_lab.theory.overlap._PIECE", 64)
    curve = overlap_curve(fly, [0.4], n_pairs=150)
    assert curve.n_pairs == 150
    assert 0 < curve.mean[0] < 1


def test_between_cosines_the_envelopes_stay_on_their_side():
    cosines, mean = np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.3, 1.0])
    curve = OverlapCurve(cosines, mean, mean - 0.05, mean + 0.05, n_pairs=99)
    assert curve.at_most(0.2) == curve.at_most(0.5) == pytest.approx(0.35)
    assert curve.at_least(0.7) == curve.at_least(0.5) == pytest.approx(0.25)
    assert curve.on_average(0.25) == pytest.approx(0.2)
    assert curve.risk(3) == pytest.approx(0.03)
    assert curve.risk(1000) == 1
    with pytest.raises(ValueError, match=r"cosine must be at most 1\.0, but is 1\.1"):
        curve.at_most(1.1)
    with pytest.raises(ValueError, match=r"cosine must be at least 0\.0, but is -0\.1"):
        curve.at_least(-0.1)


def test_what_is_refused(fly):
    with pytest.raises(ValueError, match="cosines must increase within -1 to 1"):
        overlap_curve(fly, [0.5, 0.2])
    with pytest.raises(ValueError, match="cosines must increase"):
        overlap_curve(fly, [0, 1.5])
    with pytest.raises(ValueError, match="n_pairs must be at least 1, but is 0"):
        overlap_curve(fly, n_pairs=0)
    with pytest.raises(ValueError, match="coder must take at least 3 features, but takes 2"):
        overlap_curve(SparseCoder().fit(np.ones((1, 2))))
    with pytest.raises(ValueError, match=r"active must be above 0 and below 0\.5, but is 0\.5"):
        gaussian_overlap(0, 0.5)
    crowded = SparseCoder(n_cells=400, fan_in=6, n_active=300).fit(np.zeros((1, 50)))
    with pytest.raises(ValueError, match="coder must give all inputs equally many winners"):
        overlap_curve(crowded, [0])
