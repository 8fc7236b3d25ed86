"""Datasets and the checks of their arrays."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tests.data.samples import make_dataset

X = np.arange(24.0).reshape(8, 3)
Y = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def dataset(**changes):
    return make_dataset(X, Y, 3, **{"class_names": ("a", "b", "c"), "n_tasks": 2} | changes)


def test_sizes_and_repr():
    mine = dataset()
    assert (mine.n_features, mine.n_classes) == (3, 3)
    assert repr(mine) == "Dataset('mine': 8 + 3 samples, 3 features, 3 classes in 2 tasks)"
    assert mine.samples().keys() == {"train", "test"}
    scoped = dataset(X_out_of_scope=X[:1])
    assert scoped.samples().keys() == {"train", "test", "out_of_scope"}
    assert scoped.samples()["out_of_scope"] is scoped.X_out_of_scope


def test_is_frozen():
    with pytest.raises(FrozenInstanceError):
        dataset().n_tasks = 3


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i8", "u8", "?"])
def test_numeric_dtypes(dtype):
    assert dataset(X_train=X.astype(dtype)).X_train.dtype == dtype


@pytest.mark.parametrize("part", ["X_train", "X_test", "X_out_of_scope"])
@pytest.mark.parametrize(
    "samples",
    [X[:0], X[:, :0], X[0], X[np.newaxis], np.float64(1), X[:, :2]],
    ids=["no rows", "no columns", "a vector", "a cube", "a number", "narrow"],
)
def test_rejects_invalid_shape_of_samples(part, samples):
    with pytest.raises(
        ValueError,
        match=r"mine: X_\w+ has (shape .* expected \(n_|\d features; expected \d)",
    ):
        dataset(**{part: np.asarray(samples)})


@pytest.mark.parametrize("part", ["X_train", "X_test", "X_out_of_scope"])
@pytest.mark.parametrize(
    "values",
    [[np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [np.nan, np.inf]],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rejects_nan_and_infinity(part, values, dtype):
    samples = X.astype(dtype)
    samples.flat[: len(values)] = values
    with pytest.raises(ValueError, match=f"mine: {part} must hold finite numbers"):
        dataset(**{part: samples})


def test_accepts_large_numbers():
    dataset(X_train=np.full((8, 3), 1e308))
    dataset(X_train=np.full((8, 3), 60_000, dtype=np.float16))


@pytest.mark.parametrize(
    "samples", [X.astype(str), X * 1j, X.astype(object), X.astype("M8[s]")], ids=lambda X: X.dtype
)
def test_rejects_non_numeric_samples(samples):
    with pytest.raises(ValueError, match="mine: X_train must hold finite numbers"):
        dataset(X_train=samples)


@pytest.mark.parametrize("part", ["y_train", "y_test"])
@pytest.mark.parametrize(
    "labels",
    [Y[:2], np.append(Y, 0), Y[:, np.newaxis], np.int64(0), Y[:0]],
    ids=["few", "many", "a column", "a number", "none"],
)
def test_rejects_invalid_shape_of_labels(part, labels):
    with pytest.raises(ValueError, match=f"mine: {part} is int64 of shape .* expected one integer"):
        dataset(**{part: np.asarray(labels)})


@pytest.mark.parametrize("dtype", ["f8", "?", "U1", "O", "M8[s]"])
def test_rejects_labels_that_are_not_integers(dtype):
    with pytest.raises(ValueError, match=r"mine: y_train is .* expected one integer"):
        dataset(y_train=Y.astype(dtype))


@pytest.mark.parametrize("part", ["y_train", "y_test"])
@pytest.mark.parametrize("label", [-1, 3, 2**40])
def test_rejects_labels_out_of_range(part, label):
    labels = Y[:3].copy() if part == "y_test" else Y.copy()
    labels[0] = label
    with pytest.raises(ValueError, match=f"mine: {part} holds classes from .* expected 0 to 2"):
        dataset(**{part: labels})


def test_rejects_class_without_training_samples():
    with pytest.raises(ValueError, match="mine: the class 'c' has no training samples"):
        dataset(y_train=Y % 2, y_test=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="mine: the class 'd' has no training samples"):
        dataset(class_names=("a", "b", "c", "d"))


def test_accepts_class_without_test_samples():
    assert dataset(y_test=np.zeros(3, dtype=int)).n_classes == 3


@given(st.integers(-5, 9))
def test_range_of_n_tasks(n_tasks):
    if 1 <= n_tasks <= 3:
        assert dataset(n_tasks=n_tasks).n_tasks == n_tasks
    else:
        with pytest.raises(ValueError, match=f"n_tasks must be from 1 to 3 .*{n_tasks}"):
            dataset(n_tasks=n_tasks)


@pytest.mark.parametrize("n_tasks", [2.5, 2.0, "2", True, np.nan, [2]])
def test_rejects_invalid_n_tasks(n_tasks):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        dataset(n_tasks=n_tasks)
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        replace(dataset(), n_tasks=n_tasks)


def test_accepts_numpy_n_tasks():
    assert "in 2 tasks" in repr(dataset(n_tasks=np.int64(2)))


def test_rejects_wrong_image_shape():
    assert dataset(image_shape=(1, 3)).image_shape == (1, 3)
    with pytest.raises(ValueError, match=r"mine: .*image"):
        dataset(image_shape=(2, 2))
