"""The committed results: every record is requested, or listed here with the reason to keep it."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.methods import METHODS, ORDERS
from kenyon_lab.protocol.fingerprints import DECLARED
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.record import ExperimentRecord, RunRecord, SearchRecord
from kenyon_lab.protocol.search import Search
from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.profiles import PROFILES
from lab.tests.isolation import isolate

STORE = Store(Path(__file__).resolve().parents[1] / "results")
FULL = PROFILES["full"]
SEEDS = range(FULL.n_seeds)

COMMITS_KNOWN_FROM = "2026-11-18T06:30:00Z"
"""Earlier records may name no commit, or one with changes or of a branch that was rebased."""

LARGE = "benchmarks/beyond.py compares it with many cells"
FAIR = "benchmarks/fairness.py compares ridge with it"
UNTUNED = "run before a search chose the share of active units"
NARROW = "chosen by a search over a narrower grid, or with one seed"
ABANDONED = "a point of an earlier grid"
NOT_RUN = [
    *("offline-sgd", "gem", "bir-reference", "gem-reference", "gem-reference-masked"),
    *("ewc-reference", "vanilla-reference", "ewc-masked", "vanilla-masked"),
]
"""Methods without runs on CIFAR-100: each takes up to two hours."""
N_RUNS = 625
"""Runs that the report of the full profile shows."""

OTHERS = [
    (LARGE, 1, "fly-cl", "test", {"n_cells": 10_000}),
    (LARGE, 1, "ranpac", "test", {"n_cells": 10_000}),
    (FAIR, 5, "ridge", "test", {"n_cells": 3200}),
    (FAIR, 5, "ranpac-published", "test", {"n_cells": 3200}),
    (FAIR, 5, "fly-cl-published", "test", {"n_cells": 3200}),
    (FAIR, 5, "fly-cl-published", "test", {"n_cells": 5100}),
    (UNTUNED, 4, "fly-cl", "test", {"share_active": 0.3}),
    (NARROW, 1, "gem", "test", {"learning_rate": 0.1, "memory_strength": 1.0}),
    (NARROW, 5, "ewc", "test", {"learning_rate": 0.1, "memory_strength": 1e4}),
    (NARROW, 5, "ewc-masked", "test", {"learning_rate": 0.3, "memory_strength": 1e4}),
    (ABANDONED, 1, "dense-fly", "validation", {"learning_rate": 1e-6}),
    (ABANDONED, 3, "ewc-masked", "validation", {"learning_rate": 0.001}),
    (ABANDONED, 3, "gem", "validation", {"learning_rate": 0.003}),
    (ABANDONED, 3, "gem", "validation", {"memory_strength": 0.0}),
]
"""Reason, number of records, method, part, and parameters that set them apart."""


def problem_of(found):
    """Return the problem of a search: ceilings learn all classes in one task."""
    return Problem(found.dataset, 1 if METHODS[found.method].group == "ceiling" else None)


def repeat_search(found):
    """Return the request for a search that was stored."""
    plan = Plan(problem_of(found), found.seeds, found.order, found.permuted)
    return Search(plan, found.method, found.fixed, found.grid)


@pytest.fixture(scope="module")
def searches():
    return list(STORE.records(SearchRecord))


@pytest.fixture(scope="module")
def requested(searches):
    """The digests of the runs of the full profile, of benchmarks/methods.py and of searches."""
    jobs = []
    for dataset in DECLARED.keys() & set(FULL.datasets):
        plans = FULL.plans(dataset)
        for method in FULL.methods_on(dataset):
            jobs += FULL.jobs(dataset, plans, method)
            for order in ORDERS:
                ordered = Plan(plans[0].problem, SEEDS, order)
                for known in (ordered.problem.defaults(method), FULL.defaults(dataset, method)):
                    jobs += ordered.jobs(method, known[1])
    for found in searches:
        jobs += repeat_search(found).jobs()
        plan = Plan(problem_of(found), SEEDS, found.order)
        known = plan.problem.defaults(found.method)[1]
        for parameters in (known, found.fixed):
            jobs += plan.jobs(found.method, {**parameters, **found.parameters})
    return {job.digest for job in jobs}


def test_every_run_is_requested_or_listed(requested):
    others = [run for run in STORE.records(RunRecord) if run.digest not in requested]
    counts = Counter()
    for run in others:
        matching = [
            i
            for i, (_, _, method, part, parameters) in enumerate(OTHERS)
            if (run.method, run.part) == (method, part)
            and parameters.items() <= run.parameters.items()
        ]
        assert matching, (run.method, run.part, run.parameters)
        counts[matching[0]] += 1
    assert counts == {i: n for i, (_, n, *_) in enumerate(OTHERS)}


def test_every_experiment_is_requested():
    wanted = {
        ExperimentJob(name, seed).digest
        for name, experiment in EXPERIMENTS.items()
        for seed in experiment.seeds(FULL.n_seeds)
    }
    assert {found.digest for found in STORE.records(ExperimentRecord)} == wanted


def test_every_search_can_be_repeated(searches):
    for found in searches:
        assert repeat_search(found).digest == found.digest


def git(*arguments):
    """Return the output of git in this checkout, or None if git fails."""
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None


@pytest.fixture(scope="module")
def new_commits():
    """The commits that new records name, each with one of the records."""
    kinds = (RunRecord, ExperimentRecord, SearchRecord)
    records = [record for kind in kinds for record in STORE.records(kind)]
    return {record.commit: record.path for record in records if record.date >= COMMITS_KNOWN_FROM}


def test_new_records_name_the_commit_that_made_them(new_commits):
    for commit, path in new_commits.items():
        assert re.fullmatch(r"[0-9a-f]{40}", commit), f"{path}: {commit}"


def test_these_commits_are_in_the_history(new_commits):
    if git("rev-parse", "--is-shallow-repository") != ["false"]:
        pytest.skip("the history is not here")
    assert new_commits.keys() <= set(git("rev-list", "HEAD"))


def test_searches_follow_from_their_runs(searches):
    for found in searches:
        search = repeat_search(found)
        runs = [run for job in search.jobs() if (run := STORE.find(job))]
        assert search.record(search.trials(runs)).trials == found.trials


def test_the_report_needs_no_data(monkeypatch, tmp_path):
    isolate(monkeypatch, tmp_path)
    monkeypatch.setattr(
        Problem, "load", lambda self: (_ for _ in ()).throw(FileNotFoundError(self.name))
    )
    evidence = FULL.collect(STORE)
    assert FULL.missing(evidence) == [
        f"There are no runs of {', '.join(METHODS[name].title for name in NOT_RUN)} on cifar100.",
        "There are no runs of any method on cifar100-resnet18.",
        "There are no runs of Offline on cifar100-resnet50.",
    ]
    n_runs = sum(len(s.records) for runs in evidence.runs.values() for s in runs.values())
    assert n_runs == N_RUNS
