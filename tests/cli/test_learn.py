"""The command `learn`, in this process."""

import json

import numpy as np
import polars as pl
import pytest
from PIL import Image

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline
from tests.cli.command import assert_error, call, call_json
from tests.cli.samples import digits, texts, write_digits, write_texts

HASHING = "--encoder", "hashing"
SMALL = "--set", "n_cells=100"


@pytest.fixture
def table(tmp_path):
    return write_texts(tmp_path / "tickets.csv", texts(40))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kenyon"


def test_learn_creates_a_model_of_texts(table, path, tmp_path):
    code, out, err = call("learn", path, table, *HASHING, *SMALL)
    assert (code, err) == (0, "Encoder: hashing\n")
    assert out.startswith(f"Created {path}: learned 40 rows in ")
    assert out.endswith("4 classes, 4 new; 40 samples.\n")
    rows = texts(40)
    expected = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=100))
    expected.fit([text for text, _ in rows], [label for _, label in rows])
    found = kenyon.load(path)
    assert found.predict_one("my card") == expected.predict_one("my card") == "card"
    assert found.class_count_.tolist() == [10] * 4
    # Weights and calibration are stored: a model that answered writes the same bytes.
    expected.predict_proba_one("my card")
    expected.save(tmp_path / "expected.kenyon")
    assert path.read_bytes() == (tmp_path / "expected.kenyon").read_bytes()


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
def test_learning_in_two_goes_equals_learning_at_once(readout, table, path, tmp_path):
    options = *HASHING, *SMALL, "--set", f"readout={readout}"
    assert call("learn", tmp_path / "whole.kenyon", table, *options)[0] == 0
    first = write_texts(tmp_path / "first.csv", texts(25))
    assert call("learn", path, first, *options)[0] == 0
    assert kenyon.load(path).n_samples_seen_ == 25
    (summary,) = call_json("learn", path, table, "--skip-rows", 25, *HASHING)
    assert (summary["rows"], summary["samples"]) == (15, 40)
    assert (summary["created"], summary["new_classes"]) == (False, [])
    assert path.read_bytes() == (tmp_path / "whole.kenyon").read_bytes()


def test_several_files_and_saves_on_the_way(table, path, tmp_path, monkeypatch):
    second = write_texts(tmp_path / "second.csv", texts(30, start=40))
    saved, save = [], kenyon.pipeline.Pipeline.save
    monkeypatch.setattr(
        kenyon.pipeline.Pipeline,
        "save",
        lambda self, path: (saved.append(self.n_samples_seen_), save(self, path))[1],
    )
    options = *HASHING, *SMALL
    assert call("learn", path, table, second, *options, "--every", 16)[0] == 0
    assert saved == [16, 32, 56, 70] or saved == [16, 32, 48, 64, 70]
    whole = write_texts(tmp_path / "whole.csv", texts(70))
    assert call("learn", tmp_path / "whole.kenyon", whole, *options)[0] == 0
    assert path.read_bytes() == (tmp_path / "whole.kenyon").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith(".")) == []


def test_standard_input(path):
    lines = "".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in texts(20))
    (summary,) = call_json("learn", path, "-", "--format", "jsonl", *HASHING, *SMALL, stdin=lines)
    assert (summary["rows"], summary["classes"]) == (20, 4)
    assert summary["encoder"]["model"] == "hashing"


def test_feature_columns_are_found_by_name_in_any_order(path, tmp_path):
    X, y = digits(300)
    write_digits(tmp_path / "digits.csv", X, y)
    options = "--label", "digit", *SMALL
    assert call("learn", path, tmp_path / "digits.csv", "--features", "pixel*", *options)[0] == 0
    model = kenyon.load(path)
    assert model.classes_.tolist() == [str(digit) for digit in range(10)]
    assert list(model.feature_names_in_) == [f"pixel{i}" for i in range(64)]
    whole = FlyClassifier(n_cells=100).fit(pl.DataFrame(X, schema=list(model.feature_names_in_)), y)
    frame = pl.DataFrame(X[:50], schema=list(model.feature_names_in_))
    assert model.predict(frame).tolist() == [str(digit) for digit in whole.predict(frame)]
    # Reversed columns, and labels that are numbers here.
    frame.select(reversed(frame.columns)).with_columns(digit=y[:50]).write_parquet(
        tmp_path / "more.parquet"
    )
    assert call("learn", path, tmp_path / "more.parquet", *options)[0] == 0
    whole.partial_fit(frame, y[:50])
    again = kenyon.load(path)
    scores = again.decision_function(frame), whole.decision_function(frame)
    np.testing.assert_allclose(*scores, rtol=1e-6)
    frame.drop("pixel7").with_columns(digit=y[:50]).write_csv(tmp_path / "less.csv")
    result = call("learn", path, tmp_path / "less.csv", "--features", "pixel*", "--label", "digit")
    assert_error(result, "less.csv lacks 'pixel7' among its features")


