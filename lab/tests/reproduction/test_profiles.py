"""Profiles: the jobs that they request, and the records that they collect."""

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.methods import METHODS
from kenyon_lab.protocol.evidence import Evidence
from kenyon_lab.protocol.job import Problem
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


def test_what_takes_minutes_is_for_the_full_profile():
    quick, full = PROFILES["quick"], PROFILES["full"]
    assert set(full.methods) - set(quick.methods) == {
        *("ranpac", "fly-cl", "ranpac-published", "fly-cl-published", "kenyon", "ridge"),
        *("bir-reference", "gem-shared-memory", "gem-reference-masked"),
        *("ewc-reference-masked", "vanilla-reference-masked"),
    }
    left_out = set(full.experiments) - set(quick.experiments)
    assert left_out == {"calibration", "compartments", "extinction", "theory", "gem_memory"}


def test_where_the_paper_has_no_parameters_they_are_tuned_ones(monkeypatch):
    full = PROFILES["full"]
    assert full.defaults("mnist20", "ewc")[0] == "paper"
    assert full.defaults("digits", "ewc") == ("default", {})
    monkeypatch.setitem(METHODS["ewc"].tuned, ("digits", "shuffled"), {"learning_rate": 0.3})
    assert full.defaults("digits", "ewc") == ("tuned", {"learning_rate": 0.3})
    assert full.defaults("mnist20", "ewc")[0] == "paper"


def test_where_the_paper_states_sizes_alone_the_rate_is_the_tuned_one(monkeypatch):
    full = PROFILES["full"]
    for method in ("sparse-logistic", "dense-logistic"):
        sizes = METHODS[method].paper["mnist20"]
        monkeypatch.setitem(METHODS[method].tuned, ("mnist20", "shuffled"), {"learning_rate": 0.3})
        expected = ("paper", {**sizes, "learning_rate": 0.3})
        assert full.defaults("mnist20", method) == expected
        (job, *_) = full.jobs("mnist20", full.plans("mnist20"), method)
        assert job.parameters["learning_rate"] == 0.3
    stated = METHODS["vanilla"].paper["mnist20-distorted"]
    assert METHODS["vanilla"].tuned["mnist20-distorted", "shuffled"] != {"learning_rate": 0.001}
    assert full.defaults("mnist20-distorted", "vanilla") == ("paper", stated)


def test_the_full_profile_leaves_out_ceilings_alone():
    full = PROFILES["full"]
    assert set(full.methods) == {n for n, m in METHODS.items() if m.group != "ceiling"}
    plans = full.plans("mnist20")
    assert all(full.jobs("mnist20", plans, method) for method in full.methods)
    assert len(full.jobs("mnist20", plans, "gem")) == 5
    assert len(full.jobs("tiny100", full.plans("tiny100"), "gem")) == 1


def test_run_i_uses_the_encoder_of_seed_i():
    full = PROFILES["full"]
    jobs = full.jobs("mnist20", full.plans("mnist20"), "fly")
    names = ["mnist20", *(f"mnist20-seed{seed}" for seed in (1, 2, 3, 4))]
    assert [(job.dataset, job.seed) for job in jobs] == list(zip(names, range(5), strict=True))
    assert len({job.fingerprint for job in jobs}) == 5
    assert len({str(job.parameters) for job in jobs}) == 1


def test_variants_run_on_the_papers_datasets_alone():
    full = PROFILES["full"]
    assert "ewc-reference-masked" in full.methods_on("mnist20")
    assert "ewc-reference-masked" in full.methods_on("cifar100")
    assert "ewc-reference-masked" not in full.methods_on("clinc150")
    assert set(full.methods_on("cifar100-resnet50")) >= {"fly", "ridge", "slda", "offline"}


def test_every_experiment_is_shown_by_a_figure_or_judged_alone():
    shown = {figure.experiment for figure in FIGURES.values() if figure.experiment}
    assert shown == EXPERIMENTS.keys() - {"theory", "wirings"}


def test_jobs_have_the_parameters_and_seeds_of_the_profile():
    plans = SMALL.plans("digits")
    assert [job.seed for job in SMALL.jobs("digits", plans, "slda")] == [0, 1]
    assert [job.seed for job in SMALL.jobs("digits", plans, "ncm")] == [0]
    for method in ("ranpac", "ranpac-published", "fly-cl-published"):
        assert SMALL.jobs("digits", plans, method)[0].parameters["n_cells"] == 3200


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


FINGERPRINT = Problem("digits").identify()[0]


def put(store, **changes):
    store.put(record(**{"dataset": "digits", "fingerprint": FINGERPRINT, **changes}))


def collected(store, profile=SMALL):
    return {
        dataset: {method: [r.seed for r in summary.records] for method, summary in runs.items()}
        for dataset, runs in profile.collect(store).runs.items()
    }


def test_collects_the_seeds_of_the_profile(store):
    for seed in range(3):
        put(store, seed=seed)
        put(store, seed=seed, method="ncm", parameters={})
    assert collected(store) == {"digits": {"slda": [0, 1], "ncm": [0]}}


STALE = {
    "code version": {"code_version": 2},
    "parameters": {"parameters": {"shrinkage": 0.5}},
    "data": {"fingerprint": "of other data"},
    "permuted": {"permuted": True},
    "order": {"order": "classes"},
    "seed": {"seed": 2},
    "another method": {"method": "fly", "parameters": {}},
    "more units": {"method": "ranpac", "parameters": {"n_cells": 10_000}},
}


@pytest.mark.parametrize("changes", STALE.values(), ids=STALE.keys())
def test_does_not_collect_a_stale_record(store, changes):
    put(store, **changes)
    assert collected(store) == {}
    put(store)
    put(store, accuracy=0.9, **changes)
    (found,) = SMALL.collect(store).runs["digits"]["slda"].records
    assert found.measures["accuracy"] == 0.5


def test_runs_have_the_setting_of_the_profile(store, monkeypatch):
    put(store, parameters={"shrinkage": 0.5})
    put(store, method="ncm", parameters={})
    monkeypatch.setitem(METHODS["slda"].tuned, ("digits", "shuffled"), {"shrinkage": 0.5})
    runs = SMALL.collect(store).runs["digits"]
    assert {method: summary.setting for method, summary in runs.items()} == {
        "slda": "tuned",
        "ncm": "default",
    }


def test_data_that_are_missing_and_not_declared_have_no_runs(store, monkeypatch):
    def missing(self):
        raise FileNotFoundError

    put(store)
    monkeypatch.setattr(Problem, "load", missing)
    assert SMALL.collect(store).runs == {}


def test_missing_evidence(store):
    put(store)
    first, second = SMALL.missing(SMALL.collect(store))
    assert first == "There are no runs of NCM, RanPAC on digits."
    assert second == "There are no findings of circuit."
    assert SMALL.missing(Evidence())[0] == "There are no runs of any method on digits."


def test_findings_are_collected(store, monkeypatch):
    monkeypatch.setattr(
        "kenyon_lab.experiments.catalogue.Experiment.measure", lambda self, seed: {}
    )
    for seed in (1, 2):
        store.put(ExperimentJob("rates", seed).run())
    findings = SMALL.collect(store).findings
    assert {name: [f.seed for f in found] for name, found in findings.items()} == {"rates": [1]}
