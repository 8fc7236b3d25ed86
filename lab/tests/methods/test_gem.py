import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from kenyon_lab.methods.gem import GEM, PIECE, RIDGE, _products
from kenyon_lab.methods.vanilla import Vanilla
from lab.tests.methods.twin import SIZES, Twin, assert_same, batches, begun, growth_of_loss, tasks


def solve(M, g, strength):
    """The program of GEM by a general solver."""
    P, q = M @ M.T + RIDGE * np.eye(len(M)), M @ g
    return minimize(
        lambda v: v @ P @ v / 2 + q @ v,
        np.full(len(M), strength + 1),
        jac=lambda v: P @ v + q,
        bounds=[(strength, None)] * len(M),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000},
    ).x


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_is_the_literal_method(strength):
    rate = 0.1
    method = begun(GEM(**SIZES, learning_rate=rate, memory_strength=strength, n_exemplars=5))
    theta = method.theta.double()
    past, n_corrected = [], 0
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            step = Twin(theta).gradient(*batch).numpy()
            M = np.array([Twin(theta).gradient(*exemplars).numpy() for exemplars in past])
            if past and (M @ step).min() < 0:
                n_corrected += 1
                step = step + solve(M, step, strength) @ M
            theta = theta - rate * torch.from_numpy(step)
        assert_same(method.theta, theta)
        past.append((X[::5], y[::5]))
    assert n_corrected > 3
    assert method.n_stored == 15
    assert method.n_shown == 63 + 3 * 5 + 3 * 10
    assert method.n_parameters == len(method.theta)


def test_first_task_is_vanilla():
    gem, vanilla = begun(GEM(**SIZES)), begun(Vanilla(**SIZES))
    X, y = next(tasks())
    gem.learn_task(X, y)
    vanilla.learn_task(X, y)
    assert_same(gem.theta, vanilla.theta)


def test_loss_on_exemplars_does_not_grow():
    parameters = {**SIZES, "learning_rate": 0.1}
    forgotten = growth_of_loss(Vanilla(**parameters))
    assert growth_of_loss(GEM(**parameters, memory_strength=0)) < forgotten / 10
    assert growth_of_loss(GEM(**parameters, memory_strength=0.5)) < 0


@pytest.mark.parametrize("n_weights", [1, PIECE, 3 * PIECE + 5])
def test_inner_products_are_summed_well(n_weights):
    rows = torch.rand(4, n_weights, generator=torch.Generator().manual_seed(1))
    exact = rows.double() @ rows.double().T
    np.testing.assert_allclose(_products(rows), exact, rtol=2e-6)
