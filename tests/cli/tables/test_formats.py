"""What holds for every format: equal rows, in pieces of any size, after any number of rows."""

import os
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

from kenyon.cli.tables import BadRows, Columns, Progress, read_samples
from tests.cli.tables.samples import ALL, FEATURES, TABLES, TEXT, columns_of, read, table, write


@pytest.mark.parametrize("form", TABLES)
def test_texts_are_the_same_in_every_format(form, tmp_path):
    expected = table()
    texts, labels, _, end, _ = read(write(tmp_path, form, expected))
    assert texts == expected["text"].to_list()
    assert labels == expected["label"].to_list()
    assert end == expected.height


@pytest.mark.parametrize("form", [*TABLES, "npz"])
def test_features_are_the_same_in_every_format(form, tmp_path):
    expected = table()
    path = write(tmp_path, form, expected)
    inputs, labels, _, end, _ = read(path, FEATURES)
    assert inputs == expected.select("x0", "x1").to_numpy().tolist()
    assert labels == expected["label"].to_list()
    assert end == expected.height
    for piece in read_samples(path, FEATURES):
        assert piece.feature_names == ["x0", "x1"]
        assert piece.inputs.dtype == np.float64
        assert piece.inputs.flags.c_contiguous


@pytest.mark.parametrize("form", TABLES)
def test_the_table_holds_all_columns(form, tmp_path):
    expected = table()
    path = write(tmp_path, form, expected)
    found = pl.concat([piece.table for piece in read_samples(path, FEATURES, max_rows=4)])
    assert found.equals(expected)


def test_images_have_the_names_of_their_folders_as_labels(tmp_path):
    expected = table()
    path = write(tmp_path, "images", expected)
    files, labels, rows, end, _ = read(path)
    assert labels == sorted(expected["label"].to_list()) == [file.parent.name for file in files]
    assert rows == [(str(file), label) for file, label in zip(files, labels, strict=True)]
    assert all(file.is_file() for file in files)
    assert end == len(files) == expected.height


@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize("max_rows", [1, 4, 23, 100])
@pytest.mark.parametrize("block_size", [16, 100, 2**23])
def test_pieces_of_any_size_give_the_same_rows(form, max_rows, block_size, tmp_path):
    path = write(tmp_path, form, table())
    columns = columns_of(form)
    assert read(path, columns, max_rows=max_rows, block_size=block_size) == read(path, columns)


@pytest.mark.parametrize("form", ALL)
def test_skipped_rows_are_those_at_the_beginning(form, tmp_path):
    path = write(tmp_path, form, table())
    columns = columns_of(form)
    inputs, labels, rows, end, _ = read(path, columns)
    for skip_rows in (0, 1, 4, 5, 22):
        for block_size in (50, 2**23):
            options = {"skip_rows": skip_rows, "max_rows": 4, "block_size": block_size}
            assert read(path, columns, **options) == (
                *(inputs[skip_rows:], labels[skip_rows:], rows[skip_rows:], end, None),
            )
    assert read(path, columns, skip_rows=end)[0] == []
    with pytest.raises(ValueError, match="has 23 rows, but 24 rows were to be skipped"):
        read(path, columns, skip_rows=24)


@pytest.mark.parametrize("form", ALL)
def test_reading_goes_on_after_the_end_of_a_piece(form, tmp_path):
    content = table()
    if form != "images":
        content = spoil(content, form)
    path = write(tmp_path, form, content)
    columns = columns_of(form)
    whole = read(path, columns, skip_bad=True, max_rows=3)
    done = []
    for piece in read_samples(path, columns, bad=BadRows(), max_rows=3):
        done += piece.table.rows()
        rest = read(path, columns, skip_bad=True, skip_rows=piece.end)
        assert done + rest[2] == whole[2]


def spoil(content, form):
    """Make the features of some rows bad."""
    bad = {0, 5, 6, 7, 8, 22}
    value = None if form in ("csv", "tsv", "jsonl") else float("nan")
    x1 = [value if i in bad else x for i, x in enumerate(content["x1"].to_list())]
    return content.with_columns(pl.Series("x1", x1))