def test_npz_and_labels_of_the_kind_of_the_model(path, tmp_path):
    X, y = digits(200)
    np.savez(tmp_path / "digits.npz", X=X, y=y)
    assert call("learn", path, tmp_path / "digits.npz", *SMALL)[0] == 0
    assert kenyon.load(path).classes_.tolist() == list(range(10))
    lines = "\n".join(
        ",".join(map(str, [*row, f"{label}.0"])) for row, label in zip(X, y, strict=True)
    )
    header = ",".join([*(f"x{i}" for i in range(64)), "label"])
    (tmp_path / "more.csv").write_text(f"{header}\n{lines}\n")
    assert call("learn", path, tmp_path / "more.csv", "--features", "x*")[0] == 0
    assert kenyon.load(path).class_count_.tolist() == (2 * np.bincount(y)).tolist()
    (tmp_path / "bad.csv").write_text(f"{header}\n{lines}\n{'0,' * 64}ten\n")
    before = path.read_bytes()
    result = call("learn", path, tmp_path / "bad.csv", "--features", "x*")
    sentence = (
        "bad.csv, line 202, column 'label': the labels of the model are integers, but this one is "
        "'ten'"
    )
    assert_error(result, sentence)
    assert path.read_bytes() == before
    options = "--features", "x*", "--skip-bad"
    code, out, err = call("learn", path, tmp_path / "bad.csv", *options, "--json")
    assert code == 0
    assert (json.loads(out)["rows"], json.loads(out)["bad_rows"]) == (200, 1)
    assert "this one is 'ten'" in err


def test_images_need_an_encoder(path, tmp_path):
    X, y = digits(60)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        folder = tmp_path / "images" / f"digit {label}"
        folder.mkdir(parents=True, exist_ok=True)
        pixels = (row.reshape(8, 8) * 15).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    images = tmp_path / "images"
    assert_error(call("learn", path, images), "needs --encoder pixels or --encoder mobilenetv2")
    options = "--encoder", "pixels", *SMALL
    assert call("learn", path, images, *options)[0] == 0
    assert kenyon.load(path).n_samples_seen_ == 60
    assert_error(call("learn", path, images, "--text", "text"), "--text")
    (images / "digit 3" / "broken.png").write_bytes(b"no image")
    result = call("learn", path, images)
    assert_error(result, "broken.png")
    code, out, err = call("learn", path, images, "--skip-bad", "--json")
    assert code == 0
    assert (json.loads(out)["rows"], json.loads(out)["bad_rows"]) == (60, 1)
    assert "broken.png" in err


def test_bad_rows_stop_or_are_counted(path, tmp_path):
    table = write_texts(tmp_path / "bad.csv", [*texts(8), ("no label", ""), *texts(3, 8)])
    result = call("learn", path, table, *HASHING, *SMALL)
    assert result[0] == 2
    assert f"{table}, line 10, column 'label': the label is missing" in result[2]
    assert not path.exists()
    code, out, err = call("learn", path, table, *HASHING, *SMALL, "--skip-bad", "--json")
    assert code == 0
    assert (json.loads(out)["rows"], json.loads(out)["bad_rows"]) == (11, 1)
    assert "Skipped 1 bad row:\n" in err
    assert f"  {table}, line 10, column 'label': the label is missing\n" in err


