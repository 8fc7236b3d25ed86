"""The dense code against sums and divisions of Python's integers."""

import numpy as np
import pytest

from kenyon import SparseCoder
from kenyon_lab.methods.dense_code import DenseCoder


def slow_code(x, channels, on_off):
    largest = max(abs(number) for number in x) or 1.0
    q = [round(number / largest * (32767 // len(channels[0]))) for number in x]
    if on_off:
        q = [max(number, 0) for number in q] + [max(-number, 0) for number in q]
    sums = [sum(q[channel] for channel in cell) for cell in channels]
    spread = max(sums) - min(sums) or 1
    return [(510 * (one - min(sums)) + spread) // (2 * spread) for one in sums]


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
    channels = coder.connections_.tolist()
    expected = [slow_code(x, channels, on_off=n_features < 32) for x in X.astype(float).tolist()]
    assert levels.tolist() == expected
