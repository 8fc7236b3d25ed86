"""Weights of a memory with decay, averaged over every sequence of samples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kenyon_lab.theory import expected_weights
from kenyon_lab.theory.checks.expectation import average_weights
from kenyon_lab.theory.means import weight_variance

rate = st.floats(0.01, 0.99)


@given(
    hnp.arrays(np.float64, (3, 4), elements=st.floats(0, 1)).filter(lambda X: X.any(axis=1).all()),
    st.sampled_from([(0, 1, 0), (0, 1, 1), (0, 1, 2)]),
    rate,
    rate,
    st.integers(1, 4),
)
@settings(max_examples=30, deadline=None)
def test_mean_over_all_sequences(X, y, decay, part, n_samples):
    averaged, predicted = average_weights(X, np.array(y), decay * part, decay, n_samples)
    assert averaged == pytest.approx(predicted, abs=1e-12)


def test_cap_lowers_the_mean():
    X, y = np.eye(3), np.array([0, 0, 1])
    averaged, predicted = average_weights(X, y, 0.9, 0.1, 4)
    assert (averaged <= predicted + 1e-12).all()
    assert averaged.max() < 1 < predicted.max()


@pytest.mark.parametrize("decay", [0.0, 0.2])
def test_mean_and_variance_over_all_sequences_in_a_plain_loop(decay):
    codes, y = np.array([[1.0, 0.2], [0.5, 0.7], [0.0, 1.0]]), np.array([0, 0, 1])
    ends = []
    for sequence in product(range(3), repeat=5):
        weights = np.zeros((2, 2))
        for i in sequence:
            weights *= 1 - decay
            weights[y[i]] += 0.1 * codes[i]
        ends.append(weights)
    means = np.stack([codes[y == label].mean(axis=0) for label in (0, 1)])
    squares = np.stack([(codes[y == label] ** 2).mean(axis=0) for label in (0, 1)])
    shares = [2 / 3, 1 / 3]
    assert expected_weights(means, shares, 0.1, decay, 5) == pytest.approx(np.mean(ends, axis=0))
    variance = weight_variance(means, squares, shares, 0.1, decay, 5)
    assert variance == pytest.approx(np.var(ends, axis=0))


@given(rate, rate, st.integers(1, 10**6))
def test_weights_grow_towards_their_limit_and_stay_below_the_cap(decay, part, n_samples):
    now, then = (
        expected_weights([[1.0]], [1.0], decay * part, decay, n)[0, 0]
        for n in (n_samples, n_samples + 1)
    )
    assert 0 < now <= then <= part * (1 + 1e-12)
    assert 1 - now / part == pytest.approx((1 - decay) ** n_samples, abs=1e-9)
