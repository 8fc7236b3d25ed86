"""The jobs of a comparison."""

from dataclasses import fields, replace

import numpy as np
import pytest

from kenyon_lab.data import load
from kenyon_lab.data.features import is_built_here
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.fingerprints import DECLARED, IN_ONE_TASK, compute_fingerprint
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from lab.tests.protocol.samples import clusters

DIGITS = Plan(Problem("digits"), seeds=(0, 1, 4))


def test_a_job_for_each_seed():
    jobs = DIGITS.jobs("slda", {"shrinkage": 0.5})
    assert [job.seed for job in jobs] == [0, 1, 4]
    for job in jobs:
        assert replace(job, seed=0) == jobs[0]
        assert (job.method, job.parameters) == ("slda", {"shrinkage": 0.5})
        assert job.problem is DIGITS.problem


def test_the_data_are_known_by_their_fingerprint():
    digits = load("digits")
    assert DIGITS.n_tasks == 5
    assert DIGITS.fingerprint == compute_fingerprint(digits)
    assert DIGITS.jobs("ncm")[0].fingerprint == compute_fingerprint(digits)
    wide = Plan(Problem("digits", n_tasks=2))
    assert wide.n_tasks == 2
    assert wide.fingerprint == compute_fingerprint(load("digits", n_tasks=2)) != DIGITS.fingerprint


@pytest.mark.parametrize("name", ["fly", "slda", "ncm", "perceptron-v3", "fly-cl"])
def test_jobs_have_all_parameters_but_the_shared_ones(name):
    job = DIGITS.jobs(name)[1]
    method = job.make()
    stated = {f.name for f in fields(method) if f.init}
    assert job.parameters.keys() == stated - {"seed", "n_threads"}
    for parameter, value in job.parameters.items():
        assert getattr(method, parameter) == value
    for parameter, value in METHODS[name].variant.items():
        assert job.parameters[parameter] == value
    assert (method.seed, method.n_threads) == (1, 1)


def test_a_default_that_is_stated_makes_no_other_run():
    (told,) = Plan(Problem("digits")).jobs("slda", {"shrinkage": 0.0001})
    (silent,) = Plan(Problem("digits")).jobs("slda")
    assert told.digest == silent.digest


def test_each_method_has_its_order_unless_one_is_asked_for():
    assert DIGITS.jobs("fly")[0].order == DIGITS.order_of("fly") == "shuffled"
    assert DIGITS.jobs("perceptron-v1")[0].order == "classes"
    for order in ("classes", "shuffled"):
        plan = replace(DIGITS, order=order)
        for name in ("fly", "perceptron-v1"):
            assert plan.jobs(name)[0].order == plan.order_of(name) == order


def test_what_is_the_same_for_all_jobs():
    plan = Plan(Problem("digits"), permuted=True, n_threads=2, single_task=False)
    (job,) = plan.jobs("ncm")
    assert (job.permuted, job.n_threads, job.single_task, job.seed) == (True, 2, False, 0)
    (job,) = Plan(Problem("digits")).jobs("ncm")
    assert (job.permuted, job.n_threads, job.single_task) == (False, 1, True)


@pytest.mark.parametrize("name", ["seed", "n_threads"])
def test_what_the_plan_decides_is_no_parameter(name):
    with pytest.raises(ValueError, match=f"{name} is the same for all methods.*given for ncm"):
        DIGITS.jobs("ncm", {name: 3})


def test_parameters_that_a_method_does_not_have():
    with pytest.raises(ValueError, match="ncm has no parameter 'colour'; it has seed, n_threads"):
        DIGITS.jobs("ncm", {"colour": 3})[0].make()
    with pytest.raises(ValueError, match="rule of perceptron-v1 is 1 by definition"):
        DIGITS.jobs("perceptron-v1", {"rule": 2})[0].make()


def test_where_parameters_come_from(monkeypatch):
    assert DIGITS.problem.defaults("slda") == ("default", {})
    monkeypatch.setitem(METHODS["slda"].paper, "digits", {"shrinkage": 0.25})
    assert DIGITS.problem.defaults("slda") == ("paper", {"shrinkage": 0.25})
    assert DIGITS.problem.defaults("ncm") == ("default", {})


def test_a_users_file_has_no_paper(tmp_path, monkeypatch):
    # Its name without the folder is that of a dataset of the paper.
    np.savez(tmp_path / "mnist20.npz", **clusters())
    plan = Plan(Problem(str(tmp_path / "mnist20.npz")))
    assert plan.problem.defaults("fly") == ("default", {})
    assert plan.jobs("fly", plan.problem.defaults("fly")[1])[0].dataset == "mnist20.npz"


def test_what_cannot_be_loaded_cannot_be_planned():
    with pytest.raises(ValueError, match="name must be one of"):
        Plan(Problem("nothing"))
    with pytest.raises(ValueError, match="n_tasks must be from 1 to 10"):
        Plan(Problem("digits", n_tasks=11))


@pytest.mark.parametrize("part", ["test", "validation"])
@pytest.mark.parametrize("n_tasks", [None, 1])
@pytest.mark.parametrize("name", DECLARED)
def test_declared_fingerprints_are_those_of_the_data(name, n_tasks, part):
    problem = Problem(name, n_tasks, part=part)
    if is_built_here(name):
        pytest.skip(f"{name} was built on this machine, and may differ")
    try:
        dataset = problem.load()
    except FileNotFoundError:
        pytest.skip(f"{name} is not on this machine")
    assert problem.identify() == (compute_fingerprint(dataset), dataset.n_tasks)


def test_declared_data_are_not_loaded(monkeypatch):
    monkeypatch.setattr(Problem, "load", None)
    assert Plan(Problem("tiny100")).fingerprint == DECLARED["tiny100"]["test"]
    assert Plan(Problem("tiny100", n_tasks=25)).n_tasks == 25
    assert Plan(Problem("tiny100", n_tasks=1)).fingerprint == IN_ONE_TASK["tiny100"]["test"]
    with pytest.raises(TypeError):
        Plan(Problem("tiny100", n_tasks=5))
    monkeypatch.setitem(DECLARED, "tiny100", {})
    with pytest.raises(TypeError):
        Plan(Problem("tiny100"))


def test_features_built_here_have_their_own_fingerprint(monkeypatch):
    digits = load("digits")
    monkeypatch.setattr(Problem, "load", lambda self: digits)
    for name in ("mnist20", "cifar100"):
        monkeypatch.setattr("kenyon_lab.protocol.job.is_built_here", lambda other: True)
        assert Problem(name).identify() == (compute_fingerprint(digits), digits.n_tasks)
        monkeypatch.setattr("kenyon_lab.protocol.job.is_built_here", lambda other: False)
        assert Problem(name).identify()[0] == DECLARED[name]["test"]
