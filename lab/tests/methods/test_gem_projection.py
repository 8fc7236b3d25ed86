import numpy as np
import pytest
from scipy.optimize import minimize

from kenyon_lab.methods.gem import RIDGE, project


def gradients(seed, n_past, n_weights=40, alike=0.0):
    """Past gradients, more or less like each other, and one that goes against some of them."""
    random = np.random.default_rng(seed)
    M = random.normal(size=(n_past, n_weights)) + alike * random.normal(size=n_weights)
    return M, random.normal(size=n_weights) - M.mean(0)


def shared(M, g, strength):
    stack = np.vstack([M, g])
    *v, one = project(stack @ stack.T, strength)
    assert one == 1
    return np.array(v)


CASES = [
    (seed, n_past, alike, strength)
    for seed, n_past in enumerate([1, 2, 3, 7, 24])
    for alike in (0.0, 30.0)
    for strength in (0.0, 0.5)
]


@pytest.mark.parametrize(("seed", "n_past", "alike", "strength"), CASES)
def test_solves_the_program(seed, n_past, alike, strength):
    M, g = gradients(seed, n_past, alike=alike)
    v = shared(M, g, strength)
    P = M @ M.T + RIDGE * np.eye(n_past)
    # What makes a solution of a convex program: the slope is zero, or goes up at the bound.
    slope, scale = P @ v + M @ g, np.abs(P).max()
    assert (v >= strength).all()
    assert (slope > -1e-10 * scale).all()
    assert np.abs(slope[v > strength]).max(initial=0) < 1e-10 * scale


@pytest.mark.parametrize(("seed", "n_past", "alike", "strength"), CASES)
def test_a_general_solver_finds_nothing_better(seed, n_past, alike, strength):
    M, g = gradients(seed, n_past, alike=alike)
    P, q = M @ M.T + RIDGE * np.eye(n_past), M @ g

    def cost(v):
        return v @ P @ v / 2 + q @ v

    found = minimize(
        cost,
        np.full(n_past, strength + 1),
        jac=lambda v: P @ v + q,
        bounds=[(strength, None)] * n_past,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000},
    )
    v = shared(M, g, strength)
    assert cost(v) <= found.fun + 1e-9 * abs(found.fun)
    if not alike:
        np.testing.assert_allclose(v, found.x, atol=1e-5)


@pytest.mark.parametrize("n_past", [1, 3, 24])
def test_a_violated_constraint_ends_satisfied(n_past):
    M, g = gradients(n_past, n_past)
    assert (M @ g).min() < -1
    v = shared(M, g, 0.0)
    # Up to the ridge: with it, the slope of the program is not quite the constraint.
    assert (M @ (g + v @ M) >= -RIDGE * v - 1e-9).all()


@pytest.mark.parametrize(("strength", "share"), [(0.0, 3 / (4 + RIDGE)), (2.0, 2.0)])
def test_one_past_task_by_hand(strength, share):
    assert shared(np.array([[2.0, 0.0]]), np.array([-1.5, 1.0]), strength) == pytest.approx([share])


def test_nothing_of_the_past_where_nothing_is_violated():
    M = np.eye(3)
    assert shared(M, np.ones(3), 0.5).tolist() == [0, 0, 0]
    assert shared(M, np.array([1.0, 0.0, 2.0]), 0.5).tolist() == [0, 0, 0]


def test_without_a_past():
    assert project(np.array([[3.0]]), 0.5).tolist() == [1]


def test_gradients_that_are_the_same():
    M, g = np.ones((5, 40)), -np.ones(40)
    v = shared(M, g, 0.0)
    np.testing.assert_allclose(v, np.full(5, 40 / (200 + RIDGE)), rtol=1e-6)


def test_rounding_does_not_break_it():
    # Single precision of numbers of this size is off by far more than the ridge.
    M, g = gradients(0, 10, alike=3000.0)
    stack = np.vstack([M, g]).astype(np.float32) * 100
    products = (stack @ stack.T).astype(np.float64)
    assert np.linalg.eigvalsh(products[:-1, :-1]).min() < -RIDGE
    assert (project(products, 0.5) >= 0.5).all()


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_goes_on_when_the_network_diverged(broken):
    products = np.full((3, 3), -1.0)
    products[0, 2] = products[2, 0] = broken
    assert project(products, 0.5).tolist() == [0, 0, 1]
