"""`kenyon-lab bench` and `kenyon-lab tune`, from the command to files and tables."""

import json
import re
import shutil
import sys
from importlib import import_module
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kenyon_lab.methods import METHODS, Group
from kenyon_lab.protocol.job import Problem
from kenyon_lab.protocol.plan import Plan
from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.store import Store
from lab.tests.cli import command
from lab.tests.protocol.samples import clusters

# The package knows the command by this name.
bench = import_module("kenyon_lab.cli.bench")


@pytest.fixture
def planned(monkeypatch, run):
    """Call with arguments of `kenyon-lab bench`: which jobs would be run."""
    kept = []

    def run_jobs(jobs, n_tasks, n_jobs, store, console):
        kept[:] = jobs, n_tasks, n_jobs, store
        return {}, []

    def planned(*arguments):
        monkeypatch.setattr(bench, "run_jobs", run_jobs)
        assert run("bench", *arguments)[0] == 0
        return kept

    return planned


def tables(out):
    """The rows of all tables, by the names of methods; the numbers of a method in a row."""
    rows = {}
    for line in out:
        for entry in METHODS.values():
            if line.strip().startswith(f"{entry.title} "):
                rows.setdefault(entry.name, []).extend(line.strip()[len(entry.title) :].split())
    return rows


# Three methods, one of which fails, each in a process of its own


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    store = tmp_path_factory.mktemp("compared") / "results"
    arguments = ("--methods", "slda,fly,ncm", "--set", "fly.n_active=1000000000", "--jobs", 2)
    return store, command.run("bench", "digits", *arguments, "--store", store)


def test_a_method_that_fails_is_reported_at_the_end_with_its_reason(compared):
    _, (code, _, err) = compared
    assert code == 1
    assert re.fullmatch(
        r"Failed: FlyModel, shuffled, seed 0: ValueError: n_active must be .*1000000000", err[-1]
    )


def test_a_line_for_each_run_that_ends_and_no_other(compared):
    _, (_, _, err) = compared
    assert len(err) == 4
    patterns = (
        r"FlyModel, shuffled, seed 0: failed",
        r"NCM, shuffled, seed 0: accuracy 0\.\d{3}, \d+\.\d s",
        r"SLDA, shuffled, seed 0: accuracy 0\.\d{3}, \d+\.\d s",
    )
    for line, pattern in zip(sorted(err[:3]), patterns, strict=True):
        assert re.fullmatch(pattern, line)


def test_the_others_are_done_and_kept(compared):
    store, _ = compared
    records = {record.method: record for record in Store(store).records(RunRecord)}
    assert sorted(records) == ["ncm", "slda"]
    plan = Plan(Problem("digits"))
    for name, record in records.items():
        (job,) = plan.jobs(name)
        expected = job.run()
        assert record.digest == job.digest
        assert record.accuracies == expected.accuracies
        assert record.single_task == expected.single_task
        assert record.measures == expected.measures


def test_the_tables_say_what_the_records_say(compared):
    store, (_, out, _) = compared
    found = tables(out)
    assert list(found) == ["slda", "ncm"], "in the order in which they were asked for"
    for record in Store(store).records(RunRecord):
        measures = record.measures
        reached = ("accuracy", "average_accuracy", "memory_loss", "learned")
        later = ("backward_transfer", "intransigence")
        cells = [f"{measures[name]:.3f}" for name in (*reached, *later)]
        assert found[record.method][:6] == cells
        cost = [f"{sum(record.learn_seconds):.1f}", f"{sum(record.predict_seconds):.1f}"]
        cost += [f"{record.peak_rss / 1e6:.0f}", f"{record.n_parameters:,}", "0", "1.0"]
        assert found[record.method][6:] == cost
    assert out[0] == "With default parameters, samples shuffled, 1 seed:"
    assert out[-1] == f"Finished runs are in {store}."


def test_the_same_command_goes_on(compared, run, here, folder):
    store, (_, before, _) = compared
    shutil.copytree(store, folder / "results")
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    code, out, err = run("bench", "digits", "--methods", "slda,fly,ncm")
    assert code == 0
    assert [line.rpartition(", ")[2] for line in err[:2]] == ["done before"] * 2
    assert re.fullmatch(r"FlyModel, shuffled, seed 0: accuracy 0\.9\d\d, \d+\.\d s", err[2])
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert list(tables(out)) == ["slda", "fly", "ncm"]
    assert tables(out)["ncm"] == tables(before)["ncm"]
    again = run("bench", "digits", "--methods", "slda,fly,ncm")
    assert again[:2] == (0, out)
    assert all(line.endswith("done before") for line in again[2])


