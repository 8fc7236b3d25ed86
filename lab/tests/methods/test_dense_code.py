"""The dense code against a slow one."""

import numpy as np
import pytest

from kenyon import SparseCoder
from kenyon_lab.methods.dense_code import DenseCoder
from lab.tests.methods.slow_code import dense_code


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_features", "n_cells", "fan_in"),
    [(1, 5, 2), (12, 60, 5), (31, 40, 62), (32, 40, 32), (84, 200, 10), (300, 50, 64)],
)
def test_every_level(n_features, n_cells, fan_in, dtype):
    random = np.random.default_rng(n_features)
    X = random.standard_normal((40, n_features)).astype(dtype)
    X[0], X[1], X[2] = 0, 1, -1
    X[10:20] = np.abs(X[10:20])
    X[20:30] = np.round(X[20:30])
    X[30:35] *= dtype(1e30)
    coder = SparseCoder(n_cells=n_cells, fan_in=fan_in, random_state=3).fit(X)
    levels = DenseCoder(coder).levels(X)
    assert levels.dtype == np.uint8
    assert levels.tolist() == [dense_code(x, coder) for x in X]
