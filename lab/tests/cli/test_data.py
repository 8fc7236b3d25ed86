"""`kenyon-lab data`: output and errors."""

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
from kenyon_lab.data import DATASETS, Dataset, load
from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.features import built_path
from kenyon_lab.data.source import DATA_FOLDER
from lab.tests.cli.command import KENYON
from lab.tests.data.samples import WORDS, N, X


def rows(lines):
    """The rows of `show` by name, with wrapped lines joined."""
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
def test_no_command(run, command):
    _, out, err = run(*command)
    assert any("data" in line for line in out + err)


# list


def listed(run):
    code, out, err = run("data", "list")
    assert (code, err) == (0, [])
    cells = [re.split(r"\s{2,}", line.strip()) for line in out]
    return {row[0]: row for row in cells if row[0] in DATASETS}


def test_list_shows_every_dataset(run):
    table = listed(run)
    assert list(table) == list(DATASETS)
    for name, (_, _, samples, classes, tasks, what) in table.items():
        info = DATASETS[name]
        assert samples == f"{info.n_train + info.n_test:,}"
        assert (classes, tasks) == (str(info.n_classes), str(info.n_tasks))
        assert what == info.summary


def test_list_fits_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("data", "list")
    assert max(map(len, out)) <= 80
    assert {line.split()[0] for line in out if line.strip()} >= set(DATASETS)


def test_list_shows_status(run, tmp_path, monkeypatch):
    origin = {name: row[1] for name, row in listed(run).items()}
    assert origin["digits"] == "local"
    assert origin["tiny100"] == origin["cifar100-resnet50"] == "missing"
    assert origin["mnist20-pixels"] == origin["cifar100"] == "to download"
    for name in ("mnist20", "clinc150"):
        assert origin[name] == "packaged"

    monkeypatch.setenv(DATA_FOLDER, str(tmp_path / "data"))
    for name in ("tiny100", "cifar100"):
        for source in DATASETS[name].sources:
            (tmp_path / "data" / source.path).parent.mkdir(parents=True)
            (tmp_path / "data" / source.path).touch()
    origin = {name: row[1] for name, row in listed(run).items()}
    assert origin["tiny100"] == "local"
    assert origin["cifar100"] == "to build"
    assert origin["cifar100-resnet18"] == "to download"
    (tmp_path / "data" / IMAGES.path).unlink()
    assert listed(run)["cifar100"][1] == "to download"
    (tmp_path / "data" / "cifar100" / "train").mkdir()
    assert listed(run)["cifar100"][1] == "to build", "from image files"

    built_path("cifar100").parent.mkdir(parents=True)
    built_path("cifar100").touch()
    assert listed(run)["cifar100"][1] == "built"


# show


def test_show_digits(run, folder):
    code, out, err = run("data", "show", "digits", "--contact-sheet", "sheet.png")
    assert (code, err) == (0, [])
    said = rows(out)
    digits = load("digits")
    assert said["summary"] == DATASETS["digits"].summary
    assert said["train"].startswith("1,438 samples of 64 features from 0 to 16, mean ")
    assert f"{np.mean(digits.X_test == 0):.1%} zero" in said["test"]
    counts = np.bincount(digits.y_train)
    assert said["train, by class"] == f"{counts.min()} to {counts.max()} samples"
    assert said["classes"] == "10 in 5 tasks: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert said["licence"] == DATASETS["digits"].licence
    assert said["cite"] == DATASETS["digits"].citation
    assert out[-1] == "Drew sheet.png"
    picture = imread(folder / "sheet.png")[:, :, :3]
    assert picture.min() < 0.1
    assert picture.max() > 0.9


def test_default_path_of_contact_sheet(run, folder):
    assert run("data", "show", "digits")[1][-1] == "Drew digits.png"
    assert [path.name for path in folder.iterdir()] == ["digits.png"]


def test_any_path_of_contact_sheet(run, folder):
    for name in ("[bold]sheet.png", ":bug:.png", "a b.png"):
        assert run("data", "show", "digits", "--contact-sheet", name)[1][-1] == f"Drew {name}"
        assert (folder / name).is_file()


def test_show_table(run, folder):
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
def test_show_numeric_dtypes(run, dtype):
    np.savez("mine.npz", X=X.astype(dtype), y=WORDS)
    code, out, err = run("data", "show", "mine.npz")
    assert (code, err) == (0, [])
    train = load("mine.npz").X_train.astype(float)
    assert f"features from 0 to {train.max():g}, mean {train.mean():.4g}" in rows(out)["train"]


def test_names_are_printed_verbatim(run):
    names = ["[/b]", "[red]", ":bug:", "a,b", "naïve", "100%"]
    np.savez("mine.npz", X=np.ones((60, 2)), y=np.array(names)[np.arange(60) % 6])
    code, out, err = run("data", "show", "mine.npz")
    assert (code, err) == (0, [])
    assert rows(out)["classes"] == f"6 in 6 tasks: {', '.join(sorted(names))}"


def test_many_class_names(run):
    np.savez("mine.npz", X=np.ones((500, 2)), y=np.arange(500) % 50)
    said = rows(run("data", "show", "mine.npz")[1])
    assert said["classes"].startswith("50 in 10 tasks: 0, 1, 2,")
    assert said["classes"].endswith("18, 19, ...")


