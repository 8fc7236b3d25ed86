"""GEM with several numbers of exemplars: the numbers are those of single runs."""

import numpy as np
import pytest

from kenyon_lab.data import load
from kenyon_lab.experiments import gem_memory
from kenyon_lab.methods.gem import GEM
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.stream import Stream
from kenyon_lab.protocol.training import train

SMALL = {"n_hidden": 32, "learning_rate": 0.05}


@pytest.fixture
def found(monkeypatch):
    monkeypatch.setattr(gem_memory, "N_EXEMPLARS", (2, 40))
    return gem_memory.sweep(Problem("digits", n_tasks=4), SMALL, seed=3)


def test_numbers_are_those_of_single_runs(found):
    assert found["n_exemplars"] == [2, 40]
    stream = Stream(load("digits", n_tasks=4), seed=3)
    n_tested = [len(stream.tested(task)[1]) for task in range(4)]
    for i, n in enumerate((2, 40)):
        R = train(lambda n=n: GEM(**SMALL, n_exemplars=n, seed=3), stream, single_task=False).R
        half, full = (np.average(R[t, : t + 1], weights=n_tested[: t + 1]) for t in (1, 3))
        assert found["accuracy_half"][i] == pytest.approx(half, abs=1e-6)
        assert found["accuracy"][i] == pytest.approx(full, abs=1e-6)
        assert found["memory_loss"][i] == pytest.approx(np.mean(np.diag(R) - R[-1]), abs=1e-6)


def test_counts_the_classes_of_half_of_the_tasks(found):
    assert found["n_classes"] == [6, 10]


def test_measures_the_papers_gem_on_mnist20(monkeypatch):
    monkeypatch.setattr(gem_memory, "sweep", lambda *given: given)
    problem, parameters, seed = gem_memory.measure(3)
    assert (problem.name, seed) == ("mnist20-seed3", 3)
    assert parameters["learning_rate"] == 0.001
    assert parameters["n_hidden"] == 3200
