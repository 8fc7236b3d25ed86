"""The bound for prototypes, as a theorem about any codes and as a prediction from cosines."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon_lab.theory import separation, separation_bound
from kenyon_lab.theory.checks.prototypes import extreme_cosines
from kenyon_lab.theory.prototypes import draw_copies, draw_prototypes


@st.composite
def codes(draw):
    """Codes of some copies of prototypes, with as many winners each, and labels of prototypes."""
    n_prototypes, n_copies = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    n_cells, n_active = draw(st.integers(6, 20)), draw(st.integers(1, 5))
    X = np.zeros((n_prototypes * n_copies, n_cells), dtype=int)
    for row in X:
        row[list(draw(st.permutations(range(n_cells))))[:n_active]] = 1
    y = draw(st.permutations(np.arange(n_prototypes) % draw(st.integers(2, n_prototypes))))
    return X, np.array(y), n_copies, n_active


@given(codes())
def test_codes_are_never_separated_less_than_the_bound(instance):
    X, y, n_copies, n_active = instance
    owner = np.arange(len(X)) // n_copies
    same = owner[:, np.newaxis] == owner
    common = X @ X.T / n_active
    bound = separation_bound(
        n_active, np.bincount(y).max(), common[~same].max(), common[same].min()
    )
    assert separation(X, y.repeat(n_copies)) >= bound - 1e-9


def test_it_is_reached():
    """Classes of one prototype, all of which share as many winners, leave nothing to spare."""
    X = np.hstack([np.ones((4, 3), dtype=int), np.eye(4, dtype=int)])
    assert separation(X, range(4)) == pytest.approx(separation_bound(4, 1, between=3 / 4))


@given(st.integers(1, 10), st.floats(0, 1))
def test_prototypes_are_all_at_their_cosine(n, cosine):
    prototypes = draw_prototypes(n, 12, cosine, np.random.default_rng(0))
    expected = np.full((n, n), cosine) + (1 - cosine) * np.eye(n)
    assert prototypes @ prototypes.T == pytest.approx(expected, abs=1e-9)
    assert prototypes.sum(axis=1) == pytest.approx(np.zeros(n), abs=1e-9)


def test_copies_are_at_their_cosine_to_their_prototype():
    rng = np.random.default_rng(0)
    prototypes = draw_prototypes(3, 20, 0.3, rng)
    copies = draw_copies(prototypes, 4, 0.9, rng)
    to_own = (copies * prototypes.repeat(4, axis=0)).sum(axis=1)
    assert to_own == pytest.approx(np.full(12, 0.9))
    assert np.linalg.norm(copies, axis=1) == pytest.approx(np.ones(12))
    cosines = {True: [], False: []}
    for i, j in product(range(12), repeat=2):
        cosines[i // 4 == j // 4].append(copies[i] @ copies[j])
    expected = max(cosines[False]), min(cosines[True])
    assert extreme_cosines(copies, 4) == pytest.approx(expected)


def test_too_many_prototypes_are_refused():
    with pytest.raises(ValueError, match="n_prototypes must be at most n_features - 2 = 8"):
        draw_prototypes(9, 10, 0.5, np.random.default_rng(0))
