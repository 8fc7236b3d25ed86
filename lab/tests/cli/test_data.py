"""`kenyon-lab data`: what it prints, where, and how it fails."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from kenyon_lab import cli
from kenyon_lab.data import CATALOGUE, Dataset, load
from kenyon_lab.data.features import built_path
from kenyon_lab.data.source import DATA_FOLDER
from lab.tests.cli.command import KENYON

N = 30
X = np.arange(2.0 * N).reshape(N, 2)
WORDS = np.array(["cat", "ant", "bee"])[np.arange(N) % 3]


def rows(lines):
    """What `show` says, by its names, with the lines that were wrapped put together."""
    said = {}
    for line in lines:
        found = re.match(r" (\S.*?)  +(\S.*)", line)
        if found:
            name = found[1]
            said[name] = found[2]
        elif line.startswith("  ") and line.strip():
            said[name] += f" {line.strip()}"
    return said


# Help


@pytest.mark.parametrize(
    "command", [(), ("data",), ("data", "list"), ("data", "build"), ("data", "show")]
)
def test_help(command):
    result = CliRunner().invoke(cli.app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output


@pytest.mark.parametrize("command", [(), ("data",)])
def test_no_command_at_all_shows_what_there_is(run, command):
    _, out, err = run(*command)
    assert any("data" in line for line in out + err)


# list


def listed(run):
    code, out, err = run("data", "list")
    assert (code, err) == (0, [])
    cells = [re.split(r"\s{2,}", line.strip()) for line in out]
    return {row[0]: row for row in cells if row[0] in CATALOGUE}


def test_the_list_names_every_dataset_with_its_sizes(run):
    table = listed(run)
    assert list(table) == list(CATALOGUE)
    for name, (_, _, samples, classes, tasks, what) in table.items():
        entry = CATALOGUE[name]
        assert samples == f"{entry.n_train + entry.n_test:,}"
        assert (classes, tasks) == (str(entry.n_classes), str(entry.n_tasks))
        assert what == entry.summary


def test_the_list_fits_a_terminal_and_names_are_not_cut(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("data", "list")
    assert max(map(len, out)) <= 80
    assert {line.split()[0] for line in out if line.strip()} >= set(CATALOGUE)


def test_the_list_says_where_each_dataset_would_come_from(run, tmp_path, monkeypatch):
    origin = {name: row[1] for name, row in listed(run).items()}
    assert origin["digits"] == "at hand"
    assert origin["tiny100"] == "missing"
    assert origin["mnist20-pixels"] == origin["cifar100"] == "to download"
    for name in ("mnist20", "clinc150"):
        assert origin[name] == "packaged"

    monkeypatch.setenv(DATA_FOLDER, str(tmp_path / "data"))
    for name in ("tiny100", "cifar100"):
        for source in CATALOGUE[name].sources:
            (tmp_path / "data" / source.path).parent.mkdir(parents=True)
            (tmp_path / "data" / source.path).touch()
    origin = {name: row[1] for name, row in listed(run).items()}
    assert origin["tiny100"] == "at hand"
    assert origin["cifar100"] == "to build"

    built_path("cifar100").parent.mkdir(parents=True)
    built_path("cifar100").touch()
    assert listed(run)["cifar100"][1] == "built"


# show


def test_digits_are_described_and_drawn(run, folder):
    code, out, err = run("data", "show", "digits", "--sheet", "sheet.png")
    assert (code, err) == (0, [])
    said = rows(out)
    digits = load("digits")
    assert said["what"] == CATALOGUE["digits"].summary
    assert said["train"].startswith("1,438 samples of 64 features from 0 to 16, mean ")
    assert f"{np.mean(digits.X_test == 0):.1%} zero" in said["test"]
    counts = np.bincount(digits.y_train)
    assert said["train, by class"] == f"{counts.min()} to {counts.max()} samples"
    assert said["classes"] == "10 in 5 tasks: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert said["licence"] == CATALOGUE["digits"].licence
    assert said["cite"] == CATALOGUE["digits"].citation
    assert out[-1] == "Drew sheet.png"
    picture = imread(folder / "sheet.png")[:, :, :3]
    assert picture.min() < 0.1
    assert picture.max() > 0.9


def test_the_sheet_goes_to_a_name_of_its_own(run, folder):
    assert run("data", "show", "digits")[1][-1] == "Drew digits.png"
    assert [path.name for path in folder.iterdir()] == ["digits.png"]


def test_a_sheet_may_have_any_name(run, folder):
    for name in ("[bold]sheet.png", ":bug:.png", "a b.png"):
        assert run("data", "show", "digits", "--sheet", name)[1][-1] == f"Drew {name}"
        assert (folder / name).is_file()


def test_a_table_of_ones_own(run, folder):
    table = pl.DataFrame({"size": X[:, 0], "kind": WORDS, "weight": X[:, 1]})
    table.write_csv("mine.csv")
    table.write_parquet("mine.parquet")
    for name in ("mine.csv", "mine.parquet", folder / "mine.csv"):
        code, out, err = run("data", "show", name, "--label", "kind")
        assert (code, err) == (0, [])
        said = rows(out)
        assert said["train"].startswith("24 samples of 2 features from 0 to 5")
        assert said["test, by class"] == "2 to 2 samples"
        assert said["classes"] == "3 in 3 tasks: ant, bee, cat"
        assert "cite" not in said
    assert {path.suffix for path in folder.iterdir()} == {".csv", ".parquet"}, "and no sheet"


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "f8", "u1", "i8", "u8"])
def test_numbers_of_any_type_are_described(run, dtype):
    np.savez("mine.npz", X=X.astype(dtype), y=WORDS)
    code, out, err = run("data", "show", "mine.npz")
    assert (code, err) == (0, [])
    train = load("mine.npz").X_train.astype(float)
    assert f"features from 0 to {train.max():g}, mean {train.mean():.4g}" in rows(out)["train"]


def test_names_are_shown_as_they_are(run):
    names = ["[/b]", "[red]", ":bug:", "a,b", "naïve", "100%"]
    np.savez("mine.npz", X=np.ones((60, 2)), y=np.array(names)[np.arange(60) % 6])
    code, out, err = run("data", "show", "mine.npz")
    assert (code, err) == (0, [])
    assert rows(out)["classes"] == f"6 in 6 tasks: {', '.join(sorted(names))}"


def test_of_many_names_some_are_shown(run):
    np.savez("mine.npz", X=np.ones((500, 2)), y=np.arange(500) % 50)
    said = rows(run("data", "show", "mine.npz")[1])
    assert said["classes"].startswith("50 in 10 tasks: 0, 1, 2,")
    assert said["classes"].endswith("18, 19, ...")


def test_a_class_without_samples_to_test_on_is_counted(run):
    np.savez("mine.npz", X=np.ones((21, 2)), y=np.array([0] * 20 + [1]))
    assert rows(run("data", "show", "mine.npz")[1])["test, by class"] == "0 to 4 samples"


def test_out_of_scope_samples_and_notes_are_shown(run, monkeypatch):
    y = np.arange(N) % 3
    dataset = Dataset("small", X, y, X, y, ("a", "b", "c"), 3, X_out_of_scope=X[:7])
    sizes = {"n_train": N, "n_test": N, "n_out_of_scope": 7, "n_features": 2, "n_classes": 3}
    entry = replace(CATALOGUE["tiny100"], name="small", read=lambda entry: dataset, **sizes)
    monkeypatch.setitem(CATALOGUE, "small", entry)
    said = rows(run("data", "show", "small")[1])
    assert said["out of scope"].startswith("7 samples of 2 features from 0 to 13, mean 6.5, ")
    assert said["note"] == entry.note


# build


def test_what_needs_no_encoder_is_read_as_it_is(run, folder):
    code, out, err = run("data", "build", "digits")
    assert (code, err) == (0, [])
    assert out == [f"{load('digits')}: read as it is, nothing to build."]
    assert list(folder.iterdir()) == []


# What goes wrong


FAILURES = {
    "an unknown dataset": (("show", "nothing"), "name must be one of mnist20, .* got 'nothing'"),
    "a missing file": (("show", "mine.csv"), "there is no file mine.csv"),
    "data that is missing": (("show", "tiny100"), "tiny100/.* is missing: .*KENYON_DATA_DIR"),
    "features not built": (("show", "cifar100"), "`kenyon-lab data build cifar100` makes it"),
    "a label for a dataset": (("show", "digits", "--label", "x"), "label is for files of your own"),
    "no folder for the sheet": (
        ("show", "digits", "--sheet", "nowhere/x.png"),
        "could not be written: .*nowhere/x.png",
    ),
    "an unknown one to build": (("build", "nothing"), "NAME must be one of mnist20, .*'nothing'"),
    "a file to build": (("build", "mine.csv"), "NAME must be one of mnist20, .*'mine.csv'"),
    "one to build that is missing": (("build", "tiny100"), "tiny100/.* is missing"),
}


@pytest.mark.parametrize(("arguments", "sentence"), FAILURES.values(), ids=FAILURES.keys())
def test_what_goes_wrong_is_one_line_and_exit_code_2(run, arguments, sentence):
    code, _, err = run("data", *arguments)
    assert code == 2
    assert len(err) == 1
    assert re.match(f"Error: .*{sentence}", err[0])


FILES = {
    "no table": b"\xff\xfe",
    "ragged": b"a,label\n" + b"1,2,3\n" * 9,
    "words": b"a,label\n" + b"x,1\ny,2\n" * 9,
    "without rows": b"a,label\n",
    "without labels": b"a,b\n1,2\n",
    "huge": b"a,label\n" + b"1,99999999999999999999\n2,3\n" * 9,
    "empty": b"",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES.keys())
def test_files_that_cannot_be_read_are_one_line_and_exit_code_2(run, folder, content):
    (folder / "mine.csv").write_bytes(content)
    code, out, err = run("data", "show", "mine.csv")
    assert (code, out, len(err)) == (2, [], 1)
    assert "mine.csv" in err[0]


def test_an_npz_file_that_cannot_be_read_is_one_line_and_exit_code_2(run, folder):
    np.savez("mine.npz", X=X, y=WORDS.astype(object))
    whole = (folder / "mine.npz").read_bytes()
    for content in (whole, whole[:-30], b"", b"PK"):
        (folder / "mine.npz").write_bytes(content)
        code, out, err = run("data", "show", "mine.npz")
        assert (code, out, len(err)) == (2, [], 1)
        assert err[0].startswith("Error: mine.npz is damaged")


def test_a_sheet_of_features_is_refused(run, folder):
    np.savez("mine.npz", X=X, y=WORDS)
    code, _, err = run("data", "show", "mine.npz", "--sheet", "x.png")
    assert (code, err) == (2, ["Error: --sheet needs images; mine.npz holds features"])
    assert not (folder / "x.png").exists()


@pytest.mark.parametrize(
    "arguments", [("data", "build"), ("data", "show"), ("data", "sho"), ("data", "list", "x")]
)
def test_wrong_usage_is_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, [])
    assert err


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5"])
def test_threads_that_cannot_be(run, threads):
    code, _, err = run("data", "build", "cifar100", "--threads", threads)
    assert code == 2
    assert any("--threads" in line for line in err)


def test_brackets_in_an_error_are_shown_as_they_are(run):
    assert run("data", "show", "[red]x[/b].csv")[2] == ["Error: there is no file [red]x[/b].csv"]


# In a process of its own


def test_without_torch_it_is_said_how_to_get_it_in_one_line_without_colours(tmp_path):
    (tmp_path / "fake" / "torch").mkdir(parents=True)
    (tmp_path / "fake" / "torch" / "__init__.py").write_text("raise ImportError('no torch here')")
    path = os.pathsep.join([str(tmp_path / "fake"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)}
    command = [*KENYON, "data", "build", "cifar100"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(
        r"Error: .*PyTorch.* pip install 'kenyon-lab\[torch\]'\.?\n", result.stderr
    ), result.stderr


def test_no_colour_in_a_terminal_that_wants_none():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"}
    process = subprocess.Popen([*KENYON, "data", "list"], env=environment, stdout=theirs)
    os.close(theirs)
    said = b"".join(read_all(ours)).decode()
    assert process.wait() == 0
    assert "mnist20-pixels" in said
    codes = {code for codes in re.findall(r"\x1b\[([\d;]*)m", said) for code in codes.split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4"}, "bold and the like, but no colours"


def read_all(terminal):
    """Yield what is written to a terminal until nobody holds it any more."""
    with os.fdopen(terminal, "rb", buffering=0) as file, suppress(OSError):
        while chunk := file.read(4096):
            yield chunk


def test_without_matplotlib_all_but_the_sheet_is_shown(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("data", "show", "digits")
    assert code == 0
    assert rows(out)["licence"]
    assert err == [
        "No contact sheet: the contact sheet is drawn by matplotlib, which is not installed: "
        "pip install 'kenyon-lab[figures]'"
    ]
    code, _, err = run("data", "show", "digits", "--sheet", "digits.png")
    assert (code, len(err)) == (2, 1)
    assert not (folder / "digits.png").exists()


def test_a_model_is_for_text_only(run):
    code, _, err = run("data", "build", "mnist20", "--model", "somewhere")
    assert code == 2
    assert err == ["Error: --model is for datasets of text; got 'somewhere' for mnist20"]
