"""A small dataset of one's own, and how it is seen that a file of it is refused."""

import numpy as np
import polars as pl
import pytest

from kenyon_lab.data import load

N = 30
X = np.arange(2.0 * N).reshape(N, 2)
WORDS = np.array(["cat", "ant", "bee"])[np.arange(N) % 3]
TABLE = pl.DataFrame({"size": X[:, 0], "weight": X[:, 1], "label": WORDS})

both_tables = pytest.mark.parametrize("suffix", [".csv", ".parquet"])


def assert_refused(path, sentence=None, error=ValueError, **options):
    with pytest.raises(error, match=sentence) as caught:
        load(path, **options)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
