"""A read soon after another goes on from its factor, and reads the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import FlyClassifier
from kenyon.circuit import journal
from tests.readouts.test_ridge import SMALL, TEST, X, Y, solution, sums, taught


def test_soon_after_it_follows_the_last_solution():
    model = taught(slice(0, 800))
    model.predict(X[TEST])
    before = solution(model)
    model.partial_fit(X[800:830], Y[800:830])
    scores = model.decision_function(X[TEST])
    assert solution(model).R is before.R
    assert len(solution(model).signs) == 30
    fresh = taught(slice(0, 830), penalty=before.penalty).decision_function(X[TEST])
    np.testing.assert_allclose(scores, fresh, atol=1e-10)


def test_the_residual_is_that_of_a_new_factor():
    model = taught(slice(0, 800))
    for start in range(800, 830, 10):
        model.predict(X[TEST])
        model.partial_fit(X[start : start + 10], Y[start : start + 10])
    model.unlearn(X[5:10], Y[5:10]).predict(X[TEST])
    with model.circuit_.memory.reading as snapshot:
        G, C = memory.pairs.expand(1), memory.synapses.T.astype(float)
    followed = solution(model)
    assert len(followed.signs) == 35
    W = followed.solve(C)
    R = C - (G + np.tril(G, -1).T) @ W - followed.penalty * followed.unit * W
    assert (np.linalg.norm(R, axis=0) <= 1e-12 * np.linalg.norm(C, axis=0)).all()


changes = st.lists(
    st.tuples(st.sampled_from(["learn", "learn_one", "unlearn", "rename", "read"]), st.booleans()),
    max_size=12,
)


@given(changes)
@settings(max_examples=15, deadline=None)
def test_whatever_was_read_in_between_scores_are_those_of_a_new_model(actions):
    model = taught(slice(0, 300), n_cells=120, n_active=40, penalty=0.1)
    learned, places = list(range(300)), iter(range(300, 900))
    for action, is_read in actions:
        if action == "learn":
            new = [next(places) for _ in range(7)]
            model.partial_fit(X[new], Y[new])
            learned += new
        elif action == "learn_one":
            learned.append(next(places))
            model.learn_one(X[learned[-1]], Y[learned[-1]])
        elif action == "unlearn":
            model.unlearn(X[learned[:5]], Y[learned[:5]])
            learned = learned[5:]
        elif action == "rename":
            model.rename_class(3, 30).rename_class(30, 3)
        if is_read:
            model.predict(X[:1])
    fresh = FlyClassifier(**{**SMALL, "n_cells": 120, "n_active": 40, "penalty": 0.1})
    fresh.fit(X[learned], Y[learned])
    np.testing.assert_allclose(
        model.decision_function(X[TEST]), fresh.decision_function(X[TEST]), atol=1e-9
    )


def test_after_much_it_factors_anew():
    model = taught(slice(0, 50), penalty=1e-6)
    model.predict(X[TEST])
    before = solution(model)
    model.partial_fit(X[50:900], Y[50:900])
    scores = model.decision_function(X[TEST])
    assert solution(model).R is not before.R
    np.testing.assert_allclose(scores, taught(penalty=1e-6).decision_function(X[TEST]), atol=1e-8)


def test_after_a_merge_it_factors_anew():
    model = taught(slice(0, 800))
    model.predict(X[TEST])
    before = solution(model)
    model.merge(taught(slice(800, 802)))
    scores = model.decision_function(X[TEST])
    assert solution(model).R is not before.R
    np.testing.assert_allclose(scores, taught(slice(0, 802)).decision_function(X[TEST]), atol=1e-9)


def test_after_an_interruption_it_factors_anew(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    model = taught(slice(0, 800))
    model.predict(X[TEST])
    with monkeypatch.context() as patched:
        patched.setattr(journal.Journal, "note", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(X[800], Y[800])
    model.learn_one(X[801], Y[801])
    assert sums(model) == sums(taught(slice(0, 802)))
    np.testing.assert_allclose(
        model.decision_function(X[TEST]),
        taught(slice(0, 802)).decision_function(X[TEST]),
        atol=1e-9,
    )


def test_another_penalty_is_another_solution():
    model = taught(penalty=1e-4)
    model.predict(X[TEST])
    scores = model.set_params(penalty=1.0).decision_function(X[TEST])
    np.testing.assert_allclose(scores, taught(penalty=1.0).decision_function(X[TEST]), atol=1e-12)


def test_new_and_forgotten_classes_follow_too():
    model = taught(slice(0, 800), n_cells=600, penalty=0.1)
    model.predict(X[TEST])
    factor = solution(model).R
    model.learn_one(X[800], 17).drop_class(17).rename_class(3, 30)
    scores = model.decision_function(X[TEST])
    assert solution(model).R is factor
    fresh = taught(slice(0, 800), n_cells=600, penalty=0.1)
    fresh.learn_one(X[800], 17).drop_class(17)
    places = [0, 1, 2, 4, 5, 6, 7, 8, 9, 3]
    np.testing.assert_allclose(scores, fresh.decision_function(X[TEST])[:, places], atol=1e-6)