@pytest.mark.parametrize("form", [*TABLES, "npz"])
@pytest.mark.parametrize("max_rows", [1, 3, 8192])
def test_bad_rows_are_counted_in_every_format(form, max_rows, tmp_path):
    content = table()
    path = write(tmp_path, form, spoil(content, form))
    inputs, labels, _, end, bad = read(path, FEATURES, skip_bad=True, max_rows=max_rows)
    good = [i for i in range(23) if i not in {0, 5, 6, 7, 8, 22}]
    assert labels == content["label"].gather(good).to_list()
    assert inputs == content.select("x0", "x1")[good].to_numpy().tolist()
    assert bad.count == 6
    assert len(bad.sentences) == 5
    # The last row is bad: its piece may have no samples.
    assert end in (22, 23)
    place = "line 2" if form in ("csv", "tsv") else "line 1" if form == "jsonl" else "row 1"
    assert bad.sentences[0].startswith(f"{path}, {place}, column 'x1': ")
    with pytest.raises(ValueError) as caught:
        read(path, FEATURES)
    assert str(caught.value) == bad.sentences[0]


@pytest.mark.parametrize("form", ALL)
def test_without_a_label_column_there_are_no_labels(form, tmp_path):
    columns = columns_of(form)._replace(label=None)
    for piece in read_samples(write(tmp_path, form, table()), columns):
        assert piece.labels is None
        assert piece.end == 23


@pytest.mark.parametrize("form", ALL)
def test_progress_ends_at_the_total(form, tmp_path):
    progress = Progress()
    path = write(tmp_path, form, table())
    done = []
    for _ in read_samples(path, columns_of(form), progress=progress, max_rows=2, block_size=50):
        assert progress.total
        done.append(progress.done)
    assert done == sorted(done)
    assert progress.done == progress.total
    text = form in ("csv", "tsv", "jsonl")
    assert progress.unit == ("bytes" if text else "files" if form == "images" else "rows")


@pytest.mark.parametrize("form", ALL)
def test_progress_follows_the_rows_of_one_block(form, tmp_path):
    progress = Progress()
    path = write(tmp_path, form, table())
    shares = [
        (progress.done / progress.total, samples.end / 23)
        for samples in read_samples(path, columns_of(form), progress=progress, max_rows=5)
    ]
    assert len(shares) == 5
    assert all(abs(done - expected) < 0.01 for done, expected in shares)


