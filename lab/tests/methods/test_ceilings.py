"""Offline ceilings: classifiers of scikit-learn on all samples so far, scaled to length 1."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kenyon_lab.methods.ceilings import OfflineLogistic, OfflineNeighbours, OfflineSVM

GENERATOR = np.random.default_rng(0)
CENTRES = GENERATOR.standard_normal((6, 8))
Y = np.arange(240) % 6
X = CENTRES[Y] + 1.5 * GENERATOR.standard_normal((240, 8))
X_TEST = CENTRES[Y] + 1.5 * GENERATOR.standard_normal((240, 8))


def begun(method):
    method.begin(8, 6)
    return method


def scaled(X):
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("method", "classifier"),
    [
        (OfflineLogistic(C=2.0), LogisticRegression(C=2.0, max_iter=1000)),
        (OfflineSVM(C=5.0, gamma=2.0), SVC(C=5.0, gamma=2.0)),
        (OfflineNeighbours(k=7), KNeighborsClassifier(7, weights="distance")),
    ],
)
def test_is_the_classifier_on_all_samples_so_far(method, classifier):
    begun(method)
    for start, end in ((0, 80), (80, 240)):
        method.learn_task(X[start:end], Y[start:end])
        expected = classifier.fit(scaled(X[:end]), Y[:end]).predict(scaled(X_TEST))
        assert (method.predict(X_TEST) == expected).mean() > 0.99  # up to rounding
        assert method.n_stored == end
    assert method.n_shown == 80 + 240
    assert 0.4 < (expected == Y).mean() < 0.95  # so that another classifier would differ


def test_the_length_of_a_sample_does_not_matter():
    method, other = begun(OfflineNeighbours()), begun(OfflineNeighbours())
    method.learn_task(X, Y)
    other.learn_task(X * (1 + Y[:, np.newaxis]), Y)
    assert (method.predict(X_TEST) == other.predict(100 * X_TEST)).all()


def test_fits_samples_at_even_distances():
    method = begun(OfflineNeighbours(k=1, max_samples=40))
    method.learn_task(X[:100], Y[:100])
    method.learn_task(X[100:], Y[100:])
    chosen = np.linspace(0, 239, 40).round().astype(int)
    expected = KNeighborsClassifier(1).fit(scaled(X[chosen]), Y[chosen]).predict(scaled(X_TEST))
    assert (method.predict(X_TEST) == expected).all()
    assert (method.n_stored, method.n_shown) == (240, 40 + 40)


@pytest.mark.parametrize("cls", [OfflineLogistic, OfflineSVM, OfflineNeighbours])
def test_a_single_class_is_always_predicted(cls):
    method = begun(cls())
    method.learn_task(X[Y == 4], Y[Y == 4])
    assert set(method.predict(X_TEST)) == {4}


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (OfflineLogistic(C=0.0), "C must be a number above 0"),
        (OfflineSVM(C=-1.0), "C must be a number above 0"),
        (OfflineSVM(gamma=0.0), "gamma must be a number above 0"),
        (OfflineNeighbours(k=0), "k must be from 1"),
        (OfflineNeighbours(max_samples=0), "max_samples must be from 1"),
    ],
)
def test_refuses_impossible_parameters(method, sentence):
    with pytest.raises(ValueError, match=sentence):
        begun(method)
