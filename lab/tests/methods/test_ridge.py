import numpy as np
import pytest

from kenyon_lab.methods.ridge import PENALTIES, Ridge
from lab.tests.methods.direct import ridge_weights

GENERATOR = np.random.default_rng(0)
H = GENERATOR.standard_normal((2500, 12))
Y = GENERATOR.choice([1, 2, 4], 2500)


def identity(X):
    return np.array(X, dtype=np.float64)


def summed(*tasks, n_cells=12):
    ridge = Ridge(identity, n_cells, 5)
    for X, y in tasks:
        ridge.add(X, y)
    return ridge


def test_penalties():
    assert [f"{penalty:.0e}" for penalty in PENALTIES] == [
        *[f"1e-0{power}" for power in range(8, 0, -1)],
        *[f"1e+0{power}" for power in range(9)],
    ]


@pytest.mark.parametrize("penalty", [1e-6, 1.0, 1e4])
def test_is_a_direct_solution_on_all_samples(penalty):
    ridge = summed((H[:7], Y[:7]), (H[7:], Y[7:]))
    assert ridge.solve(penalty) == penalty
    weights = ridge_weights(H, Y, [1, 2, 4], penalty)
    np.testing.assert_allclose(ridge.weights, weights, rtol=1e-9, atol=1e-12)
    assert ridge.predict(H).tolist() == np.array([1, 2, 4])[(H @ weights).argmax(axis=1)].tolist()
    assert ridge.n_parameters == 12 * 13 // 2 + 12 * 5


def test_fewer_samples_than_cells():
    ridge = summed((H[:8], Y[:8]))
    ridge.solve(0.1)
    weights = ridge_weights(H[:8], Y[:8], np.unique(Y[:8]), 0.1)
    np.testing.assert_allclose(ridge.weights, weights, rtol=1e-9, atol=1e-12)


def test_joining_is_adding():
    ridge, other = summed((H[:100], Y[:100])), summed((H[100:], Y[100:]))
    ridge.join(other)
    whole = summed((H, Y))
    ridge.solve(1.0)
    whole.solve(1.0)
    np.testing.assert_allclose(ridge.weights, whole.weights, rtol=1e-9)
    assert ridge.classes.tolist() == [1, 2, 4]


def test_the_penalty_grows_until_rounding_leaves_a_solution():
    same = 1e6 * np.repeat(H[:3], 4, axis=1)[:, :12]
    ridge = summed((same, Y[:3]))
    assert ridge.solve(1e-8) < 1e3
    assert np.isfinite(ridge.weights).all()
    assert ridge.predict(same).tolist() == Y[:3].tolist()


def test_the_penalty_grows_tenfold():
    ridge = summed((H, Y))
    ridge.G[0, 0], ridge.G[1:, 0] = -0.05, 0
    assert ridge.solve(1e-8) == pytest.approx(0.1)


def test_refuses_what_is_too_large_to_sum():
    with pytest.raises(ValueError, match="X must hold numbers whose squares have a finite sum"):
        summed((1e200 * H[:5], Y[:5]))