def test_runs_again_for_single_tasks(run, here, mine, folder):
    arguments = ("bench", "mine.npz", "--methods", "ncm")
    assert tables(run(*arguments, "--no-single-task")[1])["ncm"][5] == "-"
    _, out, err = run(*arguments)
    assert not err[0].endswith("done before")
    assert tables(out)["ncm"][5] != "-"
    assert run(*arguments, "--no-single-task")[2][0].endswith("done before")
    assert len(list(Store(folder / "results").records(RunRecord))) == 1


# Files of one's own


def test_a_users_table(run, here, mine, folder):
    arguments = ("bench", "mine.csv", "--label", "kind", "--methods", "ncm,slda", "--tasks", 2)
    code, out, _ = run(*arguments, "--seeds", 2, "--store", "a folder/of mine")
    assert code == 0
    assert out[0] == "With default parameters, samples shuffled, 2 seeds:"
    assert out[-1] == "Finished runs are in a folder/of mine."
    records = list(Store(folder / "a folder/of mine").records(RunRecord))
    assert [(record.method, record.seed) for record in records] == [
        ("ncm", 0),
        ("ncm", 1),
        ("slda", 0),
        ("slda", 1),
    ]
    assert {(record.dataset, record.n_tasks, record.n_classes) for record in records} == {
        ("mine.csv", 2, 4)
    }
    accuracies = [record.measures["accuracy"] for record in records[:2]]
    deviation = np.std(accuracies, ddof=1)
    assert tables(out)["ncm"][0] == f"{np.mean(accuracies):.3f}±{deviation:.3f}"


def test_the_same_name_in_two_folders_is_not_the_same_data(run, here, mine, folder):
    (folder / "other").mkdir()
    np.savez(folder / "other" / "mine.npz", **clusters(seed=5))
    for path in ("mine.npz", "other/mine.npz", folder / "mine.npz"):
        _, _, err = run("bench", path, "--methods", "ncm")
        assert err[0].endswith("done before") == (path == folder / "mine.npz")
    assert len(list(Store(folder / "results").records(RunRecord))) == 2


# Which jobs are run


def test_methods_by_name_and_by_group_each_once():
    assert bench._names("ncm") == ["ncm"]
    modern = ["ncm", "slda", "ranpac", "fly-cl", "ranpac-published", "fly-cl-published"]
    assert bench._names("modern") == modern
    assert bench._names("slda,fly,modern,fly") == ["slda", "fly", "ncm", *modern[2:]]
    assert bench._names("all") == list(METHODS)
    assert bench._names(",".join(get_args(Group))) == list(METHODS)
    assert bench._names("paper") == [n for n, entry in METHODS.items() if entry.group == "paper"]


def test_seed_by_seed(planned):
    jobs, n_tasks, n_jobs, store = planned(
        "digits", "--methods", "slda,ncm", "--seeds", 3, "--jobs", 7, "--store", "x"
    )
    assert [(job.seed, job.method) for job in jobs] == [
        (seed, method) for seed in range(3) for method in ("slda", "ncm")
    ]
    assert (n_tasks, n_jobs, store.folder.name) == (5, 7, "x")


def test_options_reach_the_jobs(planned):
    options = ("--order", "classes", "--permute", "--threads", 2, "--no-single-task", "--tasks", 2)
    (job,), n_tasks, _, _ = planned("digits", "--methods", "ncm", *options)
    assert (job.order, job.permuted, job.n_threads, job.single_task) == ("classes", True, 2, False)
    assert n_tasks == job.problem.n_tasks == 2
    (job,), *_ = planned("digits", "--methods", "ncm")
    assert (job.order, job.permuted, job.n_threads, job.single_task) == ("shuffled", False, 1, True)


def test_the_papers_parameters_are_taken_where_there_are_some(planned):
    jobs, *_ = planned("mnist20", "--methods", "fly,slda")
    assert jobs[1].parameters == {"shrinkage": 0.0001}
    assert jobs[0].parameters == {
        "n_cells": 3200,
        "fan_in": 10,
        "n_active": 160,
        "learning_rate": 0.01,
    }


def test_parameters_that_are_set(planned):
    settings = ("fly.n_cells=500", "slda.shrinkage=1e-3", "fly.learning_rate=auto")
    options = [option for setting in settings for option in ("--set", setting)]
    jobs, *_ = planned("digits", "--methods", "fly,slda,ncm", *options)
    fly, slda, _ = jobs
    assert (fly.parameters["n_cells"], fly.parameters["learning_rate"]) == (500, "auto")
    assert slda.parameters == {"shrinkage": 0.001}
    (fly,), *_ = planned("mnist20", "--methods", "fly", "--set", "fly.learning_rate=auto")
    assert fly.parameters["learning_rate"] == "auto"
    assert fly.parameters["n_cells"] == 3200, "the paper's, of which one thing was changed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e-3", 0.001),
        ("auto", "auto"),
        ("'auto'", "auto"),
        ("None", None),
        ("True", True),
        ("", ""),
        ("a=b", "a=b"),
        ("10**9", "10**9"),
        ("1e999", "1e999"),
        ("{1, 2}", "{1, 2}"),
        ("1j", "1j"),
        ("b'x'", "b'x'"),
    ],
)
def test_values_are_numbers_or_words(text, expected):
    assert bench._changes([f"fly.x={text}"], ["fly"]) == {"fly": {"x": expected}}


