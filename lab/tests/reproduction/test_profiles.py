"""What a profile runs, and what it takes from results that were kept."""

import pytest

from kenyon_lab.experiments.archive import Archive
from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.figures.catalogue import FIGURES
from kenyon_lab.figures.evidence import Evidence
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.job import Job, Problem
from kenyon_lab.protocol.planning import Plan
from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.profiles import PROFILES, Profile
from lab.tests.protocol.samples import record

SMALL = Profile(
    "small", ("digits",), ("slda", "ncm", "ranpac"), ("circuit",), 2, {("digits", "ncm"): 1}
)


def test_the_quick_profile_has_every_method_of_the_paper():
    paper = {n for n, m in METHODS.items() if m.group in ("paper", "ablation", "perceptron")}
    assert paper <= set(PROFILES["quick"].methods)
    assert PROFILES["quick"].datasets == ("mnist20",)


def test_what_takes_minutes_and_is_not_in_the_paper_is_for_the_full_profile():
    quick, full = PROFILES["quick"], PROFILES["full"]
    assert set(full.methods) - set(quick.methods) == {"ranpac", "fly-cl", "ridge"}
    left_out = set(full.experiments) - set(quick.experiments)
    assert left_out == {"calibration", "compartments", "extinction"}


def test_where_the_paper_has_no_parameters_they_are_tuned_ones(monkeypatch):
    full = PROFILES["full"]
    assert full.usual("mnist20", "ewc")[0] == "paper"
    assert full.usual("digits", "ewc") == ("default", {})
    monkeypatch.setitem(METHODS["ewc"].tuned, ("digits", "shuffled"), {"learning_rate": 0.3})
    assert full.usual("digits", "ewc") == ("tuned", {"learning_rate": 0.3})
    assert full.usual("mnist20", "ewc")[0] == "paper"


def test_the_full_profile_leaves_no_method_out():
    full = PROFILES["full"]
    assert set(full.methods) == METHODS.keys()
    assert all(full.seeds(dataset, method) for dataset in full.datasets for method in full.methods)
    assert len(full.seeds("mnist20", "gem")) == 5


def test_every_experiment_is_shown_by_a_figure():
    assert {f.experiment for f in FIGURES.values() if f.experiment} == EXPERIMENTS.keys()


def test_jobs_have_the_usual_parameters_and_seeds():
    plan = Plan(Problem("digits"), range(2), alone=False)
    assert [job.seed for job in SMALL.jobs(plan, "slda")] == [0, 1]
    assert [job.seed for job in SMALL.jobs(plan, "ncm")] == [0]
    assert SMALL.jobs(plan, "ranpac")[0].parameters["n_cells"] == 3200


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def put(store, **changes):
    kept = record(**{"dataset": "digits", "seed": 0, "n_tasks": 5, **changes})
    job = Job(
        Problem(kept.dataset),
        kept.fingerprint,
        kept.method,
        kept.setting,
        kept.parameters,
        kept.order,
        seed=kept.seed,
    )
    store.put(job, kept)


def collected(store, profile=SMALL):
    evidence = profile.collect(store, Archive(store.folder))
    return {
        dataset: {method: [r.seed for r in summary.records] for method, summary in runs.items()}
        for dataset, runs in evidence.runs.items()
    }


def test_what_was_run_is_collected(store):
    for seed in range(3):
        put(store, seed=seed)
        put(store, seed=seed, method="ncm", parameters={})
    assert collected(store) == {"digits": {"slda": [0, 1], "ncm": [0]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"setting": "tuned"},
        {"setting": "given"},
        {"part": "validation"},
        {"permuted": True},
        {"n_tasks": 2},
        {"order": "classes"},
        {"seed": 2},
        {"dataset": "mnist20"},
        {"method": "fly", "parameters": {}},
        {"method": "ranpac", "parameters": {"n_cells": 10_000}},
    ],
)
def test_what_was_run_otherwise_is_not(store, changes):
    put(store, **changes)
    assert collected(store) == {}


def test_where_a_search_came_to_the_defaults_runs_with_these_are_taken_too(store, monkeypatch):
    monkeypatch.setitem(METHODS["slda"].tuned, ("digits", "shuffled"), {"shrinkage": 0.5})
    put(store, seed=0, parameters={"shrinkage": 0.5})
    put(store, seed=1, parameters={"shrinkage": 0.5}, setting="tuned")
    put(store, seed=1, parameters={"shrinkage": 0.1})
    assert collected(store) == {"digits": {"slda": [0, 1]}}


def test_runs_that_do_not_belong_together_are_refused(store):
    put(store)
    put(store, fingerprint="of other data")
    with pytest.raises(ValueError, match="runs of slda on digits that differ in more than their"):
        collected(store)


def test_what_is_missing_is_said(store):
    put(store)
    evidence = SMALL.collect(store, Archive(store.folder))
    first, second = SMALL.missing(evidence)
    assert first == "There are no runs of NCM, RanPAC on digits."
    assert second == "There are no findings of circuit."
    assert SMALL.missing(Evidence())[0] == "There are no runs of any method on digits."


def test_findings_are_collected(store, monkeypatch):
    monkeypatch.setattr(
        "kenyon_lab.experiments.catalogue.Experiment.measure", lambda self, seed: {}
    )
    archive = Archive(store.folder)
    for seed in (1, 2):
        archive.measure("rates", seed)
    findings = SMALL.collect(store, archive).findings
    assert {name: [f.seed for f in found] for name, found in findings.items()} == {"rates": [1]}
