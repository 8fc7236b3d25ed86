"""Samples for the tests of datasets."""

import gzip
import hashlib

import numpy as np
import polars as pl
import pytest

from kenyon_lab.data import Dataset, load
from kenyon_lab.data.source import Source

N = 30
X = np.arange(2.0 * N).reshape(N, 2)
WORDS = np.array(["cat", "ant", "bee"])[np.arange(N) % 3]
TABLE = pl.DataFrame({"size": X[:, 0], "weight": X[:, 1], "label": WORDS})

both_tables = pytest.mark.parametrize("suffix", [".csv", ".parquet"])
all_files = pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])


def assert_rejected(path, sentence=None, error=ValueError, **options):
    with pytest.raises(error, match=sentence) as caught:
        load(path, **options)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def make_dataset(X, y, n_test, **changes):
    """A dataset that is tested on its first samples."""
    arguments = {
        "name": "mine",
        "X_train": X,
        "y_train": y,
        "X_test": X[:n_test],
        "y_test": y[:n_test],
        "class_names": ("a", "naïve", ""),
        "n_tasks": 3,
    }
    return Dataset(**arguments | changes)


def write_source(folder, path, content, decompress=False):
    """Write a file to a data folder and return its source."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(gzip.compress(content) if decompress else content)
    return Source(path, hashlib.sha256(content).hexdigest(), decompress=decompress)
