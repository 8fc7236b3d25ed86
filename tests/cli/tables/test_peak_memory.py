"""Files of any size are read and written in constant memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"
)
# Not ru_maxrss: a new process begins with the peak of its parent, which wrote the files.
MEASURE = """
import sys
from pathlib import Path
import polars
from kenyon.cli.tables import Columns, read_samples, write_table

columns = Columns(*(value or None for value in sys.argv[1:4]))
small, large, out, how = sys.argv[4:]

def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024

def work(path):
    rows = anonymous = 0
    if how == "whole":
        pieces = list(read_samples(path, columns))
        return sum(len(piece.inputs) for piece in pieces), memory("RssAnon")
    with write_table(out) as writer:
        for piece in read_samples(path, columns):
            rows += len(piece.inputs)
            writer.write(piece.table)
            anonymous = max(anonymous, memory("RssAnon"))
    return rows, anonymous

_, anonymous = work(small)
peak = memory("VmHWM")
rows, anonymous_of_large = work(large)
print(rows, memory("VmHWM") - peak, anonymous_of_large - anonymous)
"""
# Rows of the small and of the large file. The small one is large enough that all buffers are full:
# polars reaches its peak after some ten slices.
ROWS = {
    "csv": (60_000, 400_000),
    "jsonl": (60_000, 400_000),
    "npz": (150_000, 700_000),
    "parquet": (350_000, 1_000_000),
    "arrow": (350_000, 1_000_000),
}
ALLOWED = 2**26
"""Growth of the peak that is allowed, for at least 80 MB more."""
# Each thread of polars keeps freed memory for itself. With several threads the peak depends on the
# order in which they work; with 8 it grows for longer than the small file lasts.
ONE_THREAD = {"POLARS_MAX_THREADS": "1"}


def texts(n_rows):
    return pl.DataFrame({"text": ["word, " * 40] * n_rows, "label": ["a"] * n_rows})


def write(path, n_rows):
    """Write a file of about 250 bytes a row."""
    suffix = path.suffix[1:]
    if suffix == "npz":
        np.savez(path, X=np.zeros((n_rows, 32)), y=np.zeros(n_rows, dtype=int))
    elif suffix == "parquet":
        # Values that differ, because polars would write equal ones once.
        numbers = pl.int_range(n_rows, eager=True).cast(pl.String)
        table = texts(n_rows).with_columns(text=numbers + pl.col("text"))
        table.write_parquet(path, row_group_size=50_000, compression="uncompressed")
    elif suffix == "arrow":
        texts(n_rows).write_ipc(path, record_batch_size=50_000)
    elif suffix == "jsonl":
        texts(n_rows).write_ndjson(path)
    else:
        texts(n_rows).write_csv(path, separator="\t" if suffix == "tsv" else ",")


def measure(form, folder, how):
    """Return the growth of the peak, and of the anonymous memory, from a small to a large file."""
    small, large = folder / f"small.{form}", folder / f"large.{form}"
    n_small, n_large = ROWS[form]
    write(small, n_small)
    write(large, n_large)
    assert large.stat().st_size - small.stat().st_size > 80_000_000
    columns = ("", "*", "y") if form == "npz" else ("text", "", "label")
    process = subprocess.run(
        [sys.executable, "-c", MEASURE, *columns, small, large, folder / f"out.{form}", how],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | ONE_THREAD,
    )
    assert process.stderr == ""
    rows, growth, anonymous_growth = map(int, process.stdout.split())
    assert rows == n_large
    print(form, how, growth / 2**20, anonymous_growth / 2**20)
    return growth, anonymous_growth


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "npz", "arrow"])
def test_memory_does_not_grow_with_the_file(form, tmp_path):
    growth, anonymous_growth = measure(form, tmp_path, "pieces")
    if form == "arrow":
        # The file is mapped into memory: its pages are counted, but can be dropped at any time.
        assert anonymous_growth < 1.5 * ALLOWED
    else:
        assert growth < ALLOWED


def test_the_measure_notices_a_file_that_is_held_in_memory(tmp_path):
    assert min(measure("csv", tmp_path, "whole")) > 2 * ALLOWED
