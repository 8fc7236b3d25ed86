"""What `kenyon-lab bench` and `kenyon-lab tune` refuse, each time in one line."""

import re

import pytest

FAILURES = {
    "an unknown dataset": (("nothing",), "name must be one of mnist20, .* got 'nothing'"),
    "a missing file": (("mine.npz",), "there is no file mine.npz"),
    "an unknown method": (
        ("digits", "--methods", "fly,flies"),
        "--methods must be one of 'fly', .*'all', but is 'flies'",
    ),
    "no method": (("digits", "--methods", ""), "--methods must be one of .*, but is ''"),
    "an unknown order": (
        ("digits", "--methods", "ncm", "--order", "random"),
        "--order must be one of 'shuffled', 'classes', but is 'random'",
    ),
    "too many tasks": (
        ("digits", "--methods", "ncm", "--tasks", 11),
        r"n_tasks must be from 1 to 10 \(the number of classes\), but is 11",
    ),
    "no tasks": (("digits", "--methods", "ncm", "--tasks", 0), "n_tasks must be from 1 to 10"),
    "a label for a dataset": (
        ("digits", "--methods", "ncm", "--label", "x"),
        "label must be None for the dataset digits; got 'x'",
    ),
    "a setting of no method": (
        ("digits", "--methods", "ncm", "--set", "x=3"),
        "--set must be METHOD.NAME=VALUE, but is 'x=3'",
    ),
    "a setting of no value": (
        ("digits", "--methods", "ncm", "--set", "ncm.x"),
        "--set must be METHOD.NAME=VALUE, but is 'ncm.x'",
    ),
    "a setting of a method that is not run": (
        ("digits", "--methods", "ncm", "--set", "fly.n_cells=3"),
        "--set is for methods that are run; fly is not",
    ),
    "an unknown parameter": (
        ("digits", "--methods", "slda", "--set", "slda.x=3"),
        "slda has no parameter 'x'; it has .*shrinkage",
    ),
    "what a method is by definition": (
        ("digits", "--methods", "perceptron-v1", "--set", "perceptron-v1.rule=2"),
        "rule of perceptron-v1 is 1 by definition, but came as 2",
    ),
    "a seed for one method": (
        ("digits", "--methods", "ncm", "--set", "ncm.seed=2"),
        "seed is the same for all methods, but was given for ncm",
    ),
    "a file for a store": (("digits", "--methods", "ncm", "--store", "a file"), ".*a file"),
}


@pytest.mark.parametrize(("arguments", "sentence"), FAILURES.values(), ids=FAILURES.keys())
def test_what_goes_wrong_is_one_line_and_exit_code_2(run, folder, arguments, sentence):
    (folder / "a file").touch()
    code, out, err = run("bench", *arguments)
    assert (code, out, len(err)) == (2, [], 1)
    assert re.fullmatch(f"Error: .*{sentence}.*", err[0])


TUNE_FAILURES = {
    "an unknown method": (("digits", "--method", "x"), "--method must be one of 'fly', .* is 'x'"),
    "a group": (("digits", "--method", "all"), "--method must be one of 'fly', .* is 'all'"),
    "nothing to tune": (("digits", "--method", "ncm"), "ncm has no parameters to tune"),
    "an unknown order": (("digits", "--method", "slda", "--order", "x"), "--order must be one of"),
    "what is searched": (
        ("digits", "--method", "slda", "--set", "slda.shrinkage=0.1"),
        "shrinkage of slda is searched, but was given",
    ),
    "a setting of another method": (
        ("digits", "--method", "slda", "--set", "fly.n_cells=3"),
        "--set is for methods that are run; fly is not",
    ),
}


@pytest.mark.parametrize(
    ("arguments", "sentence"), TUNE_FAILURES.values(), ids=TUNE_FAILURES.keys()
)
def test_what_goes_wrong_in_tuning_is_one_line_and_exit_code_2(run, arguments, sentence):
    code, out, err = run("tune", *arguments)
    assert (code, out, len(err)) == (2, [], 1)
    assert re.fullmatch(f"Error: {sentence}.*", err[0])


@pytest.mark.parametrize("name", ["runs", "searches"])
def test_a_damaged_file_of_the_store_is_named(run, here, mine, grid, folder, name):
    grid(0.1, 0.01)
    run("tune", "mine.npz", "--method", "fly")
    arguments = ("bench", "mine.npz", "--methods", "fly", "--tuned")
    run(*arguments)
    for path in (folder / "results" / name).rglob("*.json"):
        path.write_text(path.read_text()[:30])
    code, out, err = run(*arguments)
    assert (code, out, len(err)) == (2, [], 1)
    assert re.match(rf"Error: results/{name}/\S*\.json is not the record of ", err[0])


@pytest.mark.parametrize(
    "arguments",
    [
        ("bench",),
        ("tune", "digits"),
        ("bench", "digits", "--seeds", "0"),
        ("bench", "digits", "--jobs", "none"),
        ("bench", "digits", "--colour", "red"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, [])
    assert err
