"""Separation as the paper defines it, and what follows from it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from kenyon_lab.theory import class_means, error_tolerance, separation
from kenyon_lab.theory.margins import margins


@st.composite
def points(draw):
    """Points in whole numbers, of two or three classes."""
    n, width = draw(st.integers(3, 8)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.int64, (n, width), elements=st.integers(-4, 4)))
    y = draw(st.permutations(np.arange(n) % draw(st.integers(2, 3))))
    return X, np.array(y)


def by_hand(X, y):
    """The margin of every point, as fractions, straight from the definition."""

    def mean_product(x, label):
        products = [sum(map(int, x * other)) for other in X[y == label]]
        return Fraction(sum(products), len(products))

    return [
        mean_product(x, own) - max(mean_product(x, label) for label in set(y.tolist()) - {own})
        for x, own in zip(X, y.tolist(), strict=True)
    ]


@given(points())
def test_it_is_the_papers(instance):
    X, y = instance
    expected = by_hand(X, y)
    assert margins(X, y) == pytest.approx([float(one) for one in expected], abs=1e-9)
    assert separation(X, y) == pytest.approx(float(min(expected)), abs=1e-9)


@given(points())
def test_the_rule_of_the_means_is_perfect_when_gamma_is_above_zero(instance):
    X, y = instance
    means = class_means(X, y)
    # In whole numbers gamma is 0 or at least 1/64, so that rounding decides nothing.
    if separation(X, y) > 1e-6:
        assert ((X @ means.T).argmax(axis=1) == y).all()
    else:
        scores = X @ means.T
        own = scores[np.arange(len(y)), y]
        scores[np.arange(len(y)), y] = -np.inf
        assert (own <= scores.max(axis=1) + 1e-9).any()


@given(points(), st.integers(0, 2**32 - 1), st.booleans())
def test_it_stays_perfect_with_shorter_errors_than_are_tolerated(instance, seed, against):
    X, y = instance
    tolerated = error_tolerance(X, y)
    if tolerated < 1e-6:
        return
    rng = np.random.default_rng(seed)
    errors = rng.standard_normal((y.max() + 1, X.shape[1]))
    if against:
        worst = margins(X, y).argmin()
        errors[:] = X[worst]
        errors[y[worst]] *= -1
    errors *= 0.999 * tolerated / np.linalg.norm(errors, axis=1, keepdims=True)
    assert ((X @ (class_means(X, y) + errors).T).argmax(axis=1) == y).all()


def test_codes_of_one_length_reach_the_tolerance():
    rng = np.random.default_rng(0)
    X = np.zeros((8, 60))
    for row in X:
        row[rng.choice(60, 10, replace=False)] = 1
    y = np.arange(8) % 4
    tolerated, worst = error_tolerance(X, y), margins(X, y).argmin()
    assert tolerated == pytest.approx(separation(X, y) / (2 * np.sqrt(10)))
    errors = np.tile(X[worst], (4, 1)) * 1.001 * tolerated / np.sqrt(10)
    errors[y[worst]] *= -1
    assert (class_means(X, y) + errors).dot(X[worst]).argmax() != y[worst]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_and_dense_agree(make):
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(50, 20)) * (rng.random((50, 20)) < 0.2)
    y = np.array(["a", "b", "c"])[rng.integers(3, size=50)]
    for dtype in (np.uint8, np.int64, np.float32):
        assert margins(make(X.astype(dtype)), y) == pytest.approx(margins(X, y))
    assert error_tolerance(make(X), y) == pytest.approx(error_tolerance(X, y))
    assert class_means(make(X), y) == pytest.approx(class_means(X, y))


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 7)), rng.integers(3, size=100)
    whole = margins(X, y), margins(sparse.csr_matrix(X), y), error_tolerance(X, y)
    monkeypatch.setattr("kenyon_lab.theory.margins._BLOCK_BYTES", 8 * 7 * 9)
    in_blocks = margins(X, y), margins(sparse.csr_matrix(X), y), error_tolerance(X, y)
    for one, other in zip(whole, in_blocks, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "what"),
    [
        (np.ones(3), [0, 1, 0], r"X must have two dimensions, but has the shape \(3,\)"),
        (np.ones((3, 2)), [0, 1], r"y must be a vector of 3 labels, .* but has the shape \(2,\)"),
        (np.ones((3, 2)), [1, 1, 1], "y must have at least two classes, but has 1"),
    ],
)
def test_what_is_refused(X, y, what):
    for function in (separation, class_means, error_tolerance):
        with pytest.raises(ValueError, match=what):
            function(X, y)
