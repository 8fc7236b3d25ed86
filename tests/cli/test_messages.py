"""Sentences about odd inputs name the option, the file and the line, in this process."""

import errno
import re

import numpy as np
import pytest

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import ImageEncoder, TextEncoder
from kenyon.pipeline import make_pipeline
from tests.cli.command import assert_error, call, call_json
from tests.cli.samples import texts, write_texts


@pytest.fixture
def path(tmp_path):
    """A model of texts with integer labels."""
    model = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=100))
    model.fit(["one card", "two songs"], [1, 2]).save(tmp_path / "model.kenyon")
    return tmp_path / "model.kenyon"


def test_bad_rows_before_a_row_do_not_shift_its_line(path, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text('text,label\n,1\n"two\nlines",2\nthree,1\nfour,x\n')
    code, _, err = call("learn", path, table, "--skip-bad")
    assert code == 0
    assert "rows.csv, line 2, column 'text': the text is missing" in err
    assert "rows.csv, line 6, column 'label': the labels of the model are integers" in err
    assert kenyon.load(path).n_samples_seen_ == 4


@pytest.mark.parametrize("command", ["learn", "evaluate"])
def test_bad_rows_are_reported_although_none_is_good(command, path, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("text,label\nthree,x\n")
    _, _, err = call(command, path, table, "--skip-bad")
    assert "Skipped 1 bad row:\n" in err
    assert "the labels of the model are integers" in err


def test_a_model_that_learned_no_row_is_unchanged(path, tmp_path):
    table = write_texts(tmp_path / "rows.csv", [("one", "1"), ("two", "2")])
    before = path.stat()
    code, out, _ = call("learn", path, table, "--skip-rows", 2)
    assert code == 0
    assert out.startswith(f"{path} is unchanged: learned 0 rows")
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize("command", ["learn", "predict", "evaluate", "unlearn"])
def test_files_of_another_kind(command, path, tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=[1, 2])
    result = call(command, path, tmp_path / "rows.npz")
    assert_error(result, "the model has learned texts, but ")
    assert result[2].endswith("rows.npz holds features\n")
    images = tmp_path / "images.kenyon"
    model = make_pipeline(ImageEncoder("pixels", size=4), FlyClassifier(n_cells=50))
    model.fit(np.zeros((2, 4, 4), np.uint8), ["a", "b"]).save(images)
    result = call(command, images, write_texts(tmp_path / "rows.csv", texts(2)))
    assert_error(result, "the model has learned images, but ")
    assert result[2].endswith("rows.csv is a table\n")


def test_encoders_that_do_not_exist_name_the_option(tmp_path):
    (tmp_path / "images" / "a").mkdir(parents=True)
    result = call("learn", tmp_path / "m.kenyon", tmp_path / "images", "--encoder", "hashing")
    assert_error(result, "--encoder hashing: model must be one of")


def test_models_of_encoders_that_do_not_exist_name_the_option(tmp_path):
    table = write_texts(tmp_path / "rows.csv", texts(2))
    result = call("learn", tmp_path / "m.kenyon", table, "--encoder", tmp_path)
    assert_error(result, f"--encoder {tmp_path}: model must be the folder of")


def test_another_encoder_than_that_of_the_model_names_both(path, tmp_path):
    table = write_texts(tmp_path / "rows.csv", texts(2))
    result = call("learn", path, table, "--encoder", tmp_path)
    assert_error(result, "model.kenyon cannot be used without its encoder, 'hashing': ")


@pytest.mark.parametrize("option", ["--format", "--output-format"])
def test_an_unknown_format_names_its_option(option, path, tmp_path):
    table = write_texts(tmp_path / "rows.csv", texts(2))
    result = call("predict", path, table, option, "xlsx")
    assert_error(result, f"Error: {option} must be one of csv, tsv, ")


@pytest.mark.parametrize("command", [("predict", "--output"), ("evaluate", "--html")])
def test_an_output_does_not_replace_the_model_or_the_input(command, path, tmp_path):
    name, option = command
    table = write_texts(tmp_path / "rows.csv", [("one", "1"), ("two", "2")])
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for output, read in ((path, path), (link, path), (table, table)):
        before = read.read_bytes()
        result = call(name, path, table, option, output)
        assert_error(result, f"{option} must be another file than {read}, which is read")
        assert read.read_bytes() == before


def test_a_folder_is_no_model(tmp_path):
    assert_error(call("show", tmp_path), f"{tmp_path} could not be read: Is a directory\n")


def test_semicolons_between_fields_are_named(path, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("text;label\none;1\n")
    result = call("learn", path, table)
    assert_error(result, "its columns are 'text;label'; fields end with commas or tabs, not ")


def test_a_bad_image_is_named_once(tmp_path):
    photo = tmp_path / "images" / "a" / "photo.png"
    photo.parent.mkdir(parents=True)
    photo.write_text("no image")
    result = call("learn", tmp_path / "m.kenyon", photo.parents[1], "--encoder", "pixels")
    assert result[2].endswith(f"row 1: the file {str(photo)!r} is damaged or no image\n")


def test_json_of_predict_with_a_file_is_a_summary(path, tmp_path):
    table = write_texts(tmp_path / "rows.csv", texts(3))
    output = tmp_path / "answers.parquet"
    [summary] = call_json("predict", path, table, "-o", output)
    assert summary.pop("seconds") >= 0
    assert summary == {"output": str(output), "rows": 3, "unknown": None, "bad_rows": 0}
    assert output.read_bytes()[:4] == b"PAR1"


def test_a_text_is_neither_empty_nor_bytes(path):
    assert_error(call("ask", path, " "), "the text is empty")
    assert_error(call("ask", path, "caf\udce9"), "the text is not encoded as UTF-8")


def test_control_characters_do_not_reach_the_terminal(path, tmp_path):
    assert call("rename", path, 1, 7)[0] == 0
    code, out, _ = call("ask", path, "a\x1b[31m", "b", "--why")
    assert code == 0
    assert "\x1b" not in out


def test_too_few_samples_for_unknown_inputs(path, tmp_path):
    table = write_texts(tmp_path / "rows.csv", texts(2))
    for arguments in (("predict", path, table), ("ask", path, "a card")):
        code, _, err = call(*arguments, "--unknown", "?")
        assert code == 0
        assert err.startswith("The model has learned too few different samples to answer ?")


def test_labels_are_not_renamed_to_nothing(path):
    assert_error(call("rename", path, 1, ""), "NEW must not be empty")


def test_encoders_of_models_that_cannot_be_merged_are_named(path, tmp_path):
    other = tmp_path / "other.kenyon"
    model = make_pipeline(ImageEncoder("pixels", size=4), FlyClassifier(n_cells=50))
    model.fit(np.zeros((2, 4, 4), np.uint8), [1, 2]).save(other)
    result = call("merge", tmp_path / "all.kenyon", path, other)
    assert_error(result, "'hashing' here and 'pixels' there, cannot be merged: digest is ")
    assert re.search(r"digest is [0-9a-f]{16} here and [0-9a-f]{16} there\n", result[2])


def test_errors_of_the_system_without_a_file(path, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("kenyon.cli.show.describe", fail)
    assert call("show", path)[2] == "Error: No space left on device\n"
