"""The commands `predict` and `ask`, in this process."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from PIL import Image

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import ImageEncoder, TextEncoder
from kenyon.pipeline import make_pipeline
from tests.cli.command import assert_error, call, call_json
from tests.cli.samples import digits, texts, write_texts


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of texts that keeps them."""
    path = tmp_path_factory.mktemp("models") / "texts.kenyon"
    rows = texts(80)
    pipeline = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=200), keep_texts=True)
    pipeline.fit([text for text, _ in rows], [label for _, label in rows])
    pipeline.predict_one("card")
    pipeline.save(path)
    return path


@pytest.fixture(scope="module")
def pixels(tmp_path_factory):
    """A model of features with integer labels."""
    path = tmp_path_factory.mktemp("models") / "digits.kenyon"
    X, y = digits(400)
    FlyClassifier(n_cells=200).fit(X, y).save(path)
    return path


@pytest.fixture
def table(tmp_path):
    return write_texts(tmp_path / "new.csv", texts(30, start=100), ("question", "note"))


def parse(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_answers_follow_all_columns_of_the_input(model, table):
    code, out, err = call("predict", model, table, "--text", "question")
    assert (code, err) == (0, "")
    rows = parse(out)
    assert [list(row) for row in rows] == [["question", "note", "predicted", "probability"]] * 30
    questions = [row["question"] for row in rows]
    labels, probabilities = kenyon.load(model).predict_top(questions, 1)
    assert [row["predicted"] for row in rows] == labels[:, 0].tolist()
    assert [float(row["probability"]) for row in rows] == probabilities[:, 0].tolist()


def test_top_unknown_and_novelty(model, table, tmp_path):
    write_texts(table, [*texts(20), ("zzz qqq xxx", "-")], ("question", "note"))
    out = tmp_path / "answers.parquet"
    options = "--text", "question", "--top", 3, "--unknown", "?", "--false-alarms", 0.1
    code, printed, err = call("predict", model, table, *options, "-o", out)
    assert (code, printed) == (0, "")
    assert err.startswith(f"Wrote {out}: 21 rows in ")
    frame = pl.read_parquet(out)
    assert frame.columns == [
        *("question", "note", "predicted", "probability", "predicted_2", "probability_2"),
        *("predicted_3", "probability_3", "novelty"),
    ]
    pipeline = kenyon.load(model)
    expected = pipeline.predict(frame["question"].to_list(), unknown="?", false_alarms=0.1)
    assert frame["predicted"].to_list() == expected.tolist()
    unknown = frame.filter(pl.col("predicted") == "?")
    assert "zzz qqq xxx" in unknown["question"]
    assert unknown["probability"].null_count() == len(unknown)
    assert frame["novelty"].to_list() == pipeline.novelty(frame["question"].to_list()).tolist()
    assert f", {len(unknown)} unknown." in err


def test_numbers_as_labels_and_json_lines(pixels, tmp_path):
    X, y = digits(50)
    np.savez(tmp_path / "new.npz", X=X, y=y)
    lines = call_json("predict", pixels, tmp_path / "new.npz", "--novelty")
    assert [line["predicted"] for line in lines] == kenyon.load(pixels).predict(X).tolist()
    assert all(0 <= line["novelty"] <= 1 for line in lines)
    lines = call_json("predict", pixels, tmp_path / "new.npz", "--unknown", "none of them")
    assert {type(line["predicted"]) for line in lines} == {str}


def test_a_pipe(model):
    stdin = "text\nwhere is my card\n"
    code, out, _ = call("predict", model, "-", "--output-format", "tsv", stdin=stdin)
    assert code == 0
    assert out.startswith("text\tpredicted\tprobability\nwhere is my card\tcard\t")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (("text", "predicted"), [], "has a column 'predicted' already"),
        (("text", "novelty"), ["--novelty"], "has a column 'novelty' already"),
        (("question", "note"), [], "has no column 'text'"),
        (("text", "note"), ["--unknown", "card"], "--unknown must be no label of the model"),
        (("text", "note"), ["--top", "0"], "Invalid value for '--top'"),
        (("text", "note"), ["--unknown", "?", "--false-alarms", "2"], "--false-alarms"),
        (("text", "note"), ["--features", "x*"], "--features is for models of features"),
        (("text", "note"), ["-o", "none/answers.csv"], "none/answers.csv could not be written"),
        (("text", "note"), ["-o", "answers.xml"], "answers.xml must have one of the suffixes"),
        (("text", "note"), ["--encoder", "none"], "cannot be used without its encoder"),
    ],
)
def test_refusals(columns, options, message, model, tmp_path):
    table = write_texts(tmp_path / "new.csv", texts(3), columns)
    assert_error(call("predict", model, table, *options), message)


