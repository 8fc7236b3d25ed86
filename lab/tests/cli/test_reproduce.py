"""`kenyon-lab reproduce` and `kenyon-lab report`, from the command to the files that come of it."""

import csv
import re
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

import kenyon_lab
from kenyon_lab.experiments.catalogue import Experiment
from kenyon_lab.figures import style
from kenyon_lab.figures.captions import FIGURES
from kenyon_lab.protocol import progress
from kenyon_lab.protocol.record import ExperimentRecord, RunRecord
from kenyon_lab.protocol.store import Store
from kenyon_lab.reproduction.profiles import PROFILES, Profile

METHODS = ("fly", "perceptron-v3")
EXPERIMENTS = ("hijacking",)
measure = lru_cache(Experiment.measure)


@pytest.fixture(autouse=True)
def _small(here, monkeypatch):
    """Profiles, figures and experiments that take no time."""
    monkeypatch.setitem(
        PROFILES, "quick", Profile("quick", ("digits", "tiny100"), METHODS, EXPERIMENTS, 1)
    )
    monkeypatch.setitem(PROFILES, "full", Profile("full", ("digits",), METHODS, EXPERIMENTS, 2))
    for name in FIGURES.keys() - {"fig4", "s2"}:
        monkeypatch.delitem(FIGURES, name)
    monkeypatch.setattr(Experiment, "measure", measure)
    monkeypatch.setitem(style._SETTINGS, "savefig.dpi", 30)


def test_all_of_it(run, folder):
    code, out, err = run("reproduce")
    assert code == 0
    assert err[0] == "digits: 2 methods"
    done = [line.partition(":")[0] for line in err[1:3]]
    assert done == ["FlyModel, shuffled, seed 0", "Perceptron v3, classes, seed 0"]
    assert re.match(r"tiny100 is left out: .*tiny100", err[3])
    assert re.fullmatch(r"two inputs that share cells.*, seed 0: \d+\.\d s", err[4])
    assert re.match(r"Of \d+ statements of the paper that were measured, ", out[0])
    assert out[-1] == "The report is in report/index.html."

    report = folder / "report"
    assert {path.name for path in report.iterdir()} == {
        *("index.html", "results.csv", "verdict.md", "figures", "runs", "experiments"),
    }
    drawn = {path.name for path in (report / "figures").iterdir()}
    assert drawn == {"fig4.png", "fig4.svg", "s2.png", "s2.svg"}
    with (report / "results.csv").open() as file:
        assert [row["method"] for row in csv.DictReader(file)] == list(METHODS)
    assert out[0] in (report / "index.html").read_text()
    assert out[0] in (report / "verdict.md").read_text()


def test_what_was_done_is_not_done_again(run, folder):
    run("reproduce")
    before = (folder / "report" / "verdict.md").read_text()
    code, _, err = run("reproduce")
    assert code == 0
    assert all(line.endswith("done before") for line in (*err[1:3], err[4]))
    assert (folder / "report" / "verdict.md").read_text() == before


def test_one_figure(run, folder):
    code, out, err = run("reproduce", "fig4")
    assert code == 0
    assert [line.partition(",")[0] for line in err[1:3]] == ["FlyModel", "Perceptron v3"]
    assert out == ["report/figures/fig4.png", "report/figures/fig4.svg"]
    assert not (folder / "report" / "index.html").exists()


def test_a_figure_of_an_experiment_needs_no_runs(run):
    code, out, err = run("reproduce", "s2")
    assert (code, len(err)) == (0, 1)
    assert out == ["report/figures/s2.png", "report/figures/s2.svg"]


def test_an_experiment_that_the_profile_leaves_out_is_done_if_asked_for(run, monkeypatch):
    monkeypatch.setitem(PROFILES, "quick", Profile("quick", ("digits",), METHODS, (), 1))
    code, out, err = run("reproduce", "s2")
    assert (code, len(err), len(out)) == (0, 1, 2)
    code, _, err = run("reproduce", "--output", "other")
    assert code == 0
    assert len(err) == 3


