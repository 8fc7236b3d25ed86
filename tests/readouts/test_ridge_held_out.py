"""Held-out scores of ridge, and the probabilities fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.calibration import calibrate
from tests.reading import dense
from tests.readouts.test_ridge import TEST, X, Y, learned, solution


def calibration(model):
    with model.circuit_.memory.reading as snapshot:
        return calibrate(snapshot, model._readout(), 1)


@pytest.mark.parametrize("n_later", [0, 1])
def test_held_out_scores_equal_a_solution_without_the_sample(n_later):
    model = learned(slice(0, 800), n_cells=600, penalty=0.1)
    model.predict(X[TEST])
    if n_later:  # too few for a new solution
        solver = solution(model).solver
        model.learn_one(X[800], Y[800]).predict(X[TEST])
        assert solution(model).solver is solver
    with model.circuit_.memory.reading as snapshot:
        memory = snapshot.memory
        sample, n = memory.calibration_sample(), memory.samples
        found = model._readout().held_out_scores(snapshot, sample, 1)
        L, C = memory.pairs.expand(1), memory.synapses.T.astype(float)
    G = L + np.tril(L, -1).T + solution(model).shift * np.eye(len(L))
    Phi = dense(sample.codes, len(G))
    for i in range(0, len(found), 150):
        phi, own = Phi[i], np.arange(10) == sample.ranks[i]
        W = np.linalg.solve(G - np.outer(phi, phi), C - np.outer(phi, own))
        np.testing.assert_allclose(found[i], phi @ W * np.sqrt(n.mean() / (n - own)), atol=1e-6)


def test_calibration_lasts_until_a_refresh():
    model = learned(slice(0, 800), n_cells=600, penalty=0.1)
    model.predict_proba(X[TEST])
    before = calibration(model)
    model.learn_one(X[800], Y[800]).predict_proba(X[TEST])
    assert calibration(model) is before
    model.set_params(penalty=1e-3).predict_proba(X[TEST])
    assert calibration(model) != before


def test_calibrates_once_a_class_has_two_samples():
    rows = [int(np.flatnonzero(label == Y)[0]) for label in range(10)]
    model = learned(rows, n_cells=600, penalty=0.1)
    model.predict_proba(X[TEST])
    assert calibration(model) is None
    assert model.novelty_threshold(0.6) == 1
    solver = solution(model).solver
    for label in range(2):
        row = int(np.flatnonzero(label == Y)[1])
        model.learn_one(X[row], Y[row])
    model.predict_proba(X[TEST])
    assert solution(model).solver is solver
    assert calibration(model) is not None
    assert model.novelty_threshold(0.6) < 1


def test_probabilities_are_those_of_the_present_penalty():
    model = learned(penalty=1e-3)
    expected = model.predict_proba(X[TEST])
    model = learned(penalty=1e-3)
    model.predict(X[TEST])
    model.set_params(penalty=10.0).predict(X[TEST])
    found = model.set_params(penalty=1e-3).predict_proba(X[TEST])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_reads_again_after_a_penalty_that_fails():
    model = learned(slice(0, 100))
    expected = model.predict_proba(X[TEST])
    with pytest.raises(ValueError, match="penalty is too small"):
        model.set_params(penalty=1e-300).predict(X[TEST])
    found = model.set_params(penalty="auto").predict_proba(X[TEST])
    np.testing.assert_allclose(found, expected, atol=1e-6)
