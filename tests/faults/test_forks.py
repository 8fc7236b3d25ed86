"""A process that is forked at any moment has a whole model, which it can use."""

import multiprocessing
import os
import sys
import threading
import time

import numpy as np
import pytest

import kenyon
from kenyon.pipeline import Pipeline
from tests.faults.cases import KINDS, in_a_thread, new_model, state
from tests.faults.injector import interrupt
from tests.faults.tally import count
from tests.forking import in_child

N_FORKS = int(os.environ.get("KENYON_FORKS", "15"))
"""Forks for each kind of model; `make faults` sets more."""
X = np.random.default_rng(1).random((4000, 6))
TEXTS = [f"{'abcde'[i % 5]}{i} {i % 7}" for i in range(4000)]
Y = np.array([*"abcde"] * 800)

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def samples(model):
    return TEXTS if isinstance(model, Pipeline) else X


class Learning:
    """A model that another thread teaches its samples, one by one and in batches."""

    def __init__(self, model):
        self._samples = samples(model)
        self.model = model.fit(self._samples[:10], Y[:10])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        first = 10
        while not self._stop.is_set():
            size = 1 if first % 3 else 40
            rows = slice(first, first + size)
            if size == 1:
                self.model.learn_one(self._samples[first], Y[first])
            else:
                self.model.partial_fit(self._samples[rows], Y[rows])
            self.model.predict(self._samples[:5])
            first += size
            if first + 40 > len(self._samples):
                self._stop.wait()

    def __enter__(self):
        self._thread.start()
        return self.model

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def use(model, kind, path):
    """Assert that the model has learned whole samples, then use it in every way."""
    n, rows = model.n_samples_seen_, samples(model)
    if "window" not in kind:
        # The thread learns rows in order, so their number tells which.
        assert state(model) == state(new_model(kind).fit(rows[:n], Y[:n]))
    model.predict_proba(rows[:3])
    model.learn_one(rows[0], "a").partial_fit(rows[:3], ["a", "b", "new"])
    model.save(path)
    assert state(kenyon.load(path)) == state(model)


@pytest.mark.parametrize("kind", KINDS)
def test_forks_while_a_thread_learns(kind, tmp_path):
    with Learning(new_model(kind)) as model:
        for i in range(N_FORKS):
            time.sleep(0.0007 * (i % 7))
            in_child(lambda: use(model, kind, tmp_path / "model.kenyon"))
    count("fork while a thread learns or solves", N_FORKS)
    # The parent goes on as if nothing had happened.
    rows = samples(model)
    assert model.learn_one(rows[0], "a").predict(rows[:1]).shape == (1,)


def test_forks_while_a_solution_is_computed(tmp_path):
    """Another thread holds the lock of the cache for most of the time."""
    # With two threads BLAS has locks of its own.
    model = kenyon.FlyClassifier(readout="ridge", n_cells=900, n_threads=2).fit(X[:300], Y[:300])
    stop = threading.Event()

    def solve():
        while not stop.is_set():
            model.refresh().predict(X[:1])

    thread = threading.Thread(target=solve)
    thread.start()
    try:
        for i in range(N_FORKS):
            time.sleep(0.003 * (i % 5))
            in_child(lambda: model.learn_one(X[0], "new").predict(X[:1]))
    finally:
        stop.set()
        thread.join()
    count("fork while a thread learns or solves", N_FORKS)


def test_interrupts_while_a_fork_waits():
    """A signal handler raises while os.fork waits for changes of other threads."""
    # In a process of its own: an interrupt may leave locks of the standard library locked, whose
    # handlers of forks are written in Python.
    in_child(_interrupt_forks, 120)


def _interrupt_forks():
    sys.unraisablehook = lambda _: None
    models = [new_model("fly", n_cells=9000).fit(X[:10], Y[:10]) for _ in range(3)]
    stop, n_interrupts = threading.Event(), 0

    def learn():
        while not stop.is_set():
            for model in models:
                model.partial_fit(X, Y)

    def use_all():
        for model in models:
            model.learn_one(X[0], "a").predict(X[:1])

    threads = [threading.Thread(target=learn) for _ in range(2)]
    for thread in threads:
        thread.start()
    random = np.random.default_rng(0)
    for _ in range(N_FORKS):
        n_interrupts += interrupt(lambda: in_child(use_all), float(random.uniform(1e-5, 5e-3)))
        in_a_thread(use_all)
    stop.set()
    for thread in threads:
        thread.join()
    assert n_interrupts
    in_child(use_all)


def _predict(model):
    return model.learn_one(X[0], "a").predict(X[:20]).tolist()


def test_multiprocessing_with_fork():
    with Learning(new_model("fly")) as model:
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            answers = pool.map(_predict, [model] * 4, chunksize=1)
    assert all(len(answer) == 20 for answer in answers)


def test_a_child_keeps_cached_values():
    """With no other thread at work a child need not solve again."""
    model = new_model("ridge").fit(X[:50], Y[:50])
    model.predict(X[:1])
    size = model.cache_nbytes

    def check():
        assert model.cache_nbytes == size > 0

    in_child(check)


def test_forks_inside_a_fork():
    model = new_model("fly").fit(X[:50], Y[:50])

    def fork_again():
        model.learn_one(X[0], "a")
        in_child(lambda: model.learn_one(X[1], "b"))
        assert model.n_samples_seen_ == 51

    in_child(fork_again)
    assert model.n_samples_seen_ == 50
