"""Rows repeated without a copy of all of them."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kenyon.circuit import Repeated

counts = st.lists(st.integers(0, 5), min_size=1, max_size=20).filter(any)


@given(counts, st.integers(1, 7))
def test_slices_equal_those_of_numpys_repeat(counts, size):
    rows = np.arange(3 * len(counts)).reshape(-1, 3)
    expected = np.repeat(rows, counts, axis=0)
    for kind in (np.asarray, sparse.csr_array):
        repeated = Repeated(kind(rows), np.array(counts))
        assert repeated.shape == expected.shape
        assert len(repeated) == len(expected)
        for start in range(0, len(expected), size):
            part = repeated[start : start + size]
            part = part.toarray() if sparse.issparse(part) else part
            np.testing.assert_array_equal(part, expected[start : start + size], strict=True)


def test_slices_of_labels_keep_their_type():
    labels = Repeated(np.array(["a", "bcd"], dtype=object), np.array([1, 2]))
    assert labels[0:3].dtype == object
    assert labels[1:9].tolist() == ["bcd", "bcd"]


def test_only_slices_are_copied():
    tracemalloc.start()
    repeated = Repeated(np.ones((2, 1000)), np.array([10**9, 10**9]))
    assert repeated[10**9 - 5 : 10**9 + 5].sum() == 10_000
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
