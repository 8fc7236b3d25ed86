"""Grid search: its trials, its choice, and that it does not use the test samples."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.fingerprints import compute_fingerprint
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.search import Search, tuned_parameters
from kenyon_lab.protocol.store import Store
from lab.tests.protocol.samples import clusters, record

GRID = METHODS["slda"].grid["shrinkage"]


@pytest.fixture
def write(tmp_path):
    def write(name="mine.npz", **arrays):
        np.savez(tmp_path / name, **{**clusters(), **arrays})
        return Problem(str(tmp_path / name))

    return write


@pytest.fixture
def plan(write):
    return Plan(write(), seeds=range(2))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


# What is tried


def test_every_combination_is_tried_once(plan, monkeypatch):
    grid = {"n_active": (5, 10), "learning_rate": (0.1, "auto", 0.2)}
    monkeypatch.setitem(METHODS, "fly", replace(METHODS["fly"], grid=grid))
    search = Search(plan, "fly")
    assert search.points == [
        {"n_active": n, "learning_rate": rate} for n, rate in product(*grid.values())
    ]
    tried = [
        (job.parameters["n_active"], job.parameters["learning_rate"], job.seed)
        for job in search.jobs()
    ]
    assert tried == list(product(*grid.values(), range(2)))


def test_jobs_use_the_validation_part(plan):
    inner = replace(plan.problem, part="validation")
    for job in Search(replace(plan, permuted=True, order="classes", n_threads=2), "slda").jobs():
        assert job.problem == inner
        assert job.fingerprint == compute_fingerprint(inner.load()) != plan.fingerprint
        assert job.single_task is False
        assert (job.permuted, job.order, job.n_threads) == (True, "classes", 2)


def test_other_parameters_are_defaults(plan, monkeypatch):
    paper = {"n_cells": 450, "learning_rate": 0.5}
    monkeypatch.setitem(METHODS["fly"].paper, plan.problem.name, paper)
    jobs = Search(plan, "fly").jobs()
    assert {job.parameters["n_cells"] for job in jobs} == {450}
    rates = [job.parameters["learning_rate"] for job in jobs[::2]]
    assert rates == list(METHODS["fly"].grid["learning_rate"])


def test_given_parameters_are_fixed_and_recorded(plan, store):
    search = Search(plan, "fly-cl", {"n_cells": 42})
    assert {job.parameters["n_cells"] for job in search.jobs()} == {42}
    records = [record(0.5, parameters=point) for point in search.points]
    store.put(search.record(search.trials(records)))
    assert store.find(search).fixed == {"n_cells": 42, "share_inputs": 0.39}
    assert store.find(Search(plan, "fly-cl")) is None
    assert tuned_parameters(store, plan, "fly-cl") == search.points[0]


def test_rejects_a_given_parameter_that_is_searched(plan):
    with pytest.raises(ValueError, match="learning_rate of fly is searched, but was given"):
        Search(plan, "fly", {"learning_rate": 0.1})


def test_nothing_to_tune(plan, store):
    with pytest.raises(ValueError, match="ncm has no parameters to tune"):
        Search(plan, "ncm")
    assert tuned_parameters(store, plan, "ncm") == {}


# What is chosen


def results(accuracies):
    """Records of the grid's points, one for each of their accuracies."""
    return [
        record(accuracy, seed=seed, parameters={"shrinkage": value})
        for value, found in zip(GRID, accuracies, strict=True)
        for seed, accuracy in enumerate(found)
    ]


def test_the_best_comes_first(plan):
    accuracies = [(0.5,), (0.6,), (0.9,), (0.7,), (0.8,), (0.1,)]
    trials = Search(plan, "slda").trials(results(accuracies))
    assert [trial.parameters["shrinkage"] for trial in trials] == [
        GRID[i] for i in (2, 4, 3, 1, 0, 5)
    ]
    assert [trial.accuracy.mean for trial in trials] == [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]


def test_the_mean_over_seeds_decides(plan):
    accuracies = [(0.9, 0.1), (0.6, 0.6), (0.5, 0.5), (0.0, 1.0), (0.7, 0.4), (0.0, 0.0)]
    best = Search(plan, "slda").trials(results(accuracies))[0]
    assert best.parameters == {"shrinkage": GRID[1]}
    assert best.accuracy.mean == pytest.approx(0.6)


def test_ties_keep_the_order_of_the_grid(plan):
    accuracies = [(0.2, 0.4), (0.5, 0.7), (0.7, 0.5), (0.6, 0.6), (0.1, 0.1), (0.5, 0.7)]
    for records in (results(accuracies), results(accuracies)[::-1]):
        trials = Search(plan, "slda").trials(iter(records))
        assert [trial.parameters["shrinkage"] for trial in trials] == [
            GRID[i] for i in (1, 2, 3, 5, 0, 4)
        ]


def test_points_without_records_are_left_out(plan):
    accuracies = [(), (0.5,), (), (0.7,), (), ()]
    trials = Search(plan, "slda").trials(results(accuracies))
    assert [trial.parameters["shrinkage"] for trial in trials] == [GRID[3], GRID[1]]
    assert Search(plan, "slda").trials([]) == []


