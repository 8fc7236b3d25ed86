"""Tables that are written and read back, and writes that fail."""

import os
import pty
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.parquet import ParquetFile

from kenyon.cli.tables import TABLES, Columns, read_samples, write_table
from tests.cli.tables.samples import FEATURES, TEXT, read, table

TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)
READABLE = [form for form in TABLES if form != "npz"]


def write(path, content, step=5, **options):
    with write_table(str(path), **options) as writer:
        for start in range(0, max(content.height, 1), step):
            writer.write(content[start : start + step])


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder of temporary files that must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("form", READABLE)
@pytest.mark.parametrize("step", [1, 5, 100])
def test_what_was_written_is_read_back(form, step, tmp_path, temporary):
    expected = table()
    path = tmp_path / f"a.{form}"
    write(path, expected, step)
    texts, labels, rows, end, _ = read(str(path), TEXT)
    assert texts == expected["text"].to_list()
    assert labels == expected["label"].to_list()
    assert end == expected.height
    inputs, _, rows, _, _ = read(str(path), FEATURES)
    assert inputs == expected.select("x0", "x1").to_numpy().tolist()
    assert rows == expected.rows()


@pytest.mark.parametrize("suffix", ["ndjson", "feather", "ipc", "CSV"])
def test_other_suffixes(suffix, tmp_path, temporary):
    path = tmp_path / f"a.{suffix}"
    write(path, table())
    assert read(str(path))[0] == table()["text"].to_list()


@pytest.mark.parametrize("form", ["csv", "tsv"])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=st.lists(st.tuples(TEXTS.filter(str.strip), TEXTS), min_size=1))
def test_any_text_but_spaces_survives_csv(form, rows, tmp_path):
    path = tmp_path / f"a.{form}"
    write(path, pl.DataFrame(rows, schema=["text", "label"], orient="row"))
    assert read(str(path))[2] == rows


def test_row_groups_of_parquet_are_bounded_in_bytes(tmp_path, temporary):
    path = tmp_path / "a.parquet"
    wide = pl.DataFrame({"text": ["word " * 20_000] * 100})
    with write_table(str(path)) as writer:
        for _ in range(10):
            writer.write(wide)
    with ParquetFile(path) as file:
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert sum(sizes) == 1000
    # 100 kB a row: groups of 32 MB.
    assert max(sizes) <= 400


def test_npz(tmp_path, temporary):
    path = tmp_path / "a.npz"
    content = table().with_columns(
        whole=pl.int_range(23, dtype=pl.Int16),
        flag=pl.Series([True, None] + 21 * [False]),
        hole=pl.Series([None, "b"] + 21 * [""]),
        sort=pl.col("label").cast(pl.Categorical),
        none=pl.lit(""),
    )
    write(path, content)
    with np.load(path) as arrays:
        assert list(arrays) == content.columns
        assert arrays["text"].tolist() == content["text"].to_list()
        assert arrays["sort"].tolist() == content["label"].to_list()
        assert arrays["x1"].tolist() == content["x1"].to_list()
        assert arrays["whole"].dtype == np.int16
        assert arrays["whole"].tolist() == list(range(23))
        assert arrays["flag"][0] == 1
        assert np.isnan(arrays["flag"][1])
        assert arrays["hole"].tolist() == ["", "b"] + 21 * [""]
        assert arrays["none"].tolist() == 23 * [""]


def test_npz_refuses_arrays_that_long_texts_make_huge(tmp_path, temporary, monkeypatch):
    monkeypatch.setattr("kenyon.cli.tables.npz_output._MAX_TEXT_BYTES", 1000)
    with pytest.raises(ValueError, match=r"column 'text' would take .* write another format"):
        write(tmp_path / "a.npz", table())
    assert not (tmp_path / "a.npz").exists()


@pytest.mark.parametrize("form", TABLES)
def test_an_empty_table(form, tmp_path, temporary):
    path = tmp_path / f"a.{form}"
    with write_table(str(path)):
        pass
    assert path.exists()
    write(path, table()[:0])
    assert path.exists()
    if form != "npz":
        with pytest.raises(ValueError, match=r"has no rows|is empty"):
            read(str(path))


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_failed_block_leaves_the_old_file(form, error, tmp_path, temporary):
    path = tmp_path / f"a.{form}"
    path.write_bytes(b"old")

    class Failing:
        schema = table().schema
        columns = table().columns

        def cast(self, _):
            raise error

    with pytest.raises(error):
        write_pieces(path, table(), Failing())
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, "temporary"}


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz"])
def test_an_interrupted_sink_leaves_the_old_file(form, tmp_path, temporary, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kenyon.cli.tables.spool.Spool.scan", interrupt)
    monkeypatch.setattr("kenyon.cli.tables.spool.Spool.read", interrupt)
    path = tmp_path / f"a.{form}"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write(path, table())
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, "temporary"}