def test_the_report_again_without_running_anything(run, folder, monkeypatch):
    run("reproduce", "--profile", "full", "--store", "results", "--output", "first")
    monkeypatch.setattr(progress, "run_all", None)
    monkeypatch.setattr(Experiment, "measure", None)
    code, out, err = run("report")
    assert (code, err) == (0, [])
    assert out[-1] == "The report is in report/index.html."
    for name in ("index.html", "results.csv", "verdict.md", "figures/fig4.svg"):
        assert (folder / "report" / name).read_bytes() == (folder / "first" / name).read_bytes()
    assert run("report", "fig4")[1] == ["report/figures/fig4.png", "report/figures/fig4.svg"]


def test_what_fails_is_reported_and_the_rest_goes_on(run, folder, monkeypatch):
    def fail(self, seed):
        raise ValueError("no flies today")

    monkeypatch.setattr(Experiment, "measure", fail)
    code, out, err = run("reproduce")
    assert code == 1
    assert re.match(r"Failed: two inputs.*, seed 0: ValueError: no flies today", err[-1])
    assert out[-1] == "The report is in report/index.html."
    assert not (folder / "report" / "figures" / "s2.png").exists()


def test_interrupted_while_experimenting(run, monkeypatch):
    def interrupt(self, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(Experiment, "measure", interrupt)
    code, out, err = run("reproduce", "s2")
    assert (code, out) == (130, [])
    assert err[-1] == "Interrupted; the same command goes on."


FAILURES = {
    "an unknown figure": (
        ("reproduce", "fig9"),
        "figure must be one of 'fig4', 's2', but is 'fig9'",
    ),
    "an unknown profile": (("reproduce", "--profile", "x"), "profile must be one of .* is 'x'"),
    "no results": (("report",), "there are no results of the full profile in results"),
}


@pytest.mark.parametrize(("arguments", "sentence"), FAILURES.values(), ids=FAILURES.keys())
def test_what_goes_wrong_is_one_line_and_exit_code_2(run, arguments, sentence):
    code, out, err = run(*arguments)
    assert (code, out, len(err)) == (2, [], 1)
    assert re.fullmatch(f"Error: {sentence}", err[0])


def test_no_results_for_one_figure(run):
    run("reproduce", "s2")
    code, _, err = run("report", "fig4", "--profile", "quick", "--store", "report")
    assert (code, err) == (2, ["Error: there are no results in report that fig4 shows"])


@pytest.mark.parametrize("name", ["matplotlib", "jinja2"])
def test_what_is_missing_is_said_before_anything_is_run(run, folder, monkeypatch, name):
    for module in list(sys.modules):
        if module.startswith(("kenyon_lab.reproduction.", "kenyon_lab.figures.")) or module == name:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    code, out, err = run("reproduce")
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"Error: figures and report need {name}")
    assert "pip install 'kenyon-lab[figures]'" in err[0]
    assert not (folder / "report").exists()


def test_a_stale_record_does_not_change_the_report(run, folder):
    run("reproduce", "--profile", "full")
    store = Store(folder / "results")
    for kind in (RunRecord, ExperimentRecord):
        for found in list(store.records(kind)):
            store.put(replace(found, code_version=2, date="2999-12-31T23:59:59Z"))
    for found in list(store.records(RunRecord)):
        store.put(replace(found, fingerprint="of other data", accuracies=[]))
        store.put(replace(found, parameters={**found.parameters, "n_cells": 7}, accuracies=[]))
    run("report", "--output", "again")
    for name in ("index.html", "results.csv", "verdict.md", "figures/fig4.svg", "figures/s2.svg"):
        again = (folder / "again" / name).read_bytes()
        assert again == (folder / "report" / name).read_bytes()


def test_from_python(folder, capsys):
    done = kenyon_lab.reproduce("quick", output="report", jobs=1, progress=False)
    assert done.paths == [Path("report/index.html")]
    assert done.failures == []
    assert done.missing == ["There are no runs of any method on tiny100."]
    assert done.headline[0].startswith("Of ")
    verdicts = {judged.statement.text: judged.as_paper.verdict for judged in done.judged}
    assert verdicts["MNIST-20, accuracy after 20 classes: FlyModel"] == "not measured"
    assert capsys.readouterr() == ("", "")
    again = kenyon_lab.report("quick", "fig4")
    assert again.paths == [Path("report/figures/fig4.png"), Path("report/figures/fig4.svg")]
    assert again.judged == []


def test_an_interrupt_reaches_the_caller(monkeypatch):
    def interrupt(self, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(Experiment, "measure", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kenyon_lab.reproduce("quick", "s2", progress=False)
