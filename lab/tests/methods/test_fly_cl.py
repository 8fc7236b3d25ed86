import numpy as np
import pytest

from kenyon_lab.methods.fly_cl import FlyCL
from kenyon_lab.methods.ridge import PENALTIES
from lab.tests.methods.direct import ridge_weights, unit_vectors

GENERATOR = np.random.default_rng(0)
N_FEATURES, N_CELLS = 9, 40
CENTRES = GENERATOR.standard_normal((6, N_FEATURES))


def samples(n, classes, noise=0.7):
    y = GENERATOR.choice(classes, n)
    return CENTRES[y] + noise * GENERATOR.standard_normal((n, N_FEATURES)), y


# More, as many, and fewer samples than cells.
TASKS = [samples(200, [0, 4]), samples(40, [1, 2]), samples(25, [2, 3], noise=2.0)]
X_TEST, _ = samples(100, range(6))


def begun(n_features=N_FEATURES, **parameters):
    method = FlyCL(**{"n_cells": N_CELLS, **parameters})
    method.begin(n_features, 6)
    return method


def largest(sums, n_active):
    """Keep the largest of each row, one row at a time."""
    codes = np.zeros_like(sums)
    for row, code in zip(sums, codes, strict=True):
        for cell in sorted(range(len(row)), key=lambda cell: -row[cell])[:n_active]:
            code[cell] = row[cell]
    return codes


def cross_validation(H, Y, penalty):
    """Its definition, with the matrix that makes the fitted values."""
    n = len(H)
    hat = H @ np.linalg.solve(H.T @ H + penalty * np.eye(H.shape[1]), H.T)
    return n * np.linalg.norm(Y - hat @ Y) ** 2 / (n - np.trace(hat)) ** 2


@pytest.mark.parametrize("seed", range(3))
def test_is_ridge_regression_with_the_penalty_of_generalised_cross_validation(seed):
    method = begun(seed=seed)
    H, y = np.empty((0, N_CELLS)), np.empty(0, dtype=int)
    chosen = set()
    for X_task, y_task in TASKS:
        method.learn_task(X_task, y_task)
        H_task = largest(X_task @ method.projection, 12)
        Y_task = unit_vectors(y_task, np.unique(y_task))
        # Below this the definition is lost to rounding, and what is chosen lies above it.
        usable = [penalty for penalty in PENALTIES if penalty > 1e-4]
        criteria = [cross_validation(H_task, Y_task, penalty) for penalty in usable]
        penalty = usable[np.argmin(criteria)]
        assert method.penalty == penalty
        chosen.add(penalty)
        H, y = np.vstack([H, H_task]), np.append(y, y_task)
        classes = np.unique(y)
        weights = ridge_weights(H, y, classes, penalty)
        np.testing.assert_allclose(method.ridge.weights, weights, rtol=1e-6, atol=1e-9)
        scores = largest(X_TEST @ method.projection, 12) @ weights
        assert np.array_equal(method.predict(X_TEST), classes[scores.argmax(axis=1)])
    assert len(chosen) > 1, "one penalty was always best, so that this says little"
    assert method.n_shown == 265
    assert method.n_parameters == N_CELLS * (N_CELLS + 1) // 2 + 6 * N_CELLS


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 1.0])
def test_the_largest_sums_are_kept_as_they_are(share):
    method = begun(share_active=share)
    sums = X_TEST @ method.projection
    expected = largest(sums, max(1, round(share * N_CELLS)))
    np.testing.assert_allclose(method.encode(X_TEST), expected)
    assert not method.encode(np.zeros((1, N_FEATURES))).any()


def test_each_cell_sums_distinct_inputs_with_gaussian_weights():
    method = begun(n_features=100, n_cells=2000)
    wired = method.projection != 0
    assert (wired.sum(axis=0) == 39).all()
    np.testing.assert_allclose(wired.mean(axis=1), 0.39, atol=0.06)
    weights = method.projection[wired]
    moments = [(weights**power).mean() for power in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.06)
    assert (begun(n_features=1).projection != 0).all()
    assert not np.array_equal(begun(seed=1).projection, begun(seed=2).projection)


def test_a_lone_sample_keeps_the_penalty():
    method = begun()
    method.learn_task(X_TEST[:1], [5])
    assert method.penalty == 1
    method.learn_task(*TASKS[2])
    before = method.penalty
    assert before != 1
    method.learn_task(X_TEST[1:2], [1])
    assert method.penalty == before
    method.begin(N_FEATURES, 6)
    assert method.penalty == 1


@pytest.mark.parametrize("n", [20, 100])
def test_samples_that_are_all_the_same(n):
    method = begun()
    method.learn_task(np.repeat(X_TEST[:1], n, axis=0), np.full(n, 5))
    method.learn_task(np.zeros((n, N_FEATURES)), np.full(n, 2))
    assert method.predict(X_TEST[:1]).tolist() == [5]


def test_classes_never_seen_are_never_predicted():
    method = begun()
    method.learn_task(*TASKS[1])
    assert set(method.predict(-50 * X_TEST)) <= {1, 2}


@pytest.mark.parametrize("name", ["share_active", "share_inputs"])
@pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan"), "all"])
def test_refuses_what_is_no_share(name, share):
    with pytest.raises(ValueError, match=f"{name} must be"):
        begun(**{name: share})