def chosen(problem):
    """What a search on a problem tries and finds, run here."""
    search = Search(Plan(problem), "fly")
    jobs = search.jobs()
    trials = search.trials(job.run() for job in jobs)
    return [job.digest for job in jobs], [(t.parameters, t.accuracy.mean) for t in trials]


def test_does_not_use_the_test_samples(write):
    noise = np.random.default_rng(1)
    real = write()
    nonsense = write("other.npz", y_test=noise.permutation(clusters()["y_test"]))
    other = write("third.npz", X_test=noise.random((5, 8)), y_test=np.zeros(5, dtype=int))
    assert Plan(real).fingerprint != Plan(nonsense).fingerprint
    expected = chosen(real)
    assert chosen(nonsense) == chosen(other) == expected
    assert len({accuracy for _, accuracy in expected[1]}) > 1, "there was something to choose"


def test_uses_the_training_samples(write):
    y_train = np.random.default_rng(1).permutation(clusters()["y_train"])
    assert chosen(write()) != chosen(write("other.npz", y_train=y_train))


# What is kept


def keep(store, plan, method="slda"):
    search = Search(plan, method)
    trials = search.trials(results([(0.5,), (0.6,), (0.9,), (0.7,), (0.8,), (0.1,)]))
    return store.put(search.record(trials))


def test_a_choice_is_stored_with_all_trials(store, plan):
    path = keep(store, plan)
    assert path.is_relative_to(store.folder / "searches")
    content = json.loads(path.read_text())
    assert content["dataset"] == plan.problem.name
    assert (content["method"], content["order"], content["seeds"]) == ("slda", "shuffled", [0, 1])
    assert content["parameters"] == {"shrinkage": GRID[2]}
    assert content["grid"] == {"shrinkage": list(GRID)}
    assert content["trials"][0] == {"shrinkage": GRID[2], "accuracy": 0.9}
    assert [trial["accuracy"] for trial in content["trials"]] == [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]
    assert list(store.records(RunRecord)) == []


def test_a_choice_is_found_for_the_same_data_and_order(store, plan, write):
    keep(store, plan)
    assert tuned_parameters(store, plan, "slda") == {"shrinkage": GRID[2]}
    again = Plan(write("copied.npz"), seeds=range(9), order="shuffled")
    assert tuned_parameters(store, again, "slda") == {"shrinkage": GRID[2]}
    tested = Plan(write("tested.npz", X_test=clusters()["X_test"] + 1))
    assert tuned_parameters(store, tested, "slda") == {"shrinkage": GRID[2]}
    others = (
        (replace(plan, order="classes"), "slda"),
        (replace(plan, permuted=True), "slda"),
        (Plan(write("other.npz", X_train=clusters()["X_train"] + 1)), "slda"),
        (replace(plan, problem=replace(plan.problem, n_tasks=2)), "slda"),
        (plan, "fly"),
    )
    for other, method in others:
        with pytest.raises(ValueError, match="have been tuned"):
            tuned_parameters(store, other, method)


def test_without_a_choice_the_error_names_the_command(store, plan):
    with pytest.raises(ValueError) as caught:
        tuned_parameters(store, plan, "fly")
    name = plan.problem.name
    assert str(caught.value) == (
        f"no parameters of fly have been tuned for {name}: first run kenyon-lab tune {name} "
        "--method fly"
    )


def test_a_stored_choice_comes_before_the_catalogue(store, plan, monkeypatch):
    tuned = METHODS["slda"].tuned
    monkeypatch.setitem(tuned, (plan.problem.name, "shuffled"), {"shrinkage": 0.125})
    assert tuned_parameters(store, plan, "slda") == {"shrinkage": 0.125}
    with pytest.raises(ValueError, match="no parameters of slda"):
        tuned_parameters(store, replace(plan, order="classes"), "slda")
    keep(store, plan)
    assert tuned_parameters(store, plan, "slda") == {"shrinkage": GRID[2]}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b"[]", b"3", b"null", b"{}", b'{"parameters": 3}']
)
def test_a_damaged_choice_is_named_in_one_sentence(store, plan, content):
    path = keep(store, plan)
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        tuned_parameters(store, plan, "slda")
    assert str(caught.value).startswith(f"{path} is not the record of a search: ")
    assert "\n" not in str(caught.value)


def test_the_newest_choice_counts(store, plan):
    for date, best in (("2026-02-01", 0), ("2026-03-01", 1), ("2026-01-01", 2)):
        search = Search(replace(plan, seeds=range(best + 3)), "slda")
        found = search.record(search.trials(results([(i == best,) for i in range(len(GRID))])))
        store.put(replace(found, date=date))
    assert tuned_parameters(store, plan, "slda") == {"shrinkage": GRID[1]}


def test_a_choice_of_another_code_version_is_not_found(store, plan, monkeypatch):
    keep(store, plan)
    monkeypatch.setitem(METHODS, "slda", replace(METHODS["slda"], version=2))
    with pytest.raises(ValueError, match="have been tuned"):
        tuned_parameters(store, plan, "slda")


def test_another_grid_or_seed_is_another_search(store, plan):
    keep(store, plan)
    assert store.find(Search(plan, "slda")) is not None
    assert store.find(Search(plan, "slda", grid={"shrinkage": GRID[:2]})) is None
    assert store.find(Search(replace(plan, seeds=[0]), "slda")) is None
