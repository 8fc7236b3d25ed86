"""The installed program, run as a user runs it."""

import json
import os
import subprocess
import sys

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from tests.cli.command import call, shell, start

X, Y = load_digits(return_X_y=True)


@pytest.fixture
def shards(tmp_path):
    paths = [tmp_path / f"shard{i}.kenyon" for i in range(3)]
    for i, path in enumerate(paths):
        FlyClassifier(n_cells=400, readout="fly").fit(X[i:300:3], Y[i:300:3]).save(path)
    return paths


COMMANDS = "learn", "predict", "ask", "teach", "unlearn", "show", "merge", "rename", "drop"
HEAVY = "torch", "sentence_transformers", "model2vec", "polars", "PIL", "tqdm", "jinja2"


def test_help_lists_the_commands():
    for arguments in (["--help"], []):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        assert all(f"\n  {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_options(command):
    code, out, _ = call(command, "--help")
    assert code == 0
    examples = out[out.index("  Examples:\n") :].splitlines()[1:]
    assert len(examples) >= 2
    assert all(f"kenyon {command} " in example for example in examples)
    assert "--json" in out


def test_version():
    assert call("--version") == (0, f"kenyon {kenyon.__version__}\n", "")


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_completion(name, tmp_path):
    script = start(env={**os.environ, "_KENYON_COMPLETE": f"source_{name}"})[1]
    assert "_KENYON_COMPLETE=complete_" in script
    if name == "bash":
        code, out, err = shell(f"source /dev/stdin <<'END'\n{script}\nEND\ncomplete -p", tmp_path)
        assert (code, err) == (0, "")
        assert "kenyon" in out
    words = {"COMP_WORDS": "kenyon un", "COMP_CWORD": "1"}
    words |= {"_TYPER_COMPLETE_ARGS": "kenyon un", "_KENYON_COMPLETE": f"complete_{name}"}
    code, out, _ = start(env={**os.environ, **words})
    assert code == 0
    assert "unlearn" in out


@pytest.mark.parametrize(
    ("command", "heavy"),
    [("show", HEAVY), ("--help", (*HEAVY, "sklearn", "scipy")), ("--version", ("sklearn",))],
)
def test_commands_import_only_what_they_need(command, heavy, shards):
    script = (
        "import sys; from kenyon.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    arguments = [command, shards[0]] if command == "show" else [command]
    process = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0
    assert not {*process.stderr.split()} & {*heavy}


def test_names_of_the_package_are_imported_when_they_are_used():
    assert {*kenyon.__all__, "encoders", "pipeline"} <= {*dir(kenyon)}
    assert all(hasattr(kenyon, name) for name in kenyon.__all__)
    # In a new process: here the modules have been imported.
    script = "import kenyon; kenyon.encoders.TextEncoder; kenyon.pipeline.Pipeline"
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match=r"^module 'kenyon' has no attribute 'nonesuch'$"):
        _ = kenyon.nonesuch


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
    assert json.loads(out)["digest"] in call("show", merged)[1]


def test_an_error_is_one_sentence_and_exit_code_2(tmp_path):
    path = tmp_path / "none.kenyon"
    assert start("show", path) == (2, "", f"Error: there is no file {path}\n")
