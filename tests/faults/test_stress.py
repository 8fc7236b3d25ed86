"""Readers, writers, savers, forks and interrupts together, on one model."""

import os
import threading
import time
from copy import deepcopy

import numpy as np
import pytest

import kenyon
from tests.faults.cases import PIPELINES, new_model, state
from tests.faults.injector import interrupt
from tests.faults.tally import count
from tests.forking import in_child

SECONDS = float(os.environ.get("KENYON_STRESS_SECONDS", "4"))
"""The duration for each kind of model; `make faults` sets more."""
N_WRITERS = 3
X = np.random.default_rng(2).random((N_WRITERS + 1, 2000, 6))
"""The samples of each writer, which all have one label: its number."""
TEXTS = np.array([[f"{w} says {i}" for i in range(2000)] for w in range(N_WRITERS + 1)], object)
"""Those of pipelines."""

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def samples(kind):
    return TEXTS if kind in PIPELINES else X


def assert_whole(model, kind):
    """Assert that a model has learned the first samples of each writer, and nothing else.

    Sums do not depend on the order of samples, so the numbers of samples tell the whole state.
    """
    model, rows_of = deepcopy(model), samples(kind)
    counts = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    rows = np.concatenate([rows_of[label, :n] for label, n in counts.items()])
    labels = np.repeat([*counts], [*counts.values()])
    found, expected = state(model), state(new_model(kind).fit(rows, labels))
    for name in expected:
        # A calibration sample does not get back codes that it dropped before others left.
        if not name.startswith("calibration"):
            assert found[name] == expected[name], name


class Stress:
    """Threads that use one model until the time is over, and the first of their errors."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, folder
        self.samples = samples(kind)
        self.model = new_model(kind).fit(self.samples[:, 0], range(N_WRITERS + 1))
        self.error = None
        self._end = time.monotonic() + SECONDS

    def write(self, label, random):
        """Learn, unlearn and learn again the samples of one writer."""
        n = int(self.model.class_count_[label])
        size = int(random.choice([1, 1, 1, 5, 60, 300]))
        if n + size > len(self.samples[label]):
            self.model.unlearn(self.samples[label, 1:n], [label] * (n - 1))
        elif n > 10 and random.random() < 0.2:
            self.model.unlearn(self.samples[label, n - 5 : n], [label] * 5)
        elif size == 1:
            self.model.learn_one(self.samples[label, n], label)
        else:
            self.model.partial_fit(self.samples[label, n : n + size], [label] * size)

    def read(self, _, random):
        """Compare a prediction with the same one by a copy of the model."""
        assert self.model.predict(self.samples[0, :5]).shape == (5,)
        probabilities = self.model.predict_proba(self.samples[1, :5])
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert_whole(self.model, self.kind)

    def save(self, name, random):
        """Save the model, and load it while other threads save it too."""
        path = self.folder / f"model{name}.kenyon"
        self.model.save(path)
        assert_whole(kenyon.load(path), self.kind)

    def repeat(self, action, argument):
        random = np.random.default_rng(argument)
        try:
            while time.monotonic() < self._end and self.error is None:
                action(argument, random)
        except BaseException as error:
            self.error = error

    def use_in_child(self):
        """Learn in a forked process, which does not change the model here."""
        assert_whole(self.model, self.kind)
        self.model.learn_one(self.samples[0, 0], 0).predict_proba(self.samples[0, :5])

    def run(self):
        """Let threads work while this one forks, and is interrupted while it writes."""
        actions = [(self.write, label) for label in range(1, N_WRITERS + 1)]
        actions += [(self.read, 0), (self.read, 1), (self.save, 0), (self.save, 0)]
        threads = [threading.Thread(target=self.repeat, args=action) for action in actions]
        for thread in threads:
            thread.start()
        random, n_forks, n_interrupts = np.random.default_rng(9), 0, 0
        # On a slow machine one round may last until the end.
        while self.error is None and (time.monotonic() < self._end or not n_interrupts):
            in_child(self.use_in_child)
            n_forks += 1
            n_interrupts += interrupt(
                lambda: [self.write(0, random) for _ in range(20)],
                float(random.uniform(1e-4, 5e-3)),
            )
        for thread in threads:
            thread.join()
        return n_forks, n_interrupts


@pytest.mark.parametrize("kind", ["fly", "bayes", "ridge", "pipeline texts"])
def test_everything_at_once(kind, tmp_path):
    stress = Stress(kind, tmp_path)
    n_forks, n_interrupts = stress.run()
    if stress.error is not None:
        raise stress.error
    count("fork during the stress test", n_forks)
    count("interrupt during the stress test", n_interrupts)
    count("second of the stress test", round(SECONDS))
    assert n_forks
    assert n_interrupts
    assert_whole(stress.model, kind)
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]
