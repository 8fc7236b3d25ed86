"""The contract of all methods."""

from dataclasses import fields

import numpy as np
import pytest

from kenyon_lab.data import load
from kenyon_lab.methods import METHODS

N_FEATURES, N_CLASSES, N_TASKS = 40, 6, 3
SMALL = {
    "n_cells": 400,
    "fan_in": 6,
    "n_active": 20,
    "n_hidden": 50,
    "n_latent": 10,
    "n_exemplars": 20,
}


def small(name, **parameters):
    """Return a small method after `begin`."""
    known = {field.name for field in fields(METHODS[name].make()) if field.init}
    if METHODS[name].variant.get("code") == "dense":
        known.remove("n_active")
    sizes = {key: value for key, value in SMALL.items() if key in known}
    method = METHODS[name].make(**sizes, **parameters)
    method.begin(N_FEATURES, N_CLASSES)
    return method


def samples(n=240, seed=0):
    """Positive samples around six centres, in tasks of two classes."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(1).gamma(0.5, size=(N_CLASSES, N_FEATURES))
    y = np.arange(n) % N_CLASSES
    X = centres[y] + 0.1 * generator.random((n, N_FEATURES))
    return X.astype(np.float32), y


def tasks(X, y):
    for task in range(N_TASKS):
        here = y // 2 == task
        yield X[here], y[here]


def taught(name, **parameters):
    method = small(name, **parameters)
    for X, y in tasks(*samples()):
        method.learn_task(X, y)
    return method


@pytest.fixture(params=METHODS)
def name(request):
    return request.param


X_TEST, Y_TEST = samples(60, seed=2)


def test_predicts_classes(name):
    method = taught(name)
    predicted = method.predict(X_TEST)
    assert predicted.shape == Y_TEST.shape
    assert predicted.dtype == np.intp
    assert set(predicted) <= set(range(N_CLASSES))


def test_same_seed_same_result_and_begin_resets(name):
    method = taught(name, seed=3)
    expected = method.predict(X_TEST)
    assert np.array_equal(taught(name, seed=3).predict(X_TEST), expected)
    counts = method.n_shown, method.n_stored, method.n_parameters
    method.begin(N_FEATURES, N_CLASSES)
    with pytest.raises(ValueError, match="learn_task first"):
        method.predict(X_TEST)
    for X, y in tasks(*samples()):
        method.learn_task(X, y)
    assert np.array_equal(method.predict(X_TEST), expected)
    assert (method.n_shown, method.n_stored, method.n_parameters) == counts


def test_predicting_changes_nothing(name):
    asked, silent = small(name), small(name)
    for X, y in tasks(*samples()):
        asked.learn_task(X, y)
        asked.predict(X_TEST)
        assert np.array_equal(asked.predict(X_TEST), asked.predict(X_TEST))
        silent.learn_task(X, y)
    assert np.array_equal(asked.predict(X_TEST), silent.predict(X_TEST))
    assert asked.n_shown == silent.n_shown


def test_shares_no_memory_with_its_input(name):
    method, other = small(name), small(name)
    for X, y in tasks(*samples()):
        mine, labels = X.copy(), y.copy()
        method.learn_task(mine, labels)
        assert np.array_equal(mine, X)
        assert np.array_equal(labels, y)
        mine[:], labels[:] = 7, 0
        other.learn_task(X, y)
    assert np.array_equal(method.predict(X_TEST), other.predict(X_TEST))


def test_dtypes(name):
    X, y = samples()
    X, X_test = np.round(X * 8), np.round(X_TEST * 8)
    expected = None
    for dtype in (np.float32, np.float64, np.uint8):
        method = small(name)
        for X_task, y_task in tasks(X.astype(dtype), y.astype(np.int32)):
            method.learn_task(X_task, y_task)
        predicted = method.predict(X_test.astype(dtype))
        assert expected is None or np.array_equal(predicted, expected)
        expected = predicted


def test_read_only_and_strided_samples(name):
    method, plain = small(name), small(name)
    for X, y in tasks(*samples()):
        wide = np.repeat(X, 2, axis=1)[:, ::2]
        wide.flags.writeable = y.flags.writeable = False
        method.learn_task(wide, y)
        plain.learn_task(X, y.copy())
    X_test = X_TEST.copy()
    X_test.flags.writeable = False
    assert np.array_equal(method.predict(X_test), plain.predict(X_TEST))


def test_predictions_are_independent(name):
    method = taught(name)
    one_by_one = np.concatenate([method.predict(X_TEST[i : i + 1]) for i in range(len(X_TEST))])
    # Matrix products of other shapes round differently, which may decide near ties.
    assert np.mean(one_by_one == method.predict(X_TEST)) > 0.95


def test_small_and_unbalanced_tasks(name):
    X, y = samples()
    method = small(name)
    for classes in ([0], [1, 2], [3]):
        here = np.flatnonzero(np.isin(y, classes))
        method.learn_task(X[here[:3]], y[here[:3]])
    assert set(method.predict(X_TEST)) <= set(range(N_CLASSES))


def test_cost_is_bounded(name):
    short, long = small(name), small(name)
    for (X, y), (X_more, y_more) in zip(tasks(*samples()), tasks(*samples(480)), strict=True):
        short.learn_task(X, y)
        long.learn_task(X_more, y_more)
    assert short.n_parameters == long.n_parameters
    assert long.n_shown >= 480
    if name.startswith("offline"):
        assert (short.n_stored, long.n_stored) == (240, 480)
        assert (long.n_parameters > 0) == (METHODS[name].group != "ceiling")
    else:
        assert long.n_parameters > 0
        assert short.n_stored == long.n_stored <= N_TASKS * SMALL["n_exemplars"]


def test_rejects_bad_input(name):
    method = METHODS[name].make()
    X, y = samples()
    with pytest.raises(ValueError, match="call begin first"):
        method.learn_task(X, y)
    method = small(name)
    with pytest.raises(ValueError, match="X has 39 features, but 40 were expected"):
        method.learn_task(X[:, 1:], y)
    with pytest.raises(ValueError, match="from 0 to 5, but ranges from 1 to 6"):
        method.learn_task(X, y + 1)
    with pytest.raises(ValueError, match="one integer for each of 240 samples"):
        method.learn_task(X, y[1:])
    with pytest.raises(ValueError, match="one integer for each of 240 samples"):
        method.learn_task(X, y + 0.5)
    with pytest.raises(ValueError, match="NaN"):
        method.learn_task(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="learn_task first"):
        method.predict(X)
    with pytest.raises(ValueError, match="has no parameter 'colour'"):
        METHODS[name].make(colour=1)


def test_threads(name):
    with pytest.raises(ValueError, match="n_threads must be from 1"):
        small(name, n_threads=0)
    assert taught(name, n_threads=2).predict(X_TEST).shape == Y_TEST.shape


def test_rejects_empty_batches(name):
    if "batch_size" in {field.name for field in fields(METHODS[name].make())}:
        with pytest.raises(ValueError, match="batch_size must be from 1"):
            small(name, batch_size=0)


NETWORK = {"n_hidden": 100, "batch_size": 16}


@pytest.mark.parametrize(
    ("name", "parameters", "n_tasks", "least", "most"),
    [
        ("fly", {}, 1, 0.9, 1),
        ("ridge", {"n_cells": 300}, 1, 0.9, 1),
        ("dense-fly", {"n_cells": 400}, 1, 0.1, 0.9),
        ("sparse-logistic", {"n_cells": 400, "learning_rate": 0.1}, 1, 0.7, 1),
        ("perceptron-v1", {}, 1, 0.9, 1),
        ("ncm", {}, 1, 0.8, 1),
        ("slda", {}, 1, 0.9, 1),
        ("ranpac", {"n_cells": 300}, 1, 0.9, 1),
        ("fly-cl", {"n_cells": 300}, 1, 0.9, 1),
        ("ewc", {**NETWORK, "learning_rate": 0.01}, 1, 0.8, 1),
        ("gem", {**NETWORK, "learning_rate": 0.01, "n_exemplars": 50}, 5, 0.8, 1),
        ("offline", {**NETWORK, "learning_rate": 0.003}, 5, 0.8, 1),
        ("offline-logistic", {}, 5, 0.9, 1),
        ("offline-svm", {}, 5, 0.95, 1),
        ("offline-neighbours", {}, 5, 0.95, 1),
        ("vanilla", {**NETWORK, "learning_rate": 0.05}, 5, 0.1, 0.25),
    ],
)
def test_accuracy_on_digits(name, parameters, n_tasks, least, most):
    digits = load("digits", n_tasks=n_tasks)
    method = METHODS[name].make(**parameters)
    method.begin(digits.n_features, digits.n_classes)
    for classes in digits.tasks():
        task = np.isin(digits.y_train, classes)
        method.learn_task(digits.X_train[task], digits.y_train[task])
    assert least < (method.predict(digits.X_test) == digits.y_test).mean() < most


def test_bir_remembers_earlier_digits():
    digits = load("digits")
    sizes = {"n_hidden": 100, "n_latent": 20}
    method = METHODS["bir"].make(**sizes, learning_rate=0.003, n_iterations=60)
    method.begin(digits.n_features, digits.n_classes)
    for classes in ([0, 1], [2, 3]):
        task = np.isin(digits.y_train, classes)
        method.learn_task(digits.X_train[task], digits.y_train[task])
    tested = digits.y_test < 4
    assert (method.predict(digits.X_test[tested]) == digits.y_test[tested]).mean() > 0.9
