"""The installed program, run as a user runs it."""

import json

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from tests.cli.command import start

X, Y = load_digits(return_X_y=True)


@pytest.fixture
def shards(tmp_path):
    paths = [tmp_path / f"shard{i}.kenyon" for i in range(3)]
    for i, path in enumerate(paths):
        FlyClassifier(n_cells=400, readout="fly").fit(X[i:300:3], Y[i:300:3]).save(path)
    return paths


def test_help_lists_the_commands():
    code, out, _ = start("--help")
    assert code == 0
    assert all(command in out for command in ("show", "merge", "rename", "drop"))


def test_show_merge_rename_drop(shards, tmp_path):
    merged = tmp_path / "merged.kenyon"
    whole = FlyClassifier(n_cells=400, readout="fly").fit(X[:300], Y[:300])

    assert start("merge", merged, *shards) == (
        0,
        f"Wrote {merged}: 10 classes, 300 samples.\n",
        "",
    )
    model = kenyon.load(merged)
    assert_array_equal(model.decision_function(X), whole.decision_function(X), strict=True)

    assert start("rename", merged, "3", "33")[0] == 0
    assert kenyon.load(merged).classes_.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9, 33]

    assert start("drop", merged, "33", "--output", tmp_path / "less.kenyon")[0] == 0
    assert 33 in kenyon.load(merged).classes_
    less = kenyon.load(tmp_path / "less.kenyon")
    assert_array_equal(less.predict(X), whole.drop_class(3).predict(X), strict=True)

    code, out, err = start("show", merged, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["n_samples"] == 300


def test_an_error_is_one_sentence_and_exit_code_2(tmp_path):
    path = tmp_path / "none.kenyon"
    assert start("show", path) == (2, "", f"Error: there is no file {path}\n")
