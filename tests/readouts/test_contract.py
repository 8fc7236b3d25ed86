"""The properties that all readouts share."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from kenyon.circuit.calibration_sample import TENSORS
from tests.reading import model_state

X, Y = load_digits(return_X_y=True)
READOUTS = {
    "fly": {},
    "bayes": {"pseudocount": 0.5},
    "ridge": {"penalty": 0.1, "inhibition": "subtract"},
}
EXACT = {"rtol": 0, "atol": 0}
TOLERANCE = {"fly": EXACT, "bayes": EXACT, "ridge": {"rtol": 1e-7, "atol": 1e-9}}
"""Ridge rounds, and updates earlier factors; its sums are exact."""

readouts = pytest.mark.parametrize("readout", READOUTS)
indices = st.lists(st.integers(0, len(X) - 1), min_size=2, max_size=60)


def new(readout, **parameters):
    sizes = {"n_cells": 200, "fan_in": 8, "n_active": 40}
    return FlyClassifier(readout=readout, **{**sizes, **READOUTS[readout], **parameters})


def learned(readout, rows, **parameters):
    return new(readout, **parameters).fit(X[rows], Y[rows])


def assert_same_answers(readout, one, other):
    for read in ("decision_function", "predict_proba", "novelty"):
        expected = getattr(other, read)(X[:40])
        np.testing.assert_allclose(getattr(one, read)(X[:40]), expected, **TOLERANCE[readout])


@readouts
@given(indices, st.randoms(), st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_order_batches_and_shards_do_not_matter(readout, rows, random, n_shards):
    whole, one_by_one = learned(readout, rows), new(readout)
    for row in random.sample(rows, len(rows)):
        one_by_one.learn_one(X[row], int(Y[row]))
        one_by_one.predict_one(X[0])
    shards = [learned(readout, rows[i::n_shards]) for i in range(min(n_shards, len(rows)))]
    for other in (one_by_one, FlyClassifier.merged(shards)):
        assert model_state(other) == model_state(whole)
        assert_same_answers(readout, other, whole)


@readouts
@given(indices, indices)
@settings(max_examples=10, deadline=None)
def test_unlearn_is_exact(readout, rows, removed):
    model = learned(readout, rows + removed)
    model.predict(X[:1])
    model.unlearn(X[removed], Y[removed])
    never = learned(readout, rows)
    assert model_state(model, but=TENSORS) == model_state(never, but=TENSORS)
    np.testing.assert_allclose(
        model.decision_function(X[:40]),
        never.decision_function(X[:40]),
        **TOLERANCE[readout],
    )


@readouts
def test_save_and_load(readout, tmp_path):
    model = learned(readout, np.arange(500))
    model.save(tmp_path / "model.kenyon")
    other = kenyon.load(tmp_path / "model.kenyon")
    assert model_state(other) == model_state(model)
    assert_same_answers(readout, other, model)
    assert other.novelty_threshold(0.1) == pytest.approx(model.novelty_threshold(0.1))


@readouts
def test_predict_one_equals_predict(readout):
    model = learned(readout, np.arange(500))
    np.testing.assert_array_equal(
        [model.predict_one(x) for x in X[500:700]], model.predict(X[500:700])
    )


@readouts
@pytest.mark.parametrize("n_threads", [2, None])
def test_threads_do_not_change_results(readout, n_threads):
    reference, model = (
        learned(readout, np.arange(900), n_threads=threads) for threads in (1, n_threads)
    )
    assert model_state(model) == model_state(reference)
    assert_same_answers(readout, model, reference)


@readouts
def test_contributions_add_up_to_scores(readout):
    model = learned(readout, np.arange(500))
    for x in X[700:710]:
        explanation = model.explain(x)
        np.testing.assert_allclose(explanation.contributions.sum(axis=0), explanation.scores)
        np.testing.assert_allclose(explanation.scores, model.decision_function(x[None])[0])


@readouts
def test_a_rejected_call_changes_no_answer(readout):
    model = learned(readout, np.arange(500))
    model.predict_proba(X[:1])
    model.partial_fit(X[500:510], Y[500:510])
    before = [read(X[700:800]) for read in (model.predict_proba, model.novelty)]
    with pytest.raises(ValueError, match="not learned"):
        model.unlearn(X[900:1000], Y[900:1000])
    after = [read(X[700:800]) for read in (model.predict_proba, model.novelty)]
    for one, other in zip(after, before, strict=True):
        np.testing.assert_array_equal(one, other)


@readouts
def test_readers_see_the_model_between_batches(readout):
    """Every answer is that of the model after a whole number of batches."""
    batches = [np.arange(i, i + 100) for i in range(0, 900, 100)]
    model, growing = learned(readout, batches[0]), learned(readout, batches[0])
    possible = [growing.decision_function(X[:20])]
    for rows in batches[1:]:
        growing.partial_fit(X[rows], Y[rows])
        possible.append(growing.decision_function(X[:20]))
    done, seen = threading.Event(), []

    def read():
        while not done.is_set():
            seen.append(model.decision_function(X[:20]))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for rows in batches[1:]:
        model.partial_fit(X[rows], Y[rows])
    done.set()
    for thread in threads:
        thread.join()
    # Ridge rounds, so an answer is compared with the nearest possible one.
    far = [min(np.abs(answer - one).max() for one in possible) for answer in seen]
    assert max(far, default=0) <= 1e-9
    assert model_state(model) == model_state(growing)
