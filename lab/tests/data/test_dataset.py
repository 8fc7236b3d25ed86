"""A dataset is what it says, or is refused with a sentence."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon_lab.data import Dataset

X = np.arange(24.0).reshape(8, 3)
Y = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def dataset(**changes):
    arguments = {
        "name": "mine",
        "X_train": X,
        "y_train": Y,
        "X_test": X[:3],
        "y_test": Y[:3],
        "class_names": ("a", "b", "c"),
        "n_tasks": 2,
    }
    return Dataset(**arguments | changes)


def test_sizes_and_how_it_is_shown():
    mine = dataset()
    assert (mine.n_features, mine.n_classes) == (3, 3)
    assert repr(mine) == "Dataset('mine': 8 + 3 samples, 3 features, 3 classes in 2 tasks)"
    assert mine.samples().keys() == {"train", "test"}
    scoped = dataset(X_out_of_scope=X[:1])
    assert scoped.samples().keys() == {"train", "test", "out_of_scope"}
    assert scoped.samples()["out_of_scope"] is scoped.X_out_of_scope


def test_it_does_not_change():
    with pytest.raises(FrozenInstanceError):
        dataset().n_tasks = 3


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i8", "u8", "?"])
def test_all_kinds_of_numbers_are_samples(dtype):
    assert dataset(X_train=X.astype(dtype)).X_train.dtype == dtype


@pytest.mark.parametrize("part", ["X_train", "X_test", "X_out_of_scope"])
@pytest.mark.parametrize(
    "samples",
    [X[:0], X[:, :0], X[0], X[np.newaxis], np.float64(1), X[:, :2]],
    ids=["no rows", "no columns", "a vector", "a cube", "a number", "narrow"],
)
def test_samples_of_another_shape_are_refused(part, samples):
    with pytest.raises(
        ValueError, match=r"mine: X_\w+ has (the shape .* expected one row|\d features)"
    ):
        dataset(**{part: np.asarray(samples)})


@pytest.mark.parametrize("part", ["X_train", "X_test", "X_out_of_scope"])
@pytest.mark.parametrize(
    "values",
    [[np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [np.nan, np.inf]],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_samples_that_are_not_finite_are_refused(part, values, dtype):
    samples = X.astype(dtype)
    samples.flat[: len(values)] = values
    with pytest.raises(ValueError, match=f"mine: {part} must hold finite numbers only"):
        dataset(**{part: samples})


def test_large_numbers_are_finite_though_their_sum_is_not():
    dataset(X_train=np.full((8, 3), 1e308))
    dataset(X_train=np.full((8, 3), 60_000, dtype=np.float16))


@pytest.mark.parametrize(
    "samples", [X.astype(str), X * 1j, X.astype(object), X.astype("M8[s]")], ids=lambda X: X.dtype
)
def test_samples_that_are_no_numbers_are_refused(samples):
    with pytest.raises(ValueError, match="mine: X_train must hold finite numbers only"):
        dataset(X_train=samples)


@pytest.mark.parametrize("part", ["y_train", "y_test"])
@pytest.mark.parametrize(
    "labels",
    [Y[:2], np.append(Y, 0), Y[:, np.newaxis], np.int64(0), Y[:0]],
    ids=["few", "many", "a column", "a number", "none"],
)
def test_labels_of_another_shape_are_refused(part, labels):
    with pytest.raises(
        ValueError, match=f"mine: {part} is int64 of the shape .* expected one whole"
    ):
        dataset(**{part: np.asarray(labels)})


@pytest.mark.parametrize("dtype", ["f8", "?", "U1", "O", "M8[s]"])
def test_labels_that_are_no_positions_are_refused(dtype):
    with pytest.raises(ValueError, match=r"mine: y_train is .* expected one whole number"):
        dataset(y_train=Y.astype(dtype))


@pytest.mark.parametrize("part", ["y_train", "y_test"])
@pytest.mark.parametrize("label", [-1, 3, 2**40])
def test_labels_without_a_name_are_refused(part, label):
    labels = Y[:3].copy() if part == "y_test" else Y.copy()
    labels[0] = label
    with pytest.raises(ValueError, match=f"mine: {part} holds classes from .* expected 0 to 2"):
        dataset(**{part: labels})


def test_a_class_without_samples_to_learn_from_is_named():
    with pytest.raises(ValueError, match="mine: the class 'c' has no samples to learn from"):
        dataset(y_train=Y % 2, y_test=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="mine: the class 'd' has no samples to learn from"):
        dataset(class_names=("a", "b", "c", "d"))


def test_a_class_may_have_no_samples_to_test_on():
    assert dataset(y_test=np.zeros(3, dtype=int)).n_classes == 3


@given(st.integers(-5, 9))
def test_there_are_as_many_tasks_as_classes_at_most(n_tasks):
    if 1 <= n_tasks <= 3:
        assert dataset(n_tasks=n_tasks).n_tasks == n_tasks
    else:
        with pytest.raises(ValueError, match=f"n_tasks must be from 1 to 3 .*{n_tasks}"):
            dataset(n_tasks=n_tasks)


@pytest.mark.parametrize("n_tasks", [2.5, 2.0, "2", True, np.nan, [2]])
def test_tasks_are_counted_in_whole_numbers(n_tasks):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        dataset(n_tasks=n_tasks)
    with pytest.raises((TypeError, ValueError), match="n_tasks must be"):
        replace(dataset(), n_tasks=n_tasks)


def test_a_numpy_number_of_tasks_will_do():
    assert "in 2 tasks" in repr(dataset(n_tasks=np.int64(2)))


def test_an_image_shape_that_rows_do_not_have_is_refused():
    assert dataset(image_shape=(1, 3)).image_shape == (1, 3)
    with pytest.raises(ValueError, match=r"mine: .*image"):
        dataset(image_shape=(2, 2))
