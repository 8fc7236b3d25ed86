"""Bad files of every kind: one sentence, with file, line or row, and column."""

import io
import os
import pickle
import signal
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pytest

from kenyon.cli.tables import Columns, byte_source, read_samples
from tests.cli.tables.samples import FEATURES, TABLES, TEXT, read, table, write

GOOD = b"text,label,x0\na,b,1\n"
CSV = {
    b"": " is empty",
    b"\xef\xbb\xbf": " is empty",
    b"\n\n": " is empty",
    b"text,label,x0\n": " has no rows",
    b"text,label,x0": " has no rows",
    b"text,label,text\na,b,c\n": " has more than one column 'text'",
    b"a,label\nx,y\n": " has no column 'text': its columns are 'a', 'label'",
    b"text;label\nx;y\n": (
        " has no column 'text': its columns are 'text;label'; fields end with commas or tabs, "
        "not semicolons"
    ),
    GOOD + b"a,b\n": ", line 3: 2 fields; expected 3, as in the header",
    GOOD + b"a\n": ", line 3: 1 field; expected 3, as in the header",
    GOOD + b"a,b,c,d\n": ", line 3: 4 fields; expected 3, as in the header",
    GOOD + b'"a\nb",c,1\n,c,1\n': ", line 5, column 'text': the text is missing",
    GOOD + b" \t\xc2\xa0,c,1\n": ", line 3, column 'text': the text is missing",
    GOOD + b"\n\r\na,,1\n": ", line 5, column 'label': the label is missing",
    GOOD + b'a,"",1\n': ", line 3, column 'label': the label is missing",
    GOOD + b'"a,b,1\na,b,2\n': ", line 3: a quote is never closed",
    GOOD + b'"a"b,c,1\n': ", line 3: a closing quote is followed by text",
    GOOD + b"a,b\rc,1\n": ", line 3: a carriage return stands outside quotes",
    GOOD + "é,b,1\n".encode("latin-1"): ", line 3: it is not encoded as UTF-8",
    GOOD + b"a\0,b,1\n": ", line 3: it holds a NUL character",
    GOOD.decode().encode("utf-16"): " is encoded as UTF-16; expected text encoded as UTF-8",
    "tëxt,label\n".encode("latin-1"): ", line 1: it is not encoded as UTF-8",
    b"\x1f\x8b\x08\x00": " is compressed by gzip; expected text encoded as UTF-8",
    b"PAR1\x15\x04": " is a Parquet file; expected text encoded as UTF-8",
    b"PK\x03\x04": " is a zip archive; expected text encoded as UTF-8",
}
JSON = {
    b"": " is empty",
    b"\n \n": " holds no JSON lines; expected one object on each line",
    b"[\n": " holds no JSON lines; expected one object on each line",
    b'{"a": 1}': " has no column 'text': its columns are 'a'",
    b'{"text": "a", "label": "b"}\n{"text": "a", "label"': ", line 2: it is not JSON",
    b'{"text": "a", "label": "b"}\n[1]': ", line 2: [1] is not an object with columns as keys",
    b'{"text": "a", "label": "b"}\n{"text": "a"}': ", line 2, column 'label': the label is missing",
    b'{"text": 3, "label": "b"}': ", line 1, column 'text': 3 is not a string",
    b'{"text": "a", "label": 1.5}': ", line 1, column 'label': 1.5 is not a label",
    b'{"text": "a", "label": [1]}': ", line 1, column 'label': [1] is not a label",
    b'{"text": "a", "label": 99999999999999999999}': ", line 1, column 'label': 999999999999",
    b'{"text": "a", "label": 1}\n{"text": "a", "label": "1"}': ", line 2, column 'label': the "
    "label '1' is not an integer, as the first label of the file is",
    b'{"text": "a", "label": "b"}\n{"text": "a", "text": "b"}': ", line 2: it repeats the key",
    b'{"text": "\\ud800", "label": "b"}': " holds no JSON lines",
    b'{"text": "a", "label": "b"}\n"\xff"': ", line 2: it is not encoded as UTF-8",
    b'{"text": "a", "label": "b"}\n' + b"[" * 100_000: ", line 2: it is ",
}
FEATURE_ROWS = {
    b"a,1\nb,abc\n": ", line 3, column 'x0': 'abc' is not a finite number",
    b"a,1\nb,nan\n": ", line 3, column 'x0': 'nan' is not a finite number",
    b"a,1\nb,-inf\n": ", line 3, column 'x0': '-inf' is not a finite number",
    b"a,1\nb,1e999\n": ", line 3, column 'x0': '1e999' is not a finite number",
    b"a,1\nb,\n": ", line 3, column 'x0': the feature is missing",
    b'a,1\nb,"1,5"\n': ", line 3, column 'x0': '1,5' is not a finite number",
    b"a,1\nb,1_0\n": ", line 3, column 'x0': '1_0' is not a finite number",
    b"a,1\nb," + b"9" * 500: ", line 3, column 'x0': '999",
}


