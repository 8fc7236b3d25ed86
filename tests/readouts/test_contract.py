"""What every readout promises, whatever it makes of the memory."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier

X, Y = load_digits(return_X_y=True)
READOUTS = {
    "fly": {},
    "bayes": {"pseudocount": 0.5},
    "ridge": {"penalty": 0.1, "inhibition": "subtract"},
}
TOLERANCE = {"fly": 0, "bayes": 0, "ridge": 1e-9}
"""Ridge rounds, and goes on from what it has factored before; the sums are exact."""

readouts = pytest.mark.parametrize("readout", READOUTS)
indices = st.lists(st.integers(0, len(X) - 1), min_size=2, max_size=60)


def new(readout, **parameters):
    sizes = {"n_cells": 200, "fan_in": 8, "n_active": 40}
    return FlyClassifier(readout=readout, **{**sizes, **READOUTS[readout], **parameters})


def taught(readout, rows, **parameters):
    return new(readout, **parameters).fit(X[rows], Y[rows])


def content(model, *, kept=True):
    with model.circuit_.memory.reading as snapshot:
        found = memory.content().items()
    return {name: array.tolist() for name, array in found if kept or "kept" not in name}


def same(readout, one, other):
    for read in ("decision_function", "predict_proba", "novelty"):
        expected = getattr(other, read)(X[:40])
        np.testing.assert_allclose(getattr(one, read)(X[:40]), expected, atol=TOLERANCE[readout])


@readouts
@given(indices, st.randoms(), st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_batch_is_one_by_one_is_shuffled_is_merged(readout, rows, random, n_shards):
    whole, one_by_one = taught(readout, rows), new(readout)
    for row in random.sample(rows, len(rows)):
        one_by_one.learn_one(X[row], int(Y[row]))
        one_by_one.predict_one(X[0])
    shards = [taught(readout, rows[i::n_shards]) for i in range(min(n_shards, len(rows)))]
    for other in (one_by_one, FlyClassifier.merged(shards)):
        assert content(other) == content(whole)
        same(readout, other, whole)


@readouts
@given(indices, indices)
@settings(max_examples=10, deadline=None)
def test_unlearned_is_never_learned(readout, rows, taken):
    model = taught(readout, rows + taken)
    model.predict(X[:1])
    model.unlearn(X[taken], Y[taken])
    never = taught(readout, rows)
    assert content(model, kept=False) == content(never, kept=False)
    np.testing.assert_allclose(
        model.decision_function(X[:40]), never.decision_function(X[:40]), atol=TOLERANCE[readout]
    )


@readouts
def test_saved_is_loaded(readout, tmp_path):
    model = taught(readout, np.arange(500))
    model.save(tmp_path / "model.kenyon")
    other = kenyon.load(tmp_path / "model.kenyon")
    assert content(other) == content(model)
    same(readout, other, model)
    assert other.novelty_threshold(0.1) == pytest.approx(model.novelty_threshold(0.1))


@readouts
def test_one_at_a_time_gives_the_labels_of_a_batch(readout):
    model = taught(readout, np.arange(500))
    np.testing.assert_array_equal(
        [model.predict_one(x) for x in X[500:700]], model.predict(X[500:700])
    )


@readouts
@pytest.mark.parametrize("n_threads", [2, None])
def test_threads_do_not_change_results(readout, n_threads):
    reference, model = (
        taught(readout, np.arange(900), n_threads=threads) for threads in (1, n_threads)
    )
    assert content(model) == content(reference)
    same(readout, model, reference)


@readouts
def test_explanations_add_up_to_the_scores(readout):
    model = taught(readout, np.arange(500))
    for x in X[700:710]:
        explanation = model.explain(x)
        np.testing.assert_allclose(explanation.contributions.sum(axis=0), explanation.scores)
        np.testing.assert_allclose(explanation.scores, model.decision_function(x[None])[0])


@readouts
def test_a_call_that_fails_leaves_every_answer_as_it_was(readout):
    model = taught(readout, np.arange(500))
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
    """Every answer is that of the model after some whole number of batches."""
    batches = [np.arange(i, i + 100) for i in range(0, 900, 100)]
    model, growing = taught(readout, batches[0]), taught(readout, batches[0])
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
    # Ridge rounds, so an answer is taken for the one that it is nearest to.
    far = [min(np.abs(answer - one).max() for one in possible) for answer in seen]
    assert max(far, default=0) <= 1e-9
    assert content(model) == content(growing)
