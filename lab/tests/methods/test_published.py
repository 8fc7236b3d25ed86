"""RanPAC and Fly-CL as published, against least squares in double precision."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from kenyon_lab.methods import published
from kenyon_lab.methods.fly_cl import FlyCL
from kenyon_lab.methods.published import (
    FLY_CL_PENALTIES,
    CholeskyRidge,
    LURidge,
    PublishedFlyCL,
    PublishedRanPAC,
)
from kenyon_lab.methods.ranpac import RanPAC
from kenyon_lab.methods.ridge import PENALTIES
from lab.tests.methods.direct import ridge_weights, unit_vectors

GENERATOR = np.random.default_rng(0)
N_FEATURES, N_CELLS, N_CLASSES = 7, 30, 6
CENTRES = GENERATOR.standard_normal((N_CLASSES, N_FEATURES))


def samples(n, classes):
    """Samples that overlap, one class after another."""
    y = np.sort(GENERATOR.choice(classes, n))
    return CENTRES[y] + 0.7 * GENERATOR.standard_normal((n, N_FEATURES)), y


# More, and fewer samples than cells.
TASKS = [samples(143, [0, 4]), samples(100, [1, 2]), samples(21, [3, 2])]
X_TEST, _ = samples(200, range(N_CLASSES))


def begun(cls, **parameters):
    method = cls(n_cells=N_CELLS, **parameters)
    method.begin(N_FEATURES, N_CLASSES)
    return method


@pytest.mark.parametrize(("cls", "plain"), [(PublishedRanPAC, RanPAC), (PublishedFlyCL, FlyCL)])
def test_everything_is_single(cls, plain):
    method, other = begun(cls, seed=3), begun(plain, seed=3)
    np.testing.assert_allclose(method.projection, other.projection, rtol=1e-6)
    np.testing.assert_allclose(method.encode(X_TEST), other.encode(X_TEST), rtol=1e-3, atol=1e-5)
    for task in TASKS:
        method.learn_task(*task)
    ridge = method.ridge
    arrays = (method.projection, method.encode(X_TEST), ridge.G, ridge.Q, ridge.weights)
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}


@pytest.mark.parametrize("cls", [LURidge, CholeskyRidge])
@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_solves_in_single_precision_what_least_squares_gives(cls, penalty):
    H = GENERATOR.random((90, 12), np.float32)
    y = GENERATOR.integers(0, 3, 90)
    ridge = cls(lambda X: X, 12, 5)
    ridge.add(H, y)
    assert ridge.solve(penalty) == penalty
    expected = ridge_weights(H.astype(float), y, range(3), penalty)
    difference = np.abs(ridge.weights - expected).max()
    assert 1e-12 < difference < 1e-4, "single precision is close, but not that close"


def by_hand_ranpac(seed):
    """After each task the codes and labels so far, and the penalty of the task."""
    generator = np.random.default_rng(seed)
    projection = generator.standard_normal((N_FEATURES, N_CELLS))
    H, y = np.empty((0, N_CELLS)), np.empty(0, dtype=int)
    for X_task, y_task in TASKS:
        H_task = np.maximum(X_task @ projection, 0)
        H, y = np.vstack([H, H_task]), np.append(y, y_task)
        order = generator.permutation(len(y_task))
        H_task, y_task = H_task[order], y_task[order]
        n, classes, errors = int(0.8 * len(order)), np.unique(y_task), []
        for penalty in PENALTIES:
            weights = ridge_weights(H_task[:n], y_task[:n], classes, penalty)
            wrong = H_task[n:] @ weights - unit_vectors(y_task[n:], classes)
            errors.append((wrong**2).sum())
        yield H, y, PENALTIES[np.argmin(errors)]


def test_ranpac_selects_its_penalty_on_the_current_task_alone():
    chosen = set()
    for seed in range(3):
        method = begun(PublishedRanPAC, seed=seed)
        for task, (H, y, penalty) in zip(TASKS, by_hand_ranpac(seed), strict=True):
            method.learn_task(*task)
            assert method.penalty == penalty
            weights = ridge_weights(H, y, np.unique(y), penalty)
            np.testing.assert_allclose(method.ridge.weights, weights, rtol=0.01, atol=1e-3)
            chosen.add(penalty)
        assert method.n_shown == (143 + 29) + (100 + 20) + (21 + 5)
    assert len(chosen) > 1, "one penalty was always best, so that this says little"


def cross_validation(H, Y, penalty):
    """Its definition, with the matrix that makes the fitted values."""
    hat = H @ np.linalg.solve(H.T @ H + penalty * np.eye(H.shape[1]), H.T)
    n = len(H)
    return ((Y - hat @ Y) ** 2).sum() / n / (1 - np.trace(hat) / n) ** 2


@pytest.mark.parametrize("scale", [1.0, 2000.0])
def test_fly_cl_selects_among_its_authors_penalties_by_cross_validation(scale):
    method, other = begun(PublishedFlyCL), begun(FlyCL)
    H, y, chosen = np.empty((0, N_CELLS)), np.empty(0, dtype=int), []
    for X_task, y_task in TASKS:
        X_task = scale * X_task
        method.learn_task(X_task, y_task)
        H_task, Y_task = other.encode(X_task), unit_vectors(y_task, range(N_CLASSES))
        errors = [cross_validation(H_task, Y_task, penalty) for penalty in FLY_CL_PENALTIES]
        assert method.penalty == FLY_CL_PENALTIES[np.argmin(errors)]
        H, y = np.vstack([H, H_task]), np.append(y, y_task)
        weights = ridge_weights(H, y, np.unique(y), method.penalty)
        np.testing.assert_allclose(
            scale * method.ridge.weights, scale * weights, rtol=0.02, atol=1e-3
        )
        chosen.append(method.penalty)
    assert FLY_CL_PENALTIES == (1e6, 1e7, 1e8, 1e9)
    assert (set(chosen) == {1e6}) == (scale == 1)
    assert method.n_shown == 143 + 100 + 21


@pytest.mark.parametrize("cls", [LURidge, CholeskyRidge])
def test_a_penalty_that_single_precision_cannot_add_is_raised_with_a_warning(cls):
    """Half of the cells are copies of the others: without a penalty the matrix is singular."""
    half = GENERATOR.integers(0, 8, (40, 4)).astype(np.float32)
    ridge = cls(lambda X: X, 8, 2)
    ridge.add(np.hstack([half, half]), GENERATOR.integers(0, 2, 40))
    with pytest.warns(RuntimeWarning, match="the penalty 1e-08 is too small for single precision"):
        used = ridge.solve(1e-8)
    assert used > 1e-8
    assert np.isfinite(ridge.weights).all()


def test_a_penalty_that_cannot_be_solved_is_not_selected(monkeypatch):
    solve = LURidge._solve_system

    def fail(self, matrix, Q):
        if matrix[0, 0] < 1e3:
            raise LinAlgError
        return solve(self, matrix, Q)

    monkeypatch.setattr(LURidge, "_solve_system", fail)
    method = begun(PublishedRanPAC)
    method.learn_task(*TASKS[2])
    assert method.penalty >= 1e2


def test_a_task_of_one_sample():
    for cls in (PublishedRanPAC, PublishedFlyCL):
        method = begun(cls)
        method.learn_task(TASKS[0][0][:1], TASKS[0][1][:1])
        assert set(method.predict(X_TEST)) == {0}


def test_entries_have_the_authors_share_of_active_cells():
    _, fly_cl = published.ENTRIES
    assert (fly_cl.make().share_active, fly_cl.make().share_inputs) == (0.3, 0.39)
