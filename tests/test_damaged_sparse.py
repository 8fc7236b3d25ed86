"""A sparse matrix with invalid indices raises an error instead of ending the process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from kenyon import FlyClassifier
from tests.damaged_sparse import DAMAGES, FORMATS, X, damaged
from tests.refusal import Y, assert_refused, fitted

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def errors():
    """Return the error of each call with each damaged matrix, from a process of its own."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.damaged_sparse"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = process.stdout.splitlines()
    assert process.returncode == 0, (lines[-1:], process.stderr[-2000:])
    finished = [json.loads(line) for line in lines[1::2]]
    return {tuple(case): error for *case, error in finished}


@pytest.mark.parametrize("form", FORMATS)
def test_every_call_refuses_invalid_indices(errors, form):
    found = {case: error for case, error in errors.items() if case[1] == form}
    assert {case[2] for case in found} == DAMAGES[form].keys()
    assert len({case[3] for case in found}) == 16
    for case, error in found.items():
        assert error is not None, case
        name, sentence = error
        message = DAMAGES[form][case[2]][1]
        assert name == "ValueError", (case, error)
        assert re.match(f"X must (have|be) .*{message}", sentence), (case, error)
        assert "\n" not in sentence


def test_a_refused_matrix_changes_nothing():
    for form in ("csr", "lil"):
        given = damaged("array", form, next(iter(DAMAGES[form])))
        assert_refused(fitted(), lambda m, x=given: m.partial_fit(x, Y), ValueError, "X must have")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_the_check_leaves_a_valid_matrix_as_it_is(form, kind):
    given = getattr(sparse, f"{form}_{kind}")(X)
    other = given.copy()
    model = FlyClassifier(n_cells=100).fit(given, Y)
    assert given.format == form
    assert_array_equal(given.toarray(), other.toarray())
    assert_array_equal(model.predict(given), model.predict(X))


def test_unused_entries_may_be_anything():
    given = sparse.csr_array(X)
    given.indices = np.concatenate([given.indices, np.array([77, -5], dtype=np.int32)])
    given.data = np.concatenate([given.data, [1.0, 2.0]])
    model = fitted()
    assert_array_equal(model.predict(given), model.predict(X))
    assert len(given.indices) == given.indptr[-1] + 2, "X was not changed"


@pytest.mark.parametrize("form", ["coo", "csr", "dok"])
def test_refuses_a_sparse_vector(form):
    given = getattr(sparse, f"{form}_array")(np.ones(5))
    message = r"X must have two dimensions, but has the shape \(5,\)"
    assert_refused(fitted(), lambda m: m.predict(given), ValueError, message)


def test_diagonals_outside_of_the_matrix_are_ignored():
    given = sparse.dia_array((np.ones((2, 30)), [0, -99]), shape=(30, 5))
    model = fitted()
    assert_array_equal(model.predict(given), model.predict(given.toarray()))