@pytest.mark.parametrize("form", TABLES)
def test_a_folder_that_does_not_exist(form, tmp_path, temporary):
    path = tmp_path / "none" / f"a.{form}"
    with pytest.raises(OSError, match=f"^{path} could not be written: No such file or directory$"):
        write(path, table())


def write_pieces(path, *pieces):
    with write_table(str(path)) as writer:
        for piece in pieces:
            writer.write(piece)


def test_pieces_must_have_equal_columns(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(ValueError, match="all pieces of a table must have the columns"):
        write_pieces(path, table(), table().drop("x0"))
    with pytest.raises(ValueError, match="a piece of the table cannot be written"):
        write_pieces(path, pl.DataFrame({"a": [1]}), pl.DataFrame({"a": ["b"]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "tsv", "npz"])
def test_nested_columns_are_refused_by_flat_formats(form, tmp_path):
    with pytest.raises(ValueError, match=f"'a' holds List.*, which the format {form} cannot hold"):
        write(tmp_path / f"a.{form}", pl.DataFrame({"a": [[1]]}))


def test_formats(tmp_path):
    for path, options in (("a.txt", {}), ("a", {}), (".", {})):
        with pytest.raises(ValueError, match="must have one of the suffixes"):
            write(tmp_path / path, table(), **options)
    with pytest.raises(ValueError, match=r"format must be one of csv, .*; got 'images'"):
        write(tmp_path / "a", table(), format="images")
    write(tmp_path / "a", table(), format="jsonl")
    assert read(str(tmp_path / "a"), format="jsonl")[3] == 23


COPY = """
import sys
from kenyon.cli.tables import Columns, read_samples, write_table
with write_table("-", sys.argv[2]) as writer:
    for piece in read_samples(sys.argv[1], Columns("text", None, None), max_rows=100):
        writer.write(piece.table)
"""


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_standard_output(form, tmp_path):
    path = tmp_path / "a.csv"
    write(path, table().select("text", "label"))
    command = [sys.executable, "-c", COPY, str(path), form]
    process = subprocess.run(command, capture_output=True, timeout=120)
    assert process.stderr == b""
    copy = tmp_path / f"copy.{form}"
    copy.write_bytes(process.stdout)
    assert read(str(copy)) == read(str(path))


def test_binary_formats_are_not_written_to_a_terminal(tmp_path):
    path = tmp_path / "a.csv"
    write(path, table())
    terminal, end = pty.openpty()
    command = [sys.executable, "-c", COPY, str(path), "parquet"]
    process = subprocess.run(command, stdout=end, stderr=subprocess.PIPE, timeout=120)
    os.close(end)
    os.close(terminal)
    assert b"parquet is binary, and standard output is a terminal" in process.stderr


def test_a_closed_pipe_raises_broken_pipe_error(tmp_path):
    path = tmp_path / "a.csv"
    write(path, pl.DataFrame({"text": [f"{i}" * 50 for i in range(20_000)]}), step=20_000)
    command = [sys.executable, "-c", COPY, str(path), "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert "BrokenPipeError" in errors


def test_columns_of_a_predicted_table(tmp_path):
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    write(path, table())
    rows = read(str(path), Columns("text", None, None))[2]
    with write_table(str(out)) as writer:
        writer.write(pl.DataFrame(rows, schema=table().columns, orient="row"))
    assert out.read_bytes() == Path(path).read_bytes()


@pytest.mark.parametrize("form", TABLES)
def test_an_error_about_the_input_does_not_name_the_output(form, tmp_path, temporary):
    missing = str(tmp_path / "missing.csv")

    def copy():
        with write_table(str(tmp_path / f"a.{form}")) as writer:
            for piece in read_samples(missing, TEXT):
                writer.write(piece.table)

    with pytest.raises(FileNotFoundError) as caught:
        copy()
    assert str(caught.value) == f"there is no file {missing}"
    assert list(tmp_path.iterdir()) == [temporary]


@pytest.mark.parametrize("form", TABLES)
def test_a_write_that_fails_names_the_output(form, tmp_path, temporary):
    path = tmp_path / f"a.{form}"
    path.write_bytes(b"old")
    content = pl.DataFrame({"text": [str(x) for x in np.random.default_rng(0).random(60_000)]})
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limit[1]))
    try:
        with pytest.raises(OSError, match=f"^{path} could not be written: File too large"):
            write(path, content, step=60_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, "temporary"}
