"""The commands in a shell, on real files."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

import kenyon
from tests.cli.command import shell
from tests.cli.samples import digit_columns, digits, write_digits, write_texts

TRAINED = 1200


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with digits as tables and as images."""
    folder = tmp_path_factory.mktemp("shell")
    X, y = digits()
    write_digits(folder / "train.csv", X[:TRAINED], y[:TRAINED])
    frame = pl.DataFrame(X[TRAINED:], schema=digit_columns()).with_columns(digit=y[TRAINED:])
    frame.write_parquet(folder / "test.parquet")
    np.savez(folder / "train.npz", X=X[:TRAINED], y=y[:TRAINED])
    for i in range(200):
        image = folder / "images" / str(y[i]) / f"{i}.png"
        image.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((X[i].reshape(8, 8) * 15).astype(np.uint8)).save(image)
    return folder


@pytest.fixture(scope="module")
def clinc(tmp_path_factory):
    """A folder with the texts of CLINC150 as CSV."""
    data = os.environ.get("KENYON_DATA_DIR")
    path = Path(data or "none", "clinc150", "data_full.json")
    if not path.exists():
        pytest.skip("needs CLINC150 in KENYON_DATA_DIR")
    folder = tmp_path_factory.mktemp("clinc150")
    splits = json.loads(path.read_text())
    for name in ("train", "test"):
        write_texts(folder / f"{name}.csv", splits[name], ("question", "intent"))
    return folder


def run(script, folder):
    code, out, err = shell(script, folder)
    assert code == 0, err
    return out


def test_texts_of_clinc150(clinc):
    columns = "--text question --label intent"
    run(
        f"""set -e
        kenyon learn intents.kenyon train.csv {columns} --encoder hashing --set n_cells=1000
        kenyon predict intents.kenyon test.csv --text question --top 3 --unknown '?' -o answers.csv
        head -n 1001 train.csv > erase.csv  # all queries of ten intents
        kenyon evaluate intents.kenyon test.csv {columns} --html page.html --json > measured.json
        cp intents.kenyon less.kenyon
        kenyon unlearn less.kenyon erase.csv {columns}
        """,
        clinc,
    )
    answers = pl.read_csv(clinc / "answers.csv")
    assert len(answers) == 4500
    first, second = (answers["intent"] == answers[name] for name in ("predicted", "predicted_2"))
    assert first.mean() > 0.7
    assert (first | second).mean() > first.mean()
    assert (answers["predicted"] == "?").mean() < 0.1
    measured = json.loads((clinc / "measured.json").read_text())
    assert (measured["rows"], measured["bad_rows"]) == (4500, 0)
    # Some right answers are not given, because they count as unknown.
    assert first.mean() <= measured["accuracy"]["value"] < first.mean() + 0.1
    assert "<svg" in (clinc / "page.html").read_text()
    answer = json.loads(run("kenyon ask intents.kenyon 'where is my package' --why --json", clinc))
    assert len(answer["why"]["words"]) == 4
    show = json.loads(run("kenyon show less.kenyon --json", clinc))
    assert (show["n_samples"], len(show["classes"])) == (14000, 140)


def test_digits_as_tables(folder):
    run(
        """set -e
        kenyon learn digits.kenyon train.csv --features 'pixel*' --label digit --set n_cells=500
        kenyon predict digits.kenyon test.parquet -o answers.arrow
        """,
        folder,
    )
    answers = pl.read_ipc(folder / "answers.arrow")
    assert (answers["digit"].cast(pl.String) == answers["predicted"]).mean() > 0.9
    # Through pipes: rows in, rows out, and other tools between them.
    out = run(
        "head -n 31 train.csv | kenyon predict digits.kenyon - | cut -d, -f 65-67 | head -n 11",
        folder,
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 10
    assert sum(row["digit"] == row["predicted"] for row in rows) >= 8


def test_digits_as_arrays_and_images(folder):
    out = run(
        """set -e
        kenyon learn arrays.kenyon train.npz --set readout=bayes --json
        kenyon learn images.kenyon images/ --encoder pixels --set n_cells=500 --json
        kenyon predict images.kenyon images/ --json > answers.jsonl
        """,
        folder,
    )
    arrays, images = map(json.loads, out.splitlines())
    assert (arrays["rows"], images["rows"]) == (TRAINED, 200)
    assert images["encoder"]["kind"] == "image"
    answers = pl.read_ndjson(folder / "answers.jsonl")
    labels = answers["file"].str.extract(r"images/(\d)/")
    assert (labels == answers["predicted"]).mean() > 0.95
    assert kenyon.load(folder / "arrays.kenyon").readout_ == "bayes"


def test_a_bad_file_is_one_sentence(tmp_path):
    (tmp_path / "bad.csv").write_text("text,label\na,b\nonly one\n")
    code, out, err = shell("kenyon learn m.kenyon bad.csv --encoder hashing", tmp_path)
    assert (code, out) == (2, "")
    said, error = err.splitlines()
    assert said == "Encoder: hashing"
    assert error.startswith("Error: bad.csv, line 3")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


def test_two_at_once_on_one_model(tmp_path):
    for i in range(2):
        write_texts(tmp_path / f"{i}.csv", [(f"text {i} {j}", str(j % 3)) for j in range(300)])
    code, out, err = shell(
        """
        for i in 0 1; do
            kenyon learn m.kenyon $i.csv --encoder hashing --set n_cells=100 --wait --json &
        done
        wait
        """,
        tmp_path,
    )
    assert code == 0, err
    assert sorted(json.loads(line)["created"] for line in out.splitlines()) == [False, True]
    assert kenyon.load(tmp_path / "m.kenyon").n_samples_seen_ == 600


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path):
    write_texts(tmp_path / "other.csv", [("a text", "a"), ("another", "b")])
    code, out, err = shell(
        """
        mkfifo rows
        kenyon learn m.kenyon rows --encoder hashing --set n_cells=100 > first &
        exec 3> rows  # waits until the first process reads, and so holds the lock
        kenyon learn m.kenyon other.csv --encoder hashing
        echo $?
        printf 'text,label\nwhere is my card,card\n' >&3
        exec 3>&-
        wait
        kenyon learn m.kenyon other.csv --json
        """,
        tmp_path,
    )
    assert code == 0, err
    refused, learned = out.splitlines()
    assert refused == "2"
    assert "Error: another process is changing m.kenyon: --wait waits for it\n" in err
    assert (tmp_path / "first").read_text().startswith("Created m.kenyon: learned 1 row ")
    assert json.loads(learned)["samples"] == 3
