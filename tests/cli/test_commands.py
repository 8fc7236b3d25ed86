"""Each command and each of its errors, in this process."""

import json
import sys
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from kenyon.model_file import VERSION
from tests.cli.command import assert_error, call

X, Y = load_digits(return_X_y=True)
GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def saved(path, labels, **parameters):
    FlyClassifier(**{"n_cells": 100, **parameters}).fit(X[: len(labels)], labels).save(path)
    return path


@pytest.fixture
def path(tmp_path):
    return saved(tmp_path / "model.kenyon", [0, 1, 2, 0])


def header(path):
    """Return the metadata of a file, with the digest of all that it holds."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata()


def test_show_json(path):
    model = kenyon.load(path)
    code, out, _ = call("show", path, "--json")
    assert code == 0
    content = json.loads(out)
    readout = {"readout": content["readout"]}
    assert {**content["parameters"], **readout} == model.get_params()
    assert content["format_version"] == VERSION
    assert content["circuit"]["n_features"] == 64
    assert content["circuit"]["n_cells"] == 100
    assert content["nbytes"] == model.nbytes
    assert content["n_samples"] == 4
    assert content["classes"] == [
        {"label": 0, "samples": 2},
        {"label": 1, "samples": 1},
        {"label": 2, "samples": 1},
    ]


def test_show_names_the_format_version_of_the_file():
    assert json.loads(call("show", GOLDEN / "golden-v1.kenyon", "--json")[1])["format_version"] == 1


def test_show_prints_labels_with_brackets(tmp_path):
    path = saved(tmp_path / "model.kenyon", ["[red]", "plain"], readout="bayes")
    code, out, _ = call("show", path)
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["[red]", "1"] in rows
    assert ["readout", "bayes"] in rows


def test_show_prints_a_model_without_classes(path):
    kenyon.load(path).drop_class(0).drop_class(1).drop_class(2).save(path)
    code, out, _ = call("show", path)
    assert code == 0
    assert ["classes", "0"] in [line.split() for line in out.splitlines()]


@pytest.mark.parametrize(
    ("labels", "old", "new", "expected"),
    [
        ([0, 1], "1", "5", [0, 5]),
        ([0, 1], "1", "-5", [-5, 0]),
        ([-1, 1], "-1", "0", [0, 1]),
        ([0.0, 1.0], "1", "2.0", [0.0, 2.0]),
        ([False, True], "True", "False", "exists already"),
        ([False, True], "True", "0.0", "but False and 0 are mixed"),
        (["1", "2"], "1", "3", ["2", "3"]),
        (["a b", "-c"], "-c", "--d", ["--d", "a b"]),
    ],
)
def test_labels_have_the_type_of_the_model(labels, old, new, expected, tmp_path):
    path = saved(tmp_path / "model.kenyon", labels)
    result = call("rename", path, old, new)
    if isinstance(expected, str):
        assert_error(result, expected)
    else:
        assert result[0] == 0
        assert kenyon.load(path).classes_.tolist() == expected


def test_drop_in_place_keeps_no_other_file(path):
    assert call("drop", path, "1")[0] == 0
    assert kenyon.load(path).classes_.tolist() == [0, 2]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("command", [("rename", "1", "7"), ("drop", "1")])
def test_output_leaves_the_model_unchanged(command, path, tmp_path):
    before, other = path.read_bytes(), tmp_path / "other.kenyon"
    assert call(command[0], path, *command[1:], "--output", other)[0] == 0
    assert path.read_bytes() == before
    assert 1 not in kenyon.load(other).classes_


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("rename", "5", "6"), "the label 5 has not been learned"),
        (("rename", "0", "1"), "the label 1 exists already"),
        (("rename", "0", "zero"), "mixed"),
        (("drop", "zero"), "the label 'zero' has not been learned"),
        (("drop", "0", "--output", "/none/x.kenyon"), "Error: /none/x.kenyon could not be written"),
    ],
)
def test_a_refused_edit_changes_nothing(command, message, path):
    before = path.read_bytes()
    assert_error(call(command[0], path, *command[1:]), message)
    assert path.read_bytes() == before


def test_a_wrong_command_is_a_usage_error():
    assert_error(call("sho"), "Error: No such command 'sho'")
    assert_error(call("show"), "Error: Missing argument 'MODEL'")


@pytest.mark.parametrize("missing", ["rich", "typer"])
def test_without_the_extra_the_error_names_it(missing, monkeypatch):
    monkeypatch.delitem(sys.modules, "kenyon.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    sentence = "The command line needs typer and rich: pip install 'kenyon[cli]'\n"
    assert call("show", "model.kenyon") == (2, "", sentence)


def test_without_polars_the_error_names_it(tmp_path, monkeypatch):
    table = tmp_path / "table.csv"
    table.write_text("text,label\na,b\n")
    for name in [name for name in sys.modules if name.startswith("kenyon.cli.tables")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "polars", None)
    result = call("learn", tmp_path / "m.kenyon", table)
    assert_error(result, "this command needs polars: pip install 'kenyon[cli]'")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "there is not enough memory"),
        (ImportError("TextEncoder needs\nnonesuch"), "TextEncoder needs nonesuch"),
        (OverflowError("too many"), "too many"),
    ],
)
def test_errors_are_one_sentence(error, message, path, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("kenyon.pipeline.load_unchecked", fail)
    assert_error(call("show", path), f"Error: {message}\n")


def test_warnings_are_one_sentence(path, monkeypatch):
    load = kenyon.pipeline.load_unchecked

    def warn(path):
        warnings.warn("it was\nwritten", RuntimeWarning, stacklevel=2)
        return load(path)

    monkeypatch.setattr("kenyon.pipeline.load_unchecked", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = call("show", path)
    assert (code, err) == (0, "Warning: it was written\n")


def test_show_refuses_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "text.kenyon"
    path.write_text("no model")
    assert_error(call("show", path), "is not a Kenyon model")


def test_merge_refuses_another_circuit_and_names_the_file(path, tmp_path):
    other = saved(tmp_path / "other.kenyon", [0, 1], n_cells=50)
    result = call("merge", tmp_path / "out.kenyon", path, other)
    assert_error(result, f"{other} cannot be merged into {path}: ")
    assert not (tmp_path / "out.kenyon").exists()


def test_merge_refuses_decay(tmp_path):
    path = saved(tmp_path / "model.kenyon", [0, 1], learning_rate=0.1, decay=0.01)
    assert_error(call("merge", tmp_path / "out.kenyon", path, path), "decay")


def test_merge_replaces_only_a_model_that_it_reads(path, tmp_path):
    other = saved(tmp_path / "other.kenyon", [3, 4])
    out = saved(tmp_path / "out.kenyon", [9, 8])
    before = out.read_bytes()
    assert_error(call("merge", out, path, other), f"{out} exists")
    assert out.read_bytes() == before
    assert call("merge", "--force", out, path, other)[0] == 0
    assert call("merge", path, path, other)[0] == 0
    assert header(path) == header(out)


def test_merge_of_one_model_is_a_copy(path, tmp_path):
    # The pattern shard-*.kenyon may find a single file.
    copy = tmp_path / "copy.kenyon"
    assert call("merge", copy, path)[0] == 0
    assert header(copy) == header(path)
    code, out, err = call("merge", copy)
    assert (code, out) == (2, "")
    assert "Missing argument" in err


@given(
    labels=st.lists(st.integers(0, 4), min_size=6, max_size=40),
    cuts=st.lists(st.integers(1, 39), min_size=1, max_size=3, unique=True),
    readout=st.sampled_from(["fly", "bayes", "ridge"]),
)
@settings(max_examples=20, deadline=None)
def test_merged_shards_equal_one_model(labels, cuts, readout):
    bounds = [0, *sorted({min(cut, len(labels) - 1) for cut in cuts}), len(labels)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parameters = {"n_cells": 60, "readout": readout}
        whole = FlyClassifier(**parameters).fit(X[: len(labels)], labels)
        whole.save(folder / "whole.kenyon")
        shards = []
        for start, stop in pairwise(bounds):
            shards.append(folder / f"shard{start}.kenyon")
            FlyClassifier(**parameters).fit(X[start:stop], labels[start:stop]).save(shards[-1])
        assert call("merge", folder / "merged.kenyon", *shards)[0] == 0
        assert header(folder / "merged.kenyon") == header(folder / "whole.kenyon")