@given(st.text())
@example("{[]: 1}")
@example("9" * 400)
@example("(" * 1000)
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_whatever_is_set_can_be_written_as_json(text):
    json.dumps(bench._value(text), allow_nan=False)


# tune


def test_tuning_says_what_it_chose_and_tuned_takes_it(run, here, mine, grid, folder):
    grid(1e6, "auto")
    code, _, err = run("bench", "mine.npz", "--methods", "fly,ncm", "--tuned")
    assert (code, len(err)) == (2, 1)
    assert err[0] == (
        "Error: no parameters of fly have been tuned for mine.npz: first run kenyon-lab "
        "tune mine.npz --method fly"
    )

    code, out, err = run("tune", "mine.npz", "--method", "fly", "--seeds", 2)
    assert code == 0
    assert [line.partition(":")[0] for line in err] == [
        f"FlyModel, learning_rate {value}, shuffled, seed {seed}"
        for value in (1e6, "auto")
        for seed in range(2)
    ]
    runs = list(Store(folder / "results").records(RunRecord))
    assert [record.part for record in runs] == ["validation"] * 4
    assert {record.n_train + record.n_test for record in runs} == {120}
    auto, fixed = (
        np.mean([r.measures["accuracy"] for r in runs if r.parameters["learning_rate"] == rate])
        for rate in ("auto", 1e6)
    )
    assert auto > fixed
    rows = [line.split() for line in out if "±" in line]
    assert [(row[0], row[1][:5]) for row in rows] == [
        ("auto", f"{auto:.3f}"),
        ("1000000.0", f"{fixed:.3f}"),
    ]
    chosen = re.fullmatch(r"Chose learning_rate auto for FlyModel; stored in (\S+)\.", out[-1])
    assert json.loads((folder / chosen[1]).read_text())["parameters"] == {"learning_rate": "auto"}

    code, out, _ = run("bench", "mine.npz", "--methods", "fly,ncm", "--tuned")
    assert code == 0
    assert out[0] == "With tuned parameters, samples shuffled, 1 seed:"
    runs = Store(folder / "results").records(RunRecord)
    (tested,) = (r for r in runs if (r.method, r.part) == ("fly", "test"))
    assert tested.parameters["learning_rate"] == "auto"

    again = run("tune", "mine.npz", "--method", "fly", "--seeds", 2)[2]
    assert all(line.endswith("done before") for line in again)


def test_a_point_that_fails_is_reported_and_the_best_of_the_others_chosen(run, here, mine, grid):
    grid(-1.0, 0.01)
    code, out, err = run("tune", "mine.npz", "--method", "fly")
    assert code == 1
    assert out[-1].startswith("Chose learning_rate 0.01 for FlyModel")
    failed = "Failed: FlyModel, learning_rate -1.0, shuffled, seed 0: learning_rate must be "
    assert err[-1].startswith(failed)


def test_if_all_points_fail_nothing_is_chosen(run, here, mine, grid, folder):
    grid(-1.0, -2.0)
    code, out, err = run("tune", "mine.npz", "--method", "fly")
    assert (code, out) == (1, [])
    assert [line.startswith("Failed: ") for line in err] == [False, False, True, True]
    assert not (folder / "results" / "searches").exists()


def test_other_samples_or_another_order_are_tuned_anew(run, here, mine, grid):
    grid(0.1, 0.01)
    assert run("tune", "mine.npz", "--method", "fly")[0] == 0
    arguments = ("bench", "mine.npz", "--methods", "fly", "--tuned")
    assert run(*arguments)[0] == 0
    for option in (("--order", "classes"), ("--tasks", 2), ("--store", "elsewhere")):
        assert run(*arguments, *option)[0] == 2


def test_what_needs_a_package_that_is_missing_is_reported_and_the_rest_run(
    run, here, mine, monkeypatch
):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = run("bench", "mine.npz", "--methods", "vanilla,ncm", "--seeds", 2)
    assert code == 1
    assert list(tables(out)) == ["ncm"]
    assert [line.startswith("NCM") for line in err] == [True, True, False]
    assert err[-1].startswith("Failed: Vanilla: ")


@pytest.mark.parametrize("name", ["bench", "tune"])
def test_help(run, name):
    code, out, err = run(name, "--help")
    assert (code, err) == (0, [])
    assert any("--order" in line for line in out)


def test_all_groups_are_told_of(run):
    text = " ".join(run("bench", "--help")[1])
    assert all(group in text for group in ("paper", "ablation", "perceptron", "modern", "all"))