READ_STANDARD_INPUT = """
import sys
from kenyon.cli.tables import Columns, Progress, read_samples
progress = Progress()
for piece in read_samples("-", Columns(None, "x*", "label"), format=sys.argv[1], progress=progress):
    print(piece.inputs.tolist(), piece.labels, piece.end)
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_standard_input(form, tmp_path):
    path = write(tmp_path, form, table())
    with open(path, "rb") as file:  # noqa: PTH123
        process = subprocess.run(
            [sys.executable, "-c", READ_STANDARD_INPUT, form],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=120,
        )
    inputs, labels, _, end, _ = read(path, FEATURES)
    assert process.stderr == ""
    assert process.stdout == f"{inputs} {labels} {end}\n"


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_a_fifo(form, tmp_path):
    path = write(tmp_path, form, table())
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def feed():
        with open(path, "rb") as source, fifo.open("wb") as target:  # noqa: PTH123
            target.write(source.read())

    thread = threading.Thread(target=feed)
    thread.start()
    found = read(str(fifo), TEXT, format=None if form == "csv" else form)
    thread.join()
    assert found == read(path, TEXT)


def test_feature_patterns(tmp_path):
    path = write(tmp_path, "csv", table())
    for patterns, names in {
        "*0": ["x0"],
        "x1,x0": ["x0", "x1"],
        "x[01]": ["x0", "x1"],
        " x0 , x1 ": ["x0", "x1"],
    }.items():
        piece = next(read_samples(path, Columns(None, patterns, "label")))
        assert piece.feature_names == names
        assert piece.inputs.shape == (23, len(names))


def test_a_star_matches_all_columns_but_the_label(tmp_path):
    content = table().select("x0", pl.lit(3).alias("label"), "x1")
    path = write(tmp_path, "csv", content)
    piece = next(read_samples(path, Columns(None, "*", "label")))
    assert piece.feature_names == ["x0", "x1"]
    assert next(read_samples(path, Columns(None, "*", None))).inputs.shape == (23, 3)


def test_npz_features_can_be_selected(tmp_path):
    path = write(tmp_path, "npz", table())
    inputs, *_ = read(path, Columns(None, "x1", None))
    assert inputs == table().select("x1").to_numpy().tolist()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i1", "u8", "?"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_arrays_of_every_kind(order, dtype, save, tmp_path):
    path = tmp_path / "a.npz"
    X = np.random.default_rng(0).integers(0, 2, (9, 3)).astype(dtype)
    save(path, X=np.asarray(X, order=order), y=np.arange(9, dtype=">i4"))
    inputs, labels, rows, _, _ = read(str(path), max_rows=4, skip_rows=2)
    assert inputs == X[2:].astype(float).tolist()
    assert labels == list(range(2, 9))
    assert rows == [(i + 1, i) for i in range(2, 9)]


LABELS = {
    "int": ([3, -1], pl.Int8, [3, -1]),
    "large": ([2**64 - 1, 0], pl.UInt64, [2**64 - 1, 0]),
    "bool": ([True, False], pl.Boolean, [True, False]),
    "whole floats": ([3.0, -1.0], pl.Float32, [3, -1]),
    "categories": (["a", "b"], pl.Categorical, ["a", "b"]),
    "enumeration": (["a", "b"], pl.Enum(["b", "a"]), ["a", "b"]),
}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_typed_files_keep_their_kind(form, kind, tmp_path):
    values, dtype, expected = LABELS[kind]
    content = pl.DataFrame({"text": ["a", "b"], "label": pl.Series(values, dtype=dtype)})
    _, labels, _, _, _ = read(write(tmp_path, form, content))
    assert labels == expected
    assert [type(label) for label in labels] == [type(label) for label in expected]


def test_json_labels_keep_their_kind(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": 3}\n{"text": "b", "label": 4.0}\n')
    assert read(str(path))[1] == [3, 4]
    path.write_text('{"text": "a", "label": true}')
    assert read(str(path))[1] == [True]


def test_other_json_values_are_shown_as_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "a", "label": 3, "n": 1}\n\n{"text": "b", "label": 3, "tags": ["é", null]}\n'
    )
    assert read(str(path))[2] == [("a", 3, "1", None), ("b", 3, None, '["é", null]')]


def test_single_precision_features_stay_single(tmp_path):
    content = table().cast({"x0": pl.Float32, "x1": pl.Float32})
    piece = next(read_samples(write(tmp_path, "parquet", content), FEATURES))
    assert piece.inputs.dtype == np.float32
    mixed = content.with_columns(pl.Series("x1", [True] * 23))
    piece = next(read_samples(write(tmp_path, "parquet", mixed), FEATURES))
    assert piece.inputs.dtype == np.float64
    assert (piece.inputs[:, 1] == 1).all()


def test_numbers_with_spaces_around_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('label,x0,x1\na, 1 ,"2 "\nb,+3, 4e0\n')
    assert read(str(path), FEATURES)[0] == [[1.0, 2.0], [3.0, 4.0]]


def test_images_without_labels_may_lie_anywhere(tmp_path):
    for name in ("b.png", "a/z.jpg", "a/deep/c.PNG", ".hidden/d.png", "a/.e.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    files, *_ = read(str(tmp_path), Columns(None, None, None))
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "a/deep/c.PNG",
        "a/z.jpg",
        "b.png",
    ]
    with pytest.raises(ValueError, match=r"file 'b.png': it is in no class folder"):
        read(str(tmp_path), TEXT)
    files, labels, *_ = read(str(tmp_path), TEXT, skip_bad=True)
    assert labels == ["a", "a"]
