import numpy as np
import pytest

from kenyon_lab.methods.ranpac import RanPAC
from kenyon_lab.methods.ridge import PENALTIES
from lab.tests.methods.direct import ridge_weights, unit_vectors

GENERATOR = np.random.default_rng(0)
N_FEATURES, N_CELLS = 7, 30
CENTRES = GENERATOR.standard_normal((6, N_FEATURES))


def samples(n, classes):
    """Samples that overlap, one class after another."""
    y = np.sort(GENERATOR.choice(classes, n))
    return CENTRES[y] + 0.7 * GENERATOR.standard_normal((n, N_FEATURES)), y


TASKS = [samples(43, [0, 4]), samples(100, [1, 2]), samples(61, [3])]
X_TEST, _ = samples(200, range(6))


def begun(**parameters):
    method = RanPAC(n_cells=N_CELLS, **parameters)
    method.begin(N_FEATURES, 6)
    return method


def rectified(projection, X):
    return np.where(X @ projection > 0, X @ projection, 0)


def by_hand(seed):
    """After each task the projection, all samples so far, and the penalty."""
    generator = np.random.default_rng(seed)
    projection = generator.standard_normal((N_FEATURES, N_CELLS))
    H, y = np.empty((0, N_CELLS)), np.empty(0, dtype=int)
    for X_task, y_task in TASKS:
        H_task = rectified(projection, X_task)
        order = generator.permutation(len(X_task))
        held, rest = np.split(order, [len(order) // 5])
        H_rest, y_rest = np.vstack([H, H_task[rest]]), np.append(y, y_task[rest])
        H, y = np.vstack([H, H_task]), np.append(y, y_task)
        classes = np.unique(y)
        errors = []
        for penalty in PENALTIES:
            weights = ridge_weights(H_rest, y_rest, classes, penalty)
            wrong = H_task[held] @ weights - unit_vectors(y_task[held], classes)
            errors.append((wrong**2).sum())
        yield projection, H, y, PENALTIES[np.argmin(errors)]


def test_is_ridge_regression_with_the_penalty_that_does_best_on_a_held_out_fifth():
    chosen = set()
    for seed in range(3):
        method = begun(seed=seed)
        for task, (projection, H, y, penalty) in zip(TASKS, by_hand(seed), strict=True):
            method.learn_task(*task)
            assert method.penalty == penalty
            classes = np.unique(y)
            weights = ridge_weights(H, y, classes, penalty)
            np.testing.assert_allclose(method.ridge.weights, weights, rtol=1e-6, atol=1e-9)
            scores = rectified(projection, X_TEST) @ weights
            assert np.array_equal(method.predict(X_TEST), classes[scores.argmax(axis=1)])
            chosen.add(penalty)
        assert method.n_shown == 43 + 8 + 100 + 20 + 61 + 12
    assert len(chosen) > 1, "one penalty was always best, so that this says little"


def test_order_matters_only_to_the_held_out_fifth():
    method, other = begun(), begun()
    for X, y in TASKS:
        method.learn_task(X, y)
        other.learn_task(X[::-1], y[::-1])
    other.ridge.solve(method.penalty)
    np.testing.assert_allclose(other.ridge.weights, method.ridge.weights, rtol=1e-5, atol=1e-8)


def test_a_task_too_small_to_hold_out_a_fifth_keeps_the_penalty():
    method = begun()
    method.learn_task(TASKS[0][0][:4], TASKS[0][1][:4])
    assert (method.penalty, method.n_shown) == (1.0, 4)
    method.learn_task(*TASKS[1])
    before = method.penalty
    assert before != 1
    method.learn_task(TASKS[2][0][:1], TASKS[2][1][:1])
    assert (method.penalty, method.n_shown) == (before, 4 + 120 + 1)
    method.begin(N_FEATURES, 6)
    assert method.penalty == 1


def test_classes_never_seen_are_never_predicted():
    method = begun()
    method.learn_task(*TASKS[1])
    assert set(method.predict(-50 * X_TEST)) <= {1, 2}
    assert method.n_parameters == N_CELLS * (N_CELLS + 1) // 2 + 6 * N_CELLS


def test_the_projection_is_gaussian_and_of_the_seed():
    method = RanPAC(n_cells=500)
    method.begin(200, 2)
    entries = method.projection.ravel()
    moments = [(entries**power).mean() for power in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.06)
    assert not np.array_equal(begun(seed=1).projection, begun(seed=2).projection)


@pytest.mark.parametrize("n_cells", [0, -3])
def test_refuses_to_have_no_cells(n_cells):
    with pytest.raises(ValueError, match="n_cells must be from 1"):
        RanPAC(n_cells=n_cells).begin(3, 2)