def refused(path, columns=TEXT, **options):
    """Return the one sentence about a bad file, without the file."""
    with pytest.raises(ValueError) as caught:
        read(str(path), columns, **options)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    return sentence.removeprefix(str(path))


@pytest.mark.parametrize("block_size", [10, 2**23])
@pytest.mark.parametrize("content", CSV, ids=lambda content: ascii(content[-30:]))
def test_csv(content, block_size, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert refused(path, block_size=block_size) == CSV[content]


@pytest.mark.parametrize("content", JSON, ids=lambda content: ascii(content[-30:]))
def test_json(content, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert refused(path).startswith(JSON[content])


@pytest.mark.parametrize("content", FEATURE_ROWS, ids=lambda content: ascii(content[:30]))
def test_csv_features(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"label,x0\n" + content)
    assert refused(path, FEATURES).startswith(FEATURE_ROWS[content])


@pytest.mark.parametrize("value", [b'"a"', b"true", b"NaN", b"[1]", b"9" * 400])
def test_json_features(value, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"label": "a", "x0": 1}\n{"label": "a", "x0": ' + value + b"}\n")
    found = refused(path, FEATURES)
    assert found.startswith(", line 2, column 'x0': ")
    assert found.endswith(" is not a finite number")


@pytest.mark.parametrize("content", [b'"a' + b"\n" * 5000, b"a" * 5000])
def test_long_records_are_not_collected_in_memory(content, tmp_path, monkeypatch):
    for module in ("byte_source", "csv_records"):
        monkeypatch.setattr(f"kenyon.cli.tables.{module}.MAX_RECORD", 1000)
    for suffix in ("csv", "jsonl"):
        path = tmp_path / f"a.{suffix}"
        path.write_bytes((GOOD if suffix == "csv" else b'{"text": "a", "label": "b"}\n') + content)
        if suffix == "csv" or b"\n" not in content:
            assert "the record is longer than 1,000 bytes" in refused(path, block_size=100)
    assert byte_source.MAX_RECORD == 1000


@pytest.mark.parametrize("block_size", [100, 600, 1000])
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_longest_record(quote, block_size, tmp_path, monkeypatch):
    for module in ("byte_source", "csv_records"):
        monkeypatch.setattr(f"kenyon.cli.tables.{module}.MAX_RECORD", 1000)
    path = tmp_path / "a.csv"
    row = f"{quote}{{}}{quote},b,1\n"
    longest = "a" * (1000 - len(row.format("")))
    path.write_text(GOOD.decode() + row.format(longest) + GOOD.decode()[14:])
    (piece,) = list(read_samples(str(path), TEXT, max_rows=9, block_size=2000))
    texts = [
        text
        for piece in read_samples(str(path), TEXT, block_size=block_size)
        for text in piece.inputs
    ]
    assert texts == piece.inputs == ["a", longest, "a"]
    path.write_text(GOOD.decode() + row.format(longest + "a") + GOOD.decode()[14:])
    assert refused(path, block_size=block_size).startswith(", line 3: the record is longer")


@pytest.mark.parametrize("form", TABLES)
def test_columns(form, tmp_path):
    path = write(tmp_path, form, table())
    listed = ": its columns are 'text', 'x0', 'x1', 'label', 'note'"
    assert refused(path, Columns("question", None, None)) == " has no column 'question'" + listed
    assert refused(path, Columns("text", None, "y")) == " has no column 'y'" + listed
    assert refused(path, Columns(None, "z*", None)) == " has no column that matches 'z*'" + listed
    assert refused(path, Columns(None, "x0,z", None)) == " has no column named 'z'" + listed
    assert "cannot be feature and label" in refused(path, Columns(None, "x*,label", "label"))
    assert "cannot hold text and label" in refused(path, Columns("text", None, "text"))
    assert "and not both" in refused(path, Columns("text", "x*", None))
    assert "and not both" in refused(path, Columns(None, None, None))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_types_of_columns(form, tmp_path):
    path = write(
        tmp_path,
        form,
        pl.DataFrame({"text": ["a"], "n": [1], "x": [[1.0]], "label": [1.5], "y": [b"a"]}),
    )
    assert refused(path, Columns("n", None, None)) == ", column 'n': it holds Int64; expected texts"
    assert "column 'x': it holds List(Float64); expected numbers" in refused(
        path, Columns(None, "x", None)
    )
    assert "column 'text': it holds String; expected numbers" in refused(
        path, Columns(None, "text", None)
    )
    assert "column 'y': it holds Binary; expected labels" in refused(
        path, Columns("text", None, "y")
    )
    assert refused(path) == ", row 1, column 'label': the label 1.5 is not a whole number"


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_missing_values(form, tmp_path):
    content = table().cast({"label": pl.Categorical})
    for column, what in (("text", "text"), ("label", "label"), ("x1", "feature")):
        holes = content.with_columns(pl.when(pl.col("note") != "n4").then(column).alias(column))
        columns = FEATURES if column == "x1" else TEXT
        found = refused(write(tmp_path, form, holes), columns)
        assert found == f", row 5, column '{column}': the {what} is missing"
        gone = content.with_columns(pl.lit(None).alias(column))
        found = refused(write(tmp_path, form, gone), columns)
        assert found == f", row 1, column '{column}': the {what} is missing"


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz"])
def test_files_without_rows_and_other_content(form, tmp_path):
    path = tmp_path / f"a.{form}"
    for content in (b"", b"abc", b"\x1f\x8b\x08", b"PAR1", b"PAR1PAR1", b"ARROW1", b"PK\x05\x06"):
        path.write_bytes(content)
        assert refused(path, FEATURES).startswith((" is empty", " is damaged or not an", " is dam"))
    path = write(tmp_path, form, table()[:0])
    assert refused(path, FEATURES) == " has no rows"


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz"])
def test_truncated_files(form, tmp_path):
    path = tmp_path / write(tmp_path, form, table())
    content = path.read_bytes()
    for size in range(0, len(content), len(content) // 40):
        path.unlink()  # Threads of polars may still read the last file, which is mapped.
        path.write_bytes(content[:size])
        refused(path, FEATURES)


MUTATE = """
import random, sys
from pathlib import Path
from kenyon.cli.tables import Columns, read_samples
path = Path(sys.argv[1])
content = path.read_bytes()
for seed in range(100):
    generator = random.Random(seed)
    changed = bytearray(content)
    for _ in range(generator.randint(1, 3)):
        changed[generator.randrange(len(changed))] = generator.randrange(256)
    path.unlink()  # Threads of polars may still read the last file, which is mapped.
    path.write_bytes(changed)
    try:
        for _ in read_samples(str(path), Columns(None, "x*", "label")):
            pass
    except ValueError as error:
        assert str(error).startswith(str(path)), error
        assert "\\n" not in str(error), error
"""


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz"])
def test_changed_bytes(form, tmp_path):
    path = write(tmp_path, form, table())
    # In a process of its own, because polars can abort if a page of a Parquet file declares a size.
    process = subprocess.run(
        [sys.executable, "-c", MUTATE, path], capture_output=True, text=True, timeout=120
    )
    allowed = (0, -signal.SIGABRT) if form == "parquet" else (0,)
    assert process.returncode in allowed, process.stderr[-2000:]


def test_npz_arrays(tmp_path):
    path = tmp_path / "a.npz"
    X, y = np.ones((3, 2)), np.arange(3)
    for arrays, sentence in [
        ({"X": X}, "it has 0 arrays 'y'; its arrays are X"),
        ({"y": y}, "it has 0 arrays 'X'; its arrays are y"),
        ({"X": X[0], "y": y}, "its array 'X' is float64 of shape (2,); expected 2 dimensions"),
        ({"X": X.astype(str), "y": y}, "expected 2 dimensions of numbers"),
        ({"X": X.astype(complex), "y": y}, "expected 2 dimensions of numbers"),
        ({"X": X, "y": y[:2]}, "its array 'X' has 3 rows, and 'y' 2"),
        ({"X": X, "y": y.astype("S1")}, "expected 1 dimensions of numbers or strings"),
        ({"X": np.ones((1, 2**22)), "y": y}, "rows of more than 16,777,216 bytes"),
        ({"X": X.astype(object), "y": y}, "object arrays are not loaded"),
    ]:
        np.savez(path, **arrays)
        assert sentence in refused(path)
    np.savez(path, X=X, y=y / 2)
    assert refused(path) == ", row 2, column 'y': the label 0.5 is not a whole number"
    X[1, 1] = np.inf
    np.savez(path, X=X, y=y)
    assert refused(path) == ", row 2, column 'x1': inf is not a finite number"


class Bomb:
    def __reduce__(self):
        return os._exit, (1,)


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.array([[Bomb()]], dtype=object), y=np.array([Bomb()]))
    assert "object arrays are not loaded" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", pickle.dumps(Bomb()))
    assert "its member 'X' is not an array" in refused(path)


def test_npz_headers_that_declare_too_much(tmp_path):
    path = tmp_path / "a.npz"
    for shape in [(2**40, 8), (2**62, 2**62), (-1, 2), (0, 2**60), (3, 1)]:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", header.getvalue() + bytes(16))
        assert " is damaged or not an .npz file" in refused(path, Columns(None, None, None))


@pytest.mark.parametrize("form", [*TABLES, "npz", "images"])
def test_missing_files_and_folders(form, tmp_path):
    missing = tmp_path / ("photos" if form == "images" else f"a.{form}")
    with pytest.raises(FileNotFoundError, match=r"^there is no file .*$"):
        read(str(missing), TEXT, format=form)
    if form == "images":
        missing.touch()
        expected = "Not a directory"
    else:
        missing.mkdir()
        expected = "Is a directory"
    with pytest.raises(OSError, match=rf"^{missing} cannot be read: {expected}$"):
        read(str(missing), TEXT, format=form)


def test_formats(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(GOOD)
    with pytest.raises(ValueError, match=r"must have one of the suffixes .csv, .*, or its format"):
        read(str(path))
    with pytest.raises(ValueError, match=r"format must be one of csv, .*; got 'xls'"):
        read(str(path), format="xls")
    assert read(str(path), format="csv")[0] == ["a"]


def test_a_folder_without_images(tmp_path):
    assert refused(tmp_path) == " has no rows"
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "notes.txt").touch()
    assert refused(tmp_path).startswith(", file 'cat/notes.txt': it has none of the suffixes")
    (tmp_path / "cat" / "notes.txt").rename(tmp_path / "cat" / "b\udcff.png")
    assert "its name is not encoded as UTF-8" in refused(tmp_path)