def test_an_error_after_a_save_tells_where_to_go_on(path, tmp_path):
    table = write_texts(tmp_path / "bad.csv", [*texts(9), ("no label", "")])
    code, _, err = call("learn", path, table, *HASHING, *SMALL, "--every", "4")
    assert code == 2
    assert err.endswith(f"; {path} holds the first 8 rows: go on with --skip-rows 8\n")
    assert kenyon.load(path).n_samples_seen_ == 8
    write_texts(table, texts(10))
    assert call("learn", path, table, "--skip-rows", "8")[0] == 0
    assert kenyon.load(path).n_samples_seen_ == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "readout=bayes"], "--set readout=bayes is for new models"),
        (["--keep-texts"], "--keep-texts is for new models"),
        (["--features", "x*"], "--features is for models of features"),
        (["--text", "text", "--features", "x*"], "exclude each other"),
        (["--set", "cells=3"], "--set must be name=value"),
        (["--skip-rows", "99"], "has 40 rows, but 99 rows were to be skipped"),
        (["--label", "class"], "has no column 'class'"),
        (["--every", "0"], "Invalid value for '--every'"),
        (["--format", "xml"], "format must be one of"),
        (["none.csv"], "there is no file none.csv"),
    ],
)
def test_options_that_contradict_the_model_change_nothing(options, message, table, path):
    assert call("learn", path, table, *HASHING, *SMALL)[0] == 0
    before = path.read_bytes()
    assert_error(call("learn", path, table, *options), message)
    assert path.read_bytes() == before
    # What the model has is no contradiction.
    assert call("learn", path, table, *SMALL, *HASHING)[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "x*", *HASHING], "--encoder is for texts and images"),
        (["--features", "x*", "--keep-texts"], "--keep-texts keeps texts"),
        (["--encoder", "nonesuch/model"], "nonesuch/model"),
        (["--set", "n_cells=-3", *HASHING], "n_cells"),
    ],
)
def test_a_model_that_cannot_be_created_leaves_no_file(options, message, table, path, tmp_path):
    assert_error(call("learn", path, table, *options), message)
    assert {file.name for file in tmp_path.iterdir()} == {table.name}


def test_a_missing_folder_is_found_before_anything_is_learned(table, tmp_path):
    result = call("learn", tmp_path / "none" / "model.kenyon", table, *HASHING)
    assert_error(result, "could not be written: No such file or directory")


def test_kept_texts(table, path):
    assert call("learn", path, table, *HASHING, *SMALL, "--keep-texts")[0] == 0
    assert call("learn", path, table, "--keep-texts")[0] == 0
    assert kenyon.load(path).n_texts == 80
    (content,) = [json.loads(call("show", path, "--json")[1])]
    assert content["kept_texts"] == 80
    assert content["encoder"]["model"] == "hashing"
    assert "kept texts       yes, 80" in call("show", path)[1]


@pytest.mark.filterwarnings("default:TextEncoder uses hashed")
def test_the_fallback_is_named(table, path, monkeypatch):
    monkeypatch.setattr("kenyon.encoders.text.find_spec", lambda name: None)
    code, _, err = call("learn", path, table, *SMALL)
    assert code == 0
    assert err.startswith("Warning: ")
    assert err.endswith("Encoder: hashing\n")


BAD_FILES = {
    "empty.csv": b"",
    "header.csv": b"text,label\n",
    "zip.csv": b"PK\x03\x04 and more",
    "latin.csv": "text,label\nüber,a\n".encode("latin-1"),
    "quote.csv": b'text,label\n"never closed,a\n',
    "short.csv": b"text,label\nonly one\n",
    "columns.csv": b"question,intent\na,b\n",
    "broken.jsonl": b'{"text": "a", "label": "b"}\n{"text": \n',
    "broken.parquet": b"PAR1 and nothing else PAR1",
    "broken.npz": b"no zip",
    "broken.arrow": b"ARROW1",
    "no image.png": b"text,label\n",
    "table.xyz": b"text,label\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(name, path, tmp_path):
    file = tmp_path / name
    file.write_bytes(BAD_FILES[name])
    encoder = () if name.endswith(".npz") else HASHING
    code, out, err = call("learn", path, file, *encoder)
    assert (code, out) == (2, "")
    *said, error = err.splitlines()
    assert len(said) <= 1
    assert error.startswith("Error: ")
    assert name in error
    assert not path.exists()
