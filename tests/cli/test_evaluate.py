"""The command `evaluate`, in this process and as a program."""

import json

import numpy as np
import polars as pl
import pytest
from PIL import Image
from sklearn import metrics
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline
from tests.cli.command import call, start
from tests.cli.evaluation.pages import HOSTILE

X, Y = load_digits(return_X_y=True)
NAMES = [f"x{i}" for i in range(64)]
TEXTS = {
    "bank": ["pay my bill", "send money to my account", "what is my balance", "block my card"],
    "music": ["play a song", "skip this track", "what is this song called", "turn up the volume"],
    "weather": ["will it rain today", "is it cold outside", "how hot is it", "snow tomorrow"],
}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Return a folder with a model of digits, and the rest of the digits as files."""
    folder = tmp_path_factory.mktemp("digits")
    FlyClassifier(n_cells=400).fit(X[:900], Y[:900]).save(folder / "digits.kenyon")
    table = pl.DataFrame(X[900:], schema=NAMES).with_columns(digit=pl.Series(Y[900:]))
    table.write_csv(folder / "test.csv")
    table.write_parquet(folder / "test.parquet")
    np.savez(folder / "test.npz", X=X[900:], y=Y[900:])
    return folder


@pytest.fixture(scope="module")
def intents(tmp_path_factory):
    """Return a folder with a model of texts, and a file with texts of no class."""
    folder = tmp_path_factory.mktemp("intents")
    pairs = [(text, label) for label, texts in TEXTS.items() for text in texts]
    texts, labels = map(list, zip(*pairs, strict=True))
    more = [f"{text} please" for text in texts]
    pipeline = make_pipeline(TextEncoder("hashing", cache=False), FlyClassifier(n_cells=400))
    pipeline.fit(texts + more, labels * 2).save(folder / "intents.kenyon")
    rows = {
        "text": ["pay the bill", "a song to play", "the rain of today", "my card", "a track"],
        "label": ["bank", "music", "weather", "music", "bank"],
    }
    pl.DataFrame(rows).write_csv(folder / "test.csv")
    outside = {"text": ["zebras yawn", "quixotic vim"], "label": ["?", "?"]}
    pl.concat([pl.DataFrame(rows), pl.DataFrame(outside)]).write_csv(folder / "all.csv")
    return folder


def evaluate_json(*arguments):
    code, out, err = call("evaluate", *arguments, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


def test_numbers_of_digits(digits):
    model = kenyon.load(digits / "digits.kenyon")
    predicted, probabilities = model.predict(X[900:]), model.predict_proba(X[900:])
    found = evaluate_json(
        digits / "digits.kenyon", digits / "test.csv", "--features", "x*", "--label", "digit"
    )
    assert found["rows"] == 897
    assert found["accuracy"]["value"] == metrics.accuracy_score(Y[900:], predicted)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(Y[900:], probabilities))
    top = metrics.top_k_accuracy_score(Y[900:], probabilities, k=3)
    assert found["top_3_accuracy"]["value"] == pytest.approx(top)
    assert [each["label"] for each in found["classes"]] == list(range(10))
    recalls = metrics.recall_score(Y[900:], predicted, average=None)
    assert [each["recall"] for each in found["classes"]] == pytest.approx(list(recalls))
    assert found["most_confident_errors"][0]["input"] is None
    assert found["labels_unknown_to_the_model"] == []


@pytest.mark.parametrize(
    ("name", "options"),
    [("test.parquet", ("--features", "x*", "--label", "digit")), ("test.npz", ("--label", "y"))],
)
def test_every_format_gives_the_same(digits, name, options):
    columns = ("--features", "x*", "--label", "digit")
    expected = evaluate_json(digits / "digits.kenyon", digits / "test.csv", *columns)
    found = evaluate_json(digits / "digits.kenyon", digits / name, *options)
    assert {**found, "file": None} == {**expected, "file": None}


def test_the_summary(digits):
    columns = ("--features", "x*", "--label", "digit")
    code, out, err = call("evaluate", digits / "digits.kenyon", digits / "test.csv", *columns)
    assert (code, err) == (0, "")
    found = evaluate_json(digits / "digits.kenyon", digits / "test.csv", *columns)
    assert f"{found['accuracy']['value']:.1%}" in out
    assert "853 of 897" in out
    worst = min(found["classes"], key=lambda each: each["f1"])
    assert f"{worst['f1']:.3f}" in out
    assert "Confusions: the most frequent 10 of" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_page_of_texts_explains_errors(intents, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = start(
        "evaluate", intents / "intents.kenyon", intents / "test.csv", "--html", page
    )
    assert (code, err) == (0, f"Wrote {page}.\n")
    assert "60.0%" in out
    content = page.read_text(encoding="utf-8")
    assert content.count("<svg") == 4
    assert "<mark class=" in content
    assert ">hashing<" in content


def test_effects_of_words_are_those_of_explain(intents):
    found = evaluate_json(intents / "intents.kenyon", intents / "test.csv")
    model = kenyon.load(intents / "intents.kenyon")
    errors = found["most_confident_errors"]
    assert [error["row"] for error in errors] in ([4, 5], [5, 4])
    for error in errors:
        expected = model.explain(error["input"], error["predicted"]).words
        assert [word["word"] for word in error["words"]] == [word.word for word in expected]
        effects = [word["effect"] for word in error["words"]]
        assert effects == pytest.approx([word.effect for word in expected])


def test_rows_of_no_class(intents):
    model, file = intents / "intents.kenyon", intents / "all.csv"
    without = evaluate_json(model, intents / "test.csv")
    found = evaluate_json(model, file, "--unknown", "?", "--false-alarms", "0.2")
    for name in ("accuracy", "log_loss", "classes", "confusions", "reliability"):
        assert found[name] == without[name], "the other measures leave these rows out"
    detection = found["out_of_distribution"]
    assert detection["detected"]["total"] == 2
    assert detection["false_alarms"]["total"] == 5
    pipeline = kenyon.load(model)
    assert detection["novelty_threshold"] == pipeline.novelty_threshold(0.2)
    texts = pl.read_csv(file)["text"].to_list()
    is_outside = [0] * 5 + [1] * 2
    auroc = metrics.roc_auc_score(is_outside, pipeline.novelty(texts))
    assert detection["auroc"] == pytest.approx(auroc, abs=detection["auroc_error"] + 1e-12)
    answers = pipeline.predict(texts, unknown="?", false_alarms=0.2)
    labels = pl.read_csv(file)["label"].to_list()
    assert detection["accuracy"]["value"] == metrics.accuracy_score(labels, answers)


def test_rows_of_no_class_where_labels_are_numbers(digits, tmp_path):
    table = pl.read_csv(digits / "test.csv").cast({"digit": pl.String})
    table = table.with_columns(digit=pl.Series(["?"] * 5 + table["digit"].to_list()[5:]))
    table.write_csv(tmp_path / "test.csv")
    columns = ("--features", "x*", "--label", "digit")
    arguments = (digits / "digits.kenyon", tmp_path / "test.csv", *columns)
    found = evaluate_json(*arguments, "--unknown", "?")
    assert found["out_of_distribution"]["detected"]["total"] == 5
    code, out, err = call("evaluate", *arguments)
    assert (code, out) == (2, "")
    assert "test.csv, line 2, column 'digit': the labels of the model are integers" in err
    assert "but this one is '?'" in err


def test_labels_that_the_model_does_not_know(intents, tmp_path):
    file = tmp_path / "strange.csv"
    file.write_text("text,label\npay my bill,bank\nfly to rome,travel\nfly home,travel\n")
    found = evaluate_json(intents / "intents.kenyon", file)
    assert (found["accuracy"]["count"], found["accuracy"]["total"]) == (1, 3)
    (strange,) = found["labels_unknown_to_the_model"]
    assert (strange["label"], strange["rows"]) == ("travel", 2)
    code, out, _ = call("evaluate", intents / "intents.kenyon", file)
    assert code == 0
    assert "Labels unknown to the model, which count as wrong: 2 rows" in out


def test_bad_rows(intents, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("text,label\npay my bill,bank\nplay a song,\nplay a song,music\n")
    code, out, err = call("evaluate", intents / "intents.kenyon", file)
    assert (code, out) == (2, "")
    assert "line 3, column 'label'" in err
    page = tmp_path / "page.html"
    code, out, err = call(
        "evaluate", intents / "intents.kenyon", file, "--skip-bad", "--json", "--html", page
    )
    assert code == 0
    assert "Skipped 1 bad row:" in err
    assert json.loads(out)["bad_rows"] == 1
    assert json.loads(out)["rows"] == 2
    assert "Skipped 1 bad row, which row numbers leave out. " in page.read_text()


def test_a_file_without_good_rows(intents, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("text,label\npay my bill,\n")
    code, out, err = call("evaluate", intents / "intents.kenyon", file, "--skip-bad")
    assert (code, out) == (2, "")
    assert err.endswith(f"Error: {file} has no good rows\n")


def test_one_class(tmp_path):
    FlyClassifier(n_cells=100).fit(X[:5], [3] * 5).save(tmp_path / "one.kenyon")
    np.savez(tmp_path / "test.npz", X=X[:4], y=[3, 3, 3, 8])
    page = tmp_path / "page.html"
    found = evaluate_json(tmp_path / "one.kenyon", tmp_path / "test.npz", "--label", "y")
    assert found["accuracy"]["value"] == 0.75
    assert found["top_3_accuracy"] is None
    assert found["labels_unknown_to_the_model"] == [{"label": 8, "rows": 1, "predicted": 3}]
    code, _, _ = call(
        *("evaluate", tmp_path / "one.kenyon", tmp_path / "test.npz", "--label", "y"),
        *("--html", page),
    )
    assert code == 0
    assert "No class was taken for another." in page.read_text()


def test_hostile_labels(tmp_path):
    labels = [label for label in HOSTILE if label]
    rows = [*range(len(labels))] * 8
    model = FlyClassifier(n_cells=100).fit(X[: len(rows)], [labels[i] for i in rows])
    model.save(tmp_path / "model.kenyon")
    turned = [labels[(i + 1) % len(labels)] for i in rows]
    table = pl.DataFrame(X[: len(rows)], schema=NAMES).with_columns(label=pl.Series(turned))
    table.write_parquet(tmp_path / "test.parquet")
    code, out, err = call(
        *("evaluate", tmp_path / "model.kenyon", tmp_path / "test.parquet"),
        *("--features", "x*", "--html", tmp_path / "page.html"),
    )
    assert code == 0, err
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "<script>alert(1)" not in (tmp_path / "page.html").read_text()
    found = evaluate_json(tmp_path / "model.kenyon", tmp_path / "test.parquet", "--features", "x*")
    assert {each["label"] for each in found["classes"]} == set(labels)


def test_images(tmp_path):
    folder = tmp_path / "photos"
    rng = np.random.default_rng(0)
    for label, shade in (("dark", 40), ("light", 200)):
        (folder / label).mkdir(parents=True)
        for i in range(6):
            pixels = np.clip(rng.normal(shade, 30, (8, 8, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{i}.png")
    (folder / "light" / "0.png").rename(folder / "dark" / "wrong.png")
    model, page = tmp_path / "photos.kenyon", tmp_path / "page.html"
    assert call("learn", model, folder, "--encoder", "pixels")[0] == 0
    code, out, _ = call("evaluate", model, folder, "--json", "--html", page)
    assert code == 0
    found = json.loads(out)
    assert found["rows"] == 12
    for error in found["most_confident_errors"]:
        assert error["input"].startswith(str(folder))
        assert error["words"] is None
    assert page.exists()
    (folder / "dark" / "damaged.png").write_bytes(b"no image")
    code, out, err = call("evaluate", model, folder)
    assert (code, out) == (2, "")
    assert "damaged.png" in err
    code, out, err = call("evaluate", model, folder, "--skip-bad", "--json")
    assert code == 0
    assert "Skipped 1 bad row" in err
    assert json.loads(out) == {**found, "bad_rows": 1}


def test_a_model_with_few_samples_says_that_it_answers_always(tmp_path):
    FlyClassifier(n_cells=100).fit(X[:3], Y[:3]).save(tmp_path / "few.kenyon")
    np.savez(tmp_path / "test.npz", X=X[:10], y=[*Y[:9], -1])
    arguments = (tmp_path / "few.kenyon", tmp_path / "test.npz", "--label", "y")
    code, out, err = call("evaluate", *arguments, "--unknown", "-1", "--json")
    assert code == 0
    assert json.loads(out)["out_of_distribution"]["detected"]["count"] == 0
    assert "The model has learned too few different samples to answer -1" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unknown", "bank"), "--unknown must be no label of the model; got 'bank'"),
        (("--unknown", "?", "--false-alarms", "2"), "--false-alarms"),
        (("--text", "question"), "question"),
        (("--label", "intent"), "intent"),
        (
            ("--features", "x*"),
            "--features is for models of features; got 'x*' for a model of texts",
        ),
        (("--html", "missing/page.html"), "cannot be written: there is no folder missing"),
    ],
)
def test_errors(intents, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("evaluate", intents / "intents.kenyon", intents / "test.csv", *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_model_with_decay_has_no_novelty_threshold(digits, tmp_path):
    FlyClassifier(n_cells=100, readout="fly", decay=0.01).fit(X[:200], Y[:200]).save(
        tmp_path / "decay.kenyon"
    )
    columns = ("--features", "x*", "--label", "digit")
    arguments = (tmp_path / "decay.kenyon", digits / "test.csv", *columns)
    assert evaluate_json(*arguments)["rows"] == 897
    code, _, err = call("evaluate", *arguments, "--unknown", "?")
    assert code == 2
    assert "a novelty threshold is not possible" in err