def test_a_refused_input_leaves_the_output_as_it_was(model, tmp_path):
    table = write_texts(tmp_path / "new.csv", [*texts(3), ("", "note")])
    out = tmp_path / "answers.csv"
    out.write_text("old")
    assert_error(call("predict", model, table, "-o", out), "line 5, column 'text'")
    assert out.read_text() == "old"
    code, _, err = call("predict", model, table, "-o", out, "--skip-bad")
    assert code == 0
    assert len(parse(out.read_text())) == 3
    assert "Skipped 1 bad row:" in err


def test_images(tmp_path):
    X, y = digits(40)
    folder, path = tmp_path / "images", tmp_path / "model.kenyon"
    folder.mkdir()
    for i, row in enumerate(X):
        Image.fromarray((row.reshape(8, 8) * 15).astype(np.uint8)).save(folder / f"{i:02}.png")
    files = sorted(folder.iterdir())
    make_pipeline(ImageEncoder("pixels"), FlyClassifier(n_cells=100)).fit(files, y).save(path)
    lines = call_json("predict", path, folder)
    assert [line["file"] for line in lines] == [str(file) for file in files]
    expected = kenyon.load(path).predict(files).tolist()
    assert [line["predicted"] for line in lines] == expected
    (answer,) = call_json("ask", path, files[0])
    assert answer["predicted"] == expected[0]
    assert_error(call("ask", path, tmp_path / "none.png"), "there is no file")
    assert_error(call("ask", path, files[0], "--why"), "--why explains texts")
    (folder / "05.png").write_bytes(b"no image")
    assert_error(call("predict", path, folder), "05.png")
    code, out, err = call("predict", path, folder, "--skip-bad", "--json")
    assert (code, len(out.splitlines())) == (0, 39)
    assert "05.png" in err


def test_ask_prints_the_answer_and_why(model):
    code, out, err = call("ask", model, "i find the card number 8", "--why", "--unknown", "?")
    assert (code, err) == (0, "")
    first, *lines = out.splitlines()
    assert first.startswith("card  (novelty 0.")
    assert lines[0].split()[0] == "card"
    assert len(lines[:3]) == 3
    assert "Words for and against card (leave one word out; change of its log-odds):" in lines
    assert any(line.split()[1:] == ["card"] and line.strip()[0] == "+" for line in lines)
    nearest = lines[lines.index("Nearest learned texts (cosine of their features):") + 1 :]
    assert len(nearest) == 3


def test_ask_json(model):
    (answer,) = call_json("ask", model, "where is my card?", "--top", 2, "--why")
    pipeline = kenyon.load(model)
    probabilities = pipeline.predict_proba_one("where is my card?")
    assert answer["predicted"] == "card"
    assert answer["top"][0]["label"] == "card"
    assert answer["top"][0]["probability"] == pytest.approx(probabilities["card"])
    assert len(answer["top"]) == 2
    explanation = pipeline.explain("where is my card?")
    effects = [word["effect"] for word in answer["why"]["words"]]
    assert effects == pytest.approx([word.effect for word in explanation.words])
    assert answer["nearest"][0]["text"] == pipeline.nearest("where is my card?")[0][0]


def test_ask_lines_of_standard_input(model):
    answers = call_json("ask", model, "-", stdin="my card\n\na song\r\n")
    assert [(row["input"], row["predicted"]) for row in answers] == [
        ("my card", "card"),
        ("a song", "song"),
    ]
    code, out, err = call("ask", model, "-", "--json", stdin=b"my card\n\n\xff\n")
    assert (code, out.count("\n")) == (2, 1)
    assert err.startswith("Error: standard input, line 3: the text is not encoded as UTF-8")
    code, out, _ = call("ask", model, "my card", "a song", "--top", "1")
    lines = out.splitlines()
    assert code == 0
    assert (lines[0], lines[2], lines[3]) == ("my card", "", "a song")


def test_ask_features_as_numbers(pixels):
    X, _ = digits(1)
    numbers = ",".join(map(str, X[0]))
    (answer,) = call_json("ask", pixels, numbers, "--unknown", "?")
    assert answer["predicted"] in (kenyon.load(pixels).predict_one(X[0]), "?")
    for text in ("1,2,3", "my card", numbers + ",nan"):
        assert_error(call("ask", pixels, text), "must be 64 numbers separated by commas")


def test_a_model_without_classes(tmp_path):
    path = tmp_path / "model.kenyon"
    FlyClassifier(n_cells=50).fit(np.eye(2), [0, 1]).drop_class(0).drop_class(1).save(path)
    assert_error(call("ask", path, "1,0"), "the model has no classes")


def test_unicode_and_quotes_survive(model, tmp_path):
    table = write_texts(tmp_path / "new.csv", [('say "card", 日本\nüber', "x")])
    code, out, _ = call("predict", model, table)
    assert code == 0
    assert parse(out)[0]["text"] == 'say "card", 日本\nüber'
    (line,) = call_json("predict", model, table)
    assert line["text"] == 'say "card", 日本\nüber'
    assert json.dumps(line)
