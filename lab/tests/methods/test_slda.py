import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kenyon_lab.methods.slda import SLDA

GENERATOR = np.random.default_rng(0)
CENTRES = GENERATOR.standard_normal((4, 6))
MIXING = GENERATOR.standard_normal((6, 6))
Y = GENERATOR.integers(0, 4, 150)
X = CENTRES[Y] + GENERATOR.standard_normal((150, 6)) @ MIXING + 3
X_TEST = CENTRES[np.arange(100) % 4] + GENERATOR.standard_normal((100, 6)) @ MIXING + 3


def taught(*tasks, n_classes=4, **parameters):
    method = SLDA(**parameters)
    method.begin(6, n_classes)
    for X_task, y_task in tasks:
        method.learn_task(X_task, y_task)
    return method


def streamed(X, y):
    """The recursion, sample by sample."""
    counts, means, covariance = np.zeros(4), np.zeros((4, 6)), np.zeros((6, 6))
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        delta, n_own = x - means[label], counts[label]
        covariance = (n * covariance + n_own / (n_own + 1) * np.outer(delta, delta)) / (n + 1)
        means[label] += delta / (n_own + 1)
        counts[label] += 1
    return means, covariance


@pytest.mark.parametrize("cuts", [[], [1], [40, 41, 90], list(range(1, 30))])
def test_is_the_streamed_recursion_whatever_the_order_and_the_tasks(cuts):
    means, covariance = streamed(X, Y)
    order = np.random.default_rng(len(cuts)).permutation(150)
    tasks = zip(np.split(X[order], cuts), np.split(Y[order], cuts), strict=True)
    method = taught(*tasks)
    np.testing.assert_allclose(method.means, means, rtol=1e-12)
    np.testing.assert_allclose(method.covariance, covariance, rtol=1e-12)
    assert method.n_shown == 150


@pytest.mark.parametrize("shrinkage", [1e-4, 0.3, 1.0])
def test_decides_as_scikit_learn_with_the_same_covariance(shrinkage):
    method = taught((X[:70], Y[:70]), (X[70:], Y[70:]), shrinkage=shrinkage)
    centred = X - np.array([X[label == Y].mean(axis=0) for label in range(4)])[Y]
    mixed = (1 - shrinkage) * centred.T @ centred / 150 + shrinkage * np.eye(6)

    class Given:
        def fit(self, X):
            self.covariance_ = mixed

    peer = LinearDiscriminantAnalysis("lsqr", priors=[0.25] * 4, covariance_estimator=Given())
    # It averages the covariances of the classes with the priors for weights: all are the same.
    peer.fit(X, Y)
    weights, biases = method.solution
    difference = X_TEST @ weights + biases - peer.decision_function(X_TEST)
    np.testing.assert_allclose(difference, difference[0, 0] + np.zeros((100, 4)), atol=1e-9)
    assert np.array_equal(method.predict(X_TEST), peer.predict(X_TEST))


def test_solves_once_after_learning():
    method = taught((X, Y))
    first = method.solution
    method.predict(X_TEST)
    assert method.solution is first
    method.learn_task(X_TEST, np.full(100, 2))
    assert not np.array_equal(method.solution[0], first[0])


def test_classes_never_seen_are_never_predicted():
    method = taught((X, 2 * Y), n_classes=9)
    assert set(method.predict(100 * X_TEST)) <= {0, 2, 4, 6}
    assert method.solution[0].shape == (6, 4)
    assert method.n_parameters == 6 * 7 // 2 + 9 * 6 + 9


def test_directions_without_any_variance_count_as_such():
    line = 1e6 * (X[:, :1] @ X[:1])  # Beside it, rounding makes eigenvalues of about -0.1.
    for seed in range(10):
        aside = np.outer(Y, np.random.default_rng(seed).standard_normal(6))
        method = taught((line + aside, Y), shrinkage=1e-6)
        assert method.predict(method.means).tolist() == [0, 1, 2, 3]


def test_few_and_repeated_samples_of_any_size():
    lone = taught((X[:2], [3, 1]))
    assert lone.predict(X[:2]).tolist() == [3, 1]
    large = taught((1e8 * np.repeat(X[:4], 3, axis=0), np.repeat([0, 1, 2, 3], 3)))
    assert large.predict(1e8 * X[:4]).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("shrinkage", [0, -0.1, 1.5, float("nan"), "much"])
def test_refuses_a_shrinkage_that_is_no_share(shrinkage):
    with pytest.raises(ValueError, match="shrinkage must be"):
        taught(shrinkage=shrinkage)