def test_class_without_test_samples(run):
    np.savez("mine.npz", X=np.ones((21, 2)), y=np.array([0] * 20 + [1]))
    assert rows(run("data", "show", "mine.npz")[1])["test, by class"] == "0 to 4 samples"


def test_show_out_of_scope_and_note(run, monkeypatch):
    y = np.arange(N) % 3
    dataset = Dataset("small", X, y, X, y, ("a", "b", "c"), 3, X_out_of_scope=X[:7])
    sizes = {"n_train": N, "n_test": N, "n_out_of_scope": 7, "n_features": 2, "n_classes": 3}
    info = replace(DATASETS["tiny100"], name="small", read=lambda info: dataset, **sizes)
    monkeypatch.setitem(DATASETS, "small", info)
    said = rows(run("data", "show", "small")[1])
    assert said["out of scope"].startswith("7 samples of 2 features from 0 to 13, mean 6.5, ")
    assert said["note"] == info.note


# build


def test_build_without_encoder(run, folder):
    code, out, err = run("data", "build", "digits")
    assert (code, err) == (0, [])
    assert out == [f"{load('digits')}: has no encoder, nothing to build."]
    assert list(folder.iterdir()) == []


# Errors


FAILURES = {
    "an unknown dataset": (("show", "nothing"), "name must be one of mnist20, .* got 'nothing'"),
    "a missing file": (("show", "mine.csv"), "there is no file mine.csv"),
    "data that is missing": (("show", "tiny100"), "tiny100/.* is missing: .*KENYON_DATA_DIR"),
    "features not built": (("show", "cifar100"), "`kenyon-lab data build cifar100` writes it"),
    "a label for a dataset": (
        ("show", "digits", "--label", "x"),
        "label must be None",
    ),
    "no folder for the sheet": (
        ("show", "digits", "--contact-sheet", "nowhere/x.png"),
        "nowhere/x.png could not be written: No such file or directory$",
    ),
    "an unknown one to build": (("build", "nothing"), "NAME must be one of mnist20, .*'nothing'"),
    "a file to build": (("build", "mine.csv"), "NAME must be one of mnist20, .*'mine.csv'"),
    "one to build that is missing": (("build", "tiny100"), "tiny100/.* is missing"),
}


@pytest.mark.parametrize(("arguments", "sentence"), FAILURES.values(), ids=FAILURES.keys())
def test_errors(run, arguments, sentence):
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
def test_invalid_csv_files(run, folder, content):
    (folder / "mine.csv").write_bytes(content)
    code, out, err = run("data", "show", "mine.csv")
    assert (code, out, len(err)) == (2, [], 1)
    assert "mine.csv" in err[0]


def test_invalid_npz_files(run, folder):
    np.savez("mine.npz", X=X, y=WORDS.astype(object))
    whole = (folder / "mine.npz").read_bytes()
    for content in (whole, whole[:-30], b"", b"PK"):
        (folder / "mine.npz").write_bytes(content)
        code, out, err = run("data", "show", "mine.npz")
        assert (code, out, len(err)) == (2, [], 1)
        assert err[0].startswith("Error: mine.npz is damaged")


def test_rejects_contact_sheet_of_features(run, folder):
    np.savez("mine.npz", X=X, y=WORDS)
    code, _, err = run("data", "show", "mine.npz", "--contact-sheet", "x.png")
    assert (code, err) == (2, ["Error: --contact-sheet needs images; mine.npz holds features"])
    assert not (folder / "x.png").exists()


@pytest.mark.parametrize(
    "arguments", [("data", "build"), ("data", "show"), ("data", "sho"), ("data", "list", "x")]
)
def test_usage_errors(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, [])
    assert err


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5"])
def test_rejects_invalid_threads(run, threads):
    code, _, err = run("data", "build", "cifar100", "--threads", threads)
    assert code == 2
    assert any("--threads" in line for line in err)


def test_errors_are_printed_verbatim(run):
    assert run("data", "show", "[red]x[/b].csv")[2] == ["Error: there is no file [red]x[/b].csv"]


# In a separate process


def test_error_without_torch(tmp_path):
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


def test_no_color():
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
    """Yield the output of a terminal until it is closed."""
    with os.fdopen(terminal, "rb", buffering=0) as file, suppress(OSError):
        while chunk := file.read(4096):
            yield chunk


def test_show_without_matplotlib(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("data", "show", "digits")
    assert code == 0
    assert rows(out)["licence"]
    assert err == [
        "No contact sheet: a contact sheet needs matplotlib, which is not installed: "
        "pip install 'kenyon-lab[figures]'"
    ]
    code, _, err = run("data", "show", "digits", "--contact-sheet", "digits.png")
    assert (code, len(err)) == (2, 1)
    assert not (folder / "digits.png").exists()


def test_model_is_for_text_only(run):
    code, _, err = run("data", "build", "mnist20", "--model", "somewhere")
    assert code == 2
    assert err == ["Error: --model is for datasets of text; got 'somewhere' for mnist20"]
