"""Saturation, against counters that are drawn as the model says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon.suggest import expected_level, gaussian_overlap
from kenyon_lab.theory.saturation import expected_saturation


@pytest.mark.parametrize(("rate", "n_samples"), [(1, 5), (0.2, 30), (0.05, 100), (0.021, 500)])
def test_the_share_is_that_of_normal_cells(rate, n_samples):
    rng = np.random.default_rng(0)
    n_cells, cosine, level = 4000, 0.6, 0.7
    threshold = 1.6448536
    common = np.sqrt(cosine) * rng.standard_normal(n_cells)
    own = np.sqrt(1 - cosine) * rng.standard_normal((n_samples, n_cells))
    total = level * (common + own > threshold).sum(axis=0)
    measured = (rate * total >= 1 - 1e-9).mean()
    within = float(gaussian_overlap(cosine, 0.05))
    expected = expected_saturation(rate, n_samples, 0.05, within, level)
    assert measured > 0.01
    assert expected == pytest.approx(measured, abs=0.015)


@given(st.floats(0.001, 1), st.integers(1, 300), st.floats(0.06, 0.9), st.floats(0.2, 1))
@settings(deadline=None)
def test_it_grows_with_rate_and_samples(rate, n_samples, within, level):
    share = expected_saturation(rate, n_samples, 0.05, within, level)
    assert 0 <= share <= 1
    assert expected_saturation(min(1, 1.5 * rate), n_samples, 0.05, within, level) >= share - 1e-12
    assert expected_saturation(rate, n_samples + 10, 0.05, within, level) >= share - 1e-12
    assert n_samples * rate * level > 0.99 or share == 0


def test_winners_have_the_level_of_normal_sums():
    sums = np.sort(np.random.default_rng(0).standard_normal((300, 2000)), axis=1)
    levels = (sums[:, -100:] / sums[:, -1:]).mean()
    assert expected_level(0.05, 2000) == pytest.approx(levels, abs=0.01)
