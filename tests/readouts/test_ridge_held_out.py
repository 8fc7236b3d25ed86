"""What ridge has learned, read as if it had not: what probabilities rest on."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.calibration import calibrate
from tests.readouts.test_ridge import TEST, X, Y, solution, taught


@pytest.mark.parametrize("n_later", [0, 1])
def test_what_was_learned_is_read_as_if_it_had_not_been(n_later):
    model = taught(slice(0, 800), n_cells=600, penalty=0.1)
    model.predict(X[TEST])
    if n_later:  # too few to factor the matrix again
        factor = solution(model).R
        model.learn_one(X[800], Y[800]).predict(X[TEST])
        assert solution(model).R is factor
    with model.circuit_.memory.reading as snapshot:
        kept, n = memory.kept, memory.samples
        found = model._readout().held_out_scores(memory, kept, 1)
        L, C = memory.pairs.expand(1), memory.synapses.T.astype(float)
    G = L + np.tril(L, -1).T + 0.1 * solution(model).unit * np.eye(len(L))
    starts, cells, levels = kept.codes.to_csr()
    for i in range(0, len(found), 150):
        phi = np.zeros(len(G))
        phi[cells[starts[i] : starts[i + 1]]] = levels[starts[i] : starts[i + 1]]
        own = np.arange(10) == kept.ranks[i]
        W = np.linalg.solve(G - np.outer(phi, phi), C - np.outer(phi, own))
        np.testing.assert_allclose(found[i], phi @ W * np.sqrt(n.mean() / (n - own)), atol=1e-6)


def test_probabilities_stay_calibrated_until_the_matrix_is_factored_again():
    model = taught(slice(0, 800), n_cells=600, penalty=0.1)
    model.predict_proba(X[TEST])
    with model.circuit_.memory.reading as snapshot:
        before = calibrate(memory, model._readout(), 1)
    model.learn_one(X[800], Y[800]).predict_proba(X[TEST])
    with model.circuit_.memory.reading as snapshot:
        assert calibrate(memory, model._readout(), 1) is before
    model.set_params(penalty=1e-3).predict_proba(X[TEST])
    with model.circuit_.memory.reading as snapshot:
        assert calibrate(memory, model._readout(), 1) != before


def test_probabilities_are_those_of_the_penalty_that_is_asked_for():
    model = taught(penalty=1e-3)
    expected = model.predict_proba(X[TEST])
    model = taught(penalty=1e-3)
    model.predict(X[TEST])
    model.set_params(penalty=10.0).predict(X[TEST])
    found = model.set_params(penalty=1e-3).predict_proba(X[TEST])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_after_a_penalty_that_fails_the_last_one_still_reads():
    model = taught(slice(0, 100))
    expected = model.predict_proba(X[TEST])
    with pytest.raises(ValueError, match="penalty is too small"):
        model.set_params(penalty=1e-300).predict(X[TEST])
    found = model.set_params(penalty="auto").predict_proba(X[TEST])
    np.testing.assert_allclose(found, expected, atol=1e-6)
