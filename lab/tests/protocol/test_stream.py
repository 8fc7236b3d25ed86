"""A dataset as tasks: which samples come when, and under which numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kenyon_lab.methods import ORDERS
from kenyon_lab.protocol.stream import Stream
from lab.tests.protocol.samples import dataset

SMALL = dataset()
streams = st.builds(
    Stream,
    st.integers(1, 7).flatmap(
        lambda n: st.builds(dataset, n_classes=st.just(n), n_tasks=st.integers(1, n))
    ),
    order=st.sampled_from(ORDERS),
    seed=st.integers(0, 2**32),
    permuted=st.booleans(),
)


def everything(samples, n_tasks):
    """What came in all tasks together."""
    parts = [samples(task) for task in range(n_tasks)]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


@given(streams)
def test_every_sample_comes_once_in_the_task_of_its_class(stream):
    data = stream.dataset
    for samples, X, y in (
        (stream.taught, data.X_train, data.y_train),
        (stream.tested, data.X_test, data.y_test),
    ):
        X_came, y_came = everything(samples, len(stream))
        # The first feature is the sample's number, the second its class in the dataset.
        assert_array_equal(X_came[np.argsort(X_came[:, 0])], X)
        renumbered = dict(zip(X_came[:, 1].tolist(), y_came.tolist(), strict=True))
        assert sorted(renumbered) == sorted(renumbered.values()) == sorted(set(y))
        assert_array_equal([renumbered[old] for old in X_came[:, 1]], y_came)


@given(streams)
def test_tasks_have_the_sizes_of_the_datasets_and_classes_are_numbered_as_they_come(stream):
    assert len(stream) == stream.dataset.n_tasks
    for task, classes in enumerate(stream.dataset.tasks()):
        expected = set(classes.tolist())
        assert set(range(stream.starts[task], stream.starts[task + 1])) == expected
        assert set(stream.taught(task)[1].tolist()) == expected
        assert set(stream.tested(task)[1].tolist()) == expected


@given(streams)
def test_training_and_test_samples_are_renumbered_alike(stream):
    X_taught, y_taught = everything(stream.taught, len(stream))
    X_tested, y_tested = everything(stream.tested, len(stream))
    renumbered = dict(zip(X_taught[:, 1], y_taught, strict=True))
    assert_array_equal([renumbered[old] for old in X_tested[:, 1]], y_tested)


@pytest.mark.parametrize("seed", range(3))
def test_unless_permuted_classes_keep_their_own_order(seed):
    for task, classes in enumerate(SMALL.tasks()):
        X, y = Stream(SMALL, seed=seed).taught(task)
        assert_array_equal(X[:, 1], y)
        assert set(y) == set(classes)


def test_the_seed_draws_the_order_of_classes():
    many = dataset(n_classes=20, n_tasks=5)

    def order_of_classes(**parameters):
        X, y = everything(Stream(many, permuted=True, **parameters).taught, 5)
        return tuple(int(X[y == new, 1][0]) for new in range(20))

    drawn = {order_of_classes(seed=seed) for seed in range(10)}
    assert len(drawn) == 10
    assert all(sorted(order) == list(range(20)) for order in drawn)
    assert order_of_classes(seed=3) == order_of_classes(seed=3, order="classes")


def test_class_by_class_as_they_lie_in_the_dataset():
    for task, classes in enumerate(SMALL.tasks()):
        X, y = Stream(SMALL, "classes", seed=task).taught(task)
        of_class = [np.flatnonzero(SMALL.y_train == c) for c in classes]
        assert_array_equal(X[:, 0], np.concatenate(of_class))
        assert_array_equal(y, np.repeat(classes, 6))


def test_shuffled_by_the_seed():
    wide = dataset(n_classes=4, n_tasks=2, n_train=50)
    ids = {
        (seed, task): Stream(wide, seed=seed).taught(task)[0][:, 0]
        for seed in range(3)
        for task in range(2)
    }
    again = Stream(wide, seed=1).taught(1)[0][:, 0]
    assert_array_equal(ids[1, 1], again)
    assert len({order.tobytes() for order in ids.values()}) == len(ids)
    for task in range(2):
        assert_array_equal(np.sort(ids[0, task]), np.sort(ids[1, task]))
    ranks = [np.argsort(np.argsort(ids[0, task])) for task in range(2)]
    assert not np.array_equal(*ranks), "tasks are not shuffled by the same permutation"
    labels = Stream(wide).taught(0)[1]
    assert 0.3 < np.mean(labels[1:] != labels[:-1]) < 0.7, "classes are mixed"


def test_what_is_tested_does_not_depend_on_order_or_seed():
    for task in range(3):
        X, y = Stream(SMALL).tested(task)
        for stream in (Stream(SMALL, "classes"), Stream(SMALL, seed=9)):
            assert_array_equal(stream.tested(task)[0], X)
            assert_array_equal(stream.tested(task)[1], y)
        assert_array_equal(X[:, 0], np.sort(X[:, 0]))


def test_a_task_may_have_nothing_to_be_tested_on():
    X, y = Stream(dataset(untested=(2, 3))).tested(1)
    assert (X.shape, y.shape) == ((0, 2), (0,))


def test_the_dataset_is_not_shared():
    X, y = Stream(SMALL).taught(0)
    before = SMALL.X_train.copy(), SMALL.y_train.copy()
    X[:], y[:] = -1, -1
    assert_array_equal(SMALL.X_train, before[0])
    assert_array_equal(SMALL.y_train, before[1])


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order must be one of 'shuffled', 'classes', but is 'x'"):
        Stream(SMALL, "x")
