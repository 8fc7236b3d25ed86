"""The peak memory of `kenyon learn` and `kenyon predict` on files of up to 10 GB.

Run as `python benchmarks/large_files.py`; `--quick` only shows that it runs. Texts are those of
CLINC150, from KENYON_DATA_DIR or downloaded. Needs 25 GB of disk in TMPDIR. Writes
benchmarks/results/large_files.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from base64 import b64encode
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import report
from commands import KENYON, Cost
from problem import SEED

from kenyon_lab.data.clinc150 import read_queries

if TYPE_CHECKING:
    from collections.abc import Iterator

GIGABYTES = {"csv": (0.1, 1, 10), "jsonl": (0.1, 1), "parquet": (0.1, 1)}
NOTE_LENGTH = 20_000
ROWS_PER_WRITE = 2000

METHOD = f"""\
Each file has the columns text, label and note. The texts are CLINC150's training queries, again and
again. The note is {NOTE_LENGTH:,} random characters, which no command uses, but `predict` copies.
`kenyon learn` uses `--encoder hashing --set readout=fly`, and `kenyon predict` writes a file of the
same format. Peak memory is the largest resident set of the process, with Python and its packages.
The Parquet files have row groups of {ROWS_PER_WRITE:,} rows."""
HEADER = ("file", "GB", "rows", "learn, peak MB", "predict, peak MB")


def tables(n_bytes: float) -> Iterator[pl.DataFrame]:
    """Yield tables of about this size in all."""
    queries = read_queries()["train"]
    rows = cycle(zip(queries.texts, queries.intents, strict=True))
    rng = np.random.default_rng(SEED)
    # Base64 makes 4 characters of 3 bytes.
    n_random, written = NOTE_LENGTH * 3 // 4, 0
    while written < n_bytes:
        table = pl.DataFrame(
            [(*next(rows), b64encode(rng.bytes(n_random)).decode()) for _ in range(ROWS_PER_WRITE)],
            schema=["text", "label", "note"],
            orient="row",
        )
        written += table.estimated_size()
        yield table


def write(path: Path, n_bytes: float) -> int:
    """Write a file of about this size, and return its rows."""
    n_rows = 0
    if path.suffix == ".parquet":
        pieces = list(tables(n_bytes))
        pl.concat(pieces).write_parquet(path, row_group_size=ROWS_PER_WRITE)
        return sum(len(piece) for piece in pieces)
    with path.open("wb") as file:
        for table in tables(n_bytes):
            if path.suffix == ".csv":
                table.write_csv(file, include_header=not n_rows)
            else:
                table.write_ndjson(file)
            n_rows += len(table)
    return n_rows


def measure(form: str, gigabytes: float, folder: Path) -> tuple[str, ...]:
    """Return a row of the table."""
    path, model, answers = (folder / name for name in (f"large.{form}", "model", f"answers.{form}"))
    model.unlink(missing_ok=True)
    n_rows = write(path, gigabytes * 1e9)
    learning, predicting = Cost(), Cost()
    options = ("--encoder", "hashing", "--set", "readout=fly")
    learning.measure([KENYON, "learn", model, path, *options], folder)
    predicting.measure([KENYON, "predict", model, path, "-o", answers], folder)
    size = path.stat().st_size / 1e9
    path.unlink()
    answers.unlink()
    row = (
        form,
        f"{size:.2f}",
        f"{n_rows:,}",
        f"{learning.peak:,.0f}",
        f"{predicting.peak:,.0f}",
    )
    print(json.dumps(row), file=sys.stderr, flush=True)
    return row


def main() -> None:
    quick = report.parse_quick(__doc__)
    environment = report.environment(packages=("kenyon", "numpy", "scikit-learn", "polars"))
    scale = 0.01 if quick else 1
    with tempfile.TemporaryDirectory() as name:
        rows = [
            measure(form, gigabytes * scale, Path(name))
            for form, sizes in GIGABYTES.items()
            for gigabytes in sizes
        ]
    report.publish(
        "large_files.md",
        "# Large files",
        environment,
        METHOD,
        report.table(HEADER, rows),
        saved=not quick,
    )


if __name__ == "__main__":
    main()
