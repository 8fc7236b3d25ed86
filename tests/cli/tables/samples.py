"""The same samples as files of every format, and their rows read back."""

import csv
import json

import numpy as np
import polars as pl

from kenyon.cli.tables import BadRows, Columns, read_samples

TEXT = Columns("text", None, "label")
FEATURES = Columns(None, "x*", "label")
TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")
ALL = (*TABLES, "npz", "images")


def table(n=23):
    """A table with a text column, two feature columns, labels, and a column of its own."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "text": [f'sentence {i}, "é"\n€😀' for i in range(n)],
            "x0": rng.normal(size=n),
            "x1": rng.normal(size=n) * 1e-30,
            "label": [f"class {i % 3}" for i in range(n)],
            "note": [f"n{i}" for i in range(n)],
        }
    )


def write(folder, form, content, *, values="text"):
    """Write a table by other means than the package; return the path."""
    path = folder / ("photos" if form == "images" else f"table.{form}")
    if form in ("csv", "tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="," if form == "csv" else "\t")
            writer.writerow(content.columns)
            writer.writerows(content.rows())
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content.to_dicts()))
    elif form == "parquet":
        content.write_parquet(path, row_group_size=7)
    elif form == "arrow":
        content.write_ipc(path, record_batch_size=5)
    elif form == "npz":
        X = content.select("x0", "x1").to_numpy()
        np.savez_compressed(path, X=X, y=np.array(content["label"].to_list()))
    else:
        for i, label in enumerate(sorted(content["label"].to_list())):
            (path / label).mkdir(parents=True, exist_ok=True)
            (path / label / f"{i:04d}.png").touch()
    return str(path)


def columns_of(form):
    return TEXT if form == "images" else FEATURES


def read(path, columns=TEXT, *, skip_bad=False, **options):
    """Return all inputs, labels and tables of a file, its last end, and its bad rows."""
    bad = BadRows() if skip_bad else None
    pieces = list(read_samples(path, columns, bad=bad, **options))
    inputs = [row for piece in pieces for row in to_list(piece.inputs)]
    labels = [label for piece in pieces if piece.labels is not None for label in piece.labels]
    rows = [row for piece in pieces for row in piece.table.rows()]
    ends = [piece.end for piece in pieces]
    assert ends == sorted(set(ends))
    for piece in pieces:
        assert len(piece.inputs) == piece.table.height <= options.get("max_rows", 8192)
    return inputs, labels, rows, ends[-1] if ends else 0, bad


def to_list(inputs):
    return inputs.tolist() if isinstance(inputs, np.ndarray) else inputs
