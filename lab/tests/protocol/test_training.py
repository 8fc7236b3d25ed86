"""What the protocol shows a method, and what it makes of its answers."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data import load
from kenyon_lab.methods.fly import Fly
from kenyon_lab.methods.method import Method
from kenyon_lab.methods.ncm import NCM
from kenyon_lab.protocol import training
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.training import train
from lab.tests.protocol.samples import dataset


@dataclass(kw_only=True, eq=False)
class Witness(Method):
    """Writes down all that it is told, and answers with the class it was shown last."""

    told: list = field(default_factory=list)

    def _start(self):
        self.told.append(("begin", self.n_features, self.n_classes))

    def _learn(self, X, y):
        self.told.append(("learn", X.copy(), y.copy()))
        self.last = y[-1]
        self.n_shown += 2 * len(y)

    def _predict(self, X):
        self.told.append(("predict", X.copy()))
        return np.full(len(X), self.last)

    @property
    def n_parameters(self):
        return np.int64(17)

    @property
    def n_stored(self):
        return 3


def watched(stream, **options):
    """An result, and the methods that were made for it."""
    made = []

    def make():
        made.append(Witness())
        return made[-1]

    return train(make, stream, **options), made


@pytest.fixture(params=["shuffled", "classes"])
def stream(request):
    return Stream(dataset(), request.param, seed=3, permuted=True)


def test_one_task_after_another_each_in_its_order_and_tested_on_all_so_far(stream):
    _, (witness,) = watched(stream, single_task=False)
    told = iter(witness.told)
    assert next(told) == ("begin", 2, 5)
    for task in range(3):
        what, X, y = next(told)
        assert what == "learn"
        assert_array_equal(X, stream.taught(task)[0])
        assert_array_equal(y, stream.taught(task)[1])
        assert y.max() < stream.starts[task + 1], "of later classes nothing is known"
        what, X = next(told)
        assert what == "predict"
        assert_array_equal(X, np.concatenate([stream.tested(t)[0] for t in range(task + 1)]))
    assert list(told) == []


def test_single_tasks_train_new_models(stream):
    result, made = watched(stream)
    assert len(made) == 1 + 3
    for task, witness in enumerate(made[1:]):
        begin, learn, predict = witness.told
        assert begin == ("begin", 2, 5)
        assert_array_equal(learn[1], stream.taught(task)[0])
        assert_array_equal(learn[2], stream.taught(task)[1])
        assert_array_equal(predict[1], stream.tested(task)[0])
    sizes = np.diff(stream.starts)
    assert_array_equal(
        result.single_task, 1 / sizes, "who names one class of a task is right so often"
    )


def test_the_matrix_is_the_accuracy_on_each_task_after_each():
    stream = Stream(dataset(), "classes")
    result, _ = watched(stream)
    # It only ever names the last class of the task it was taught.
    nan = np.nan
    assert_array_equal(result.R, [[1 / 2, nan, nan], [0, 1 / 2, nan], [0, 0, 1]])
    assert_array_equal(result.n_tested, [6, 6, 3])


def test_the_matrix_of_a_real_method_against_a_loop():
    stream = Stream(load("digits"), seed=1, permuted=True)
    result = train(NCM, stream)
    method = NCM()
    method.begin(64, 10)
    for i in range(5):
        method.learn_task(*stream.taught(i))
        for j in range(i + 1):
            X, y = stream.tested(j)
            assert result.R[i, j] == np.mean(method.predict(X) == y)
        fresh = NCM()
        fresh.begin(64, 10)
        X, y = stream.taught(i)
        fresh.learn_task(X, y)
        X, y = stream.tested(i)
        assert result.single_task[i] == np.mean(fresh.predict(X) == y)
    assert np.isnan(result.R[np.triu_indices(5, 1)]).all()
    assert result.R[4].mean() > 0.8, "there was something to see"


def test_a_task_without_test_samples_has_no_accuracy():
    result, made = watched(Stream(dataset(untested=(0, 1)), "classes"))
    nan = np.nan
    assert_array_equal(result.R, [[nan, nan, nan], [nan, 1 / 2, nan], [nan, 0, 1]])
    assert_array_equal(result.single_task, [nan, 1 / 2, 1])
    assert_array_equal(result.n_tested, [0, 6, 3])
    assert all(len(told[1]) for told in made[0].told if told[0] == "predict")


def test_without_single_tasks():
    result, made = watched(Stream(dataset()), single_task=False)
    assert result.single_task is None
    assert len(made) == 1


def test_on_task_receives_each_task():
    news = []
    watched(Stream(dataset(), "classes"), on_task=lambda *told: news.append(told))
    assert news == [(0, 3 / 6), (1, 3 / 12), (2, 3 / 15)]


def test_what_it_took():
    result, _ = watched(Stream(dataset()))
    assert (result.n_parameters, result.n_exemplars, result.n_shown) == (17, 3, 2 * 30)
    counts = (result.n_parameters, result.n_exemplars, result.n_shown, result.peak_rss)
    assert {type(count) for count in counts} == {int}, "so that they can be written as JSON"


def test_learning_and_predicting_are_timed_apart_and_making_is_not(monkeypatch):
    now = 0.0

    def pass_time(seconds):
        nonlocal now
        now += seconds

    @dataclass(kw_only=True, eq=False)
    class Slow(Witness):
        def __post_init__(self):
            # As the first import of PyTorch takes.
            pass_time(1000)

        def _start(self):
            pass_time(100)

        def _learn(self, X, y):
            pass_time(10 + y.min())
            super()._learn(X, y)

        def _predict(self, X):
            pass_time(len(X) / 8)
            return super()._predict(X)

    monkeypatch.setattr(training, "perf_counter", lambda: now)
    result = train(Slow, Stream(dataset()))
    assert_array_equal(result.learn_seconds, [110, 12, 14])
    assert_array_equal(result.predict_seconds, [6 / 8, 12 / 8, 15 / 8])


def test_time_passes():
    result = train(NCM, Stream(dataset()))
    for seconds in (result.learn_seconds, result.predict_seconds):
        assert seconds.shape == (3,)
        assert (seconds > 0).all()


def test_memory_is_that_of_learning():
    @dataclass(kw_only=True, eq=False)
    class Large(Witness):
        def __post_init__(self):
            self.at_hand = np.ones(5_000_000)

        def _learn(self, X, y):
            self.taken = None
            self.taken = np.ones(10_000_000)
            super()._learn(X, y)

    assert 75e6 < train(Large, Stream(dataset()), single_task=False).peak_rss < 110e6
    assert train(Witness, Stream(dataset())).peak_rss < 20e6


def test_the_same_twice():
    stream = Stream(load("digits"), seed=2)
    first, second = (train(lambda: Fly(seed=2), stream, single_task=False) for _ in range(2))
    assert_array_equal(first.R, second.R)


def test_what_a_method_raises_comes_through():
    @dataclass(kw_only=True, eq=False)
    class Fails(Witness):
        def _learn(self, X, y):
            raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        train(Fails, Stream(dataset()))
