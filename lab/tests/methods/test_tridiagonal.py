import numpy as np
import pytest

from kenyon_lab.methods.ridge import Tridiagonal


def symmetric(size):
    A = np.random.default_rng(size).standard_normal((size, size))
    return A + A.T


@pytest.mark.parametrize("size", [1, 2, 3, 70])
def test_solves_shifted_systems(size):
    A = symmetric(size)
    below = np.asfortranarray(np.tril(A))
    system = Tridiagonal(below)
    B = np.random.default_rng(0).standard_normal((size, 4))
    np.testing.assert_allclose(system.eigenvalues(), np.linalg.eigvalsh(A), atol=1e-11)
    np.testing.assert_allclose(system.rotate_back(system.rotate(B)), B, atol=1e-12)
    for c in (50.0, 1e3, 1e8):
        X = system.rotate_back(system.solve(c, system.rotate(B)))
        np.testing.assert_allclose(X, np.linalg.solve(A + c * np.eye(size), B), rtol=1e-9)


def test_what_is_given_to_be_turned_stays_as_it_was():
    system = Tridiagonal(np.asfortranarray(symmetric(5)))
    B = np.asfortranarray(symmetric(5))
    before = B.copy()
    system.rotate(B)
    system.solve(50.0, B)
    assert np.array_equal(B, before)


@pytest.mark.parametrize("size", [1, 2, 70])
def test_refuses_what_is_not_positive_definite(size):
    system = Tridiagonal(np.asfortranarray(symmetric(size)))
    smallest = system.eigenvalues()[0]
    system.solve(1e-6 - smallest, np.ones((size, 1)))
    with pytest.raises(np.linalg.LinAlgError):
        system.solve(-1e-6 - smallest, np.ones((size, 1)))
