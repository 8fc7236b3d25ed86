"""Naive Bayes against scikit-learn's, and when linear readouts compute their weights."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from kenyon._validation import design_layer
from kenyon.circuit import Circuit, CountingMemory, DecayingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.readouts import BayesReadout
from tests.reading import AUTO, bayes, dense

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
X = np.random.default_rng(1).standard_normal((80, 12))
Y = [0, 1, 2, 3, 4] * 16
CODES = CODER.native.encode(X, 1)


@pytest.fixture
def circuit():
    circuit = Circuit(CODER, CountingMemory(CODER.n_cells))
    circuit.learn(X, Y, AUTO, 1)
    return circuit


@pytest.fixture
def versions(monkeypatch):
    """The version of every snapshot that weights are computed of, slowly."""
    seen, compute = [], BayesReadout.compute_weights

    def slow(self, snapshot, n_threads):
        seen.append(snapshot.version)
        time.sleep(0.05)
        return compute(self, snapshot, n_threads)

    monkeypatch.setattr(BayesReadout, "compute_weights", slow)
    return seen


def scores(circuit, readout, n_threads=1):
    with circuit.memory.reading as snapshot:
        return readout.scores(snapshot, CODES, n_threads)


@pytest.mark.parametrize("pseudocount", [0.01, 0.1, 3.0])
def test_matches_scikit_learn_with_a_uniform_prior(circuit, pseudocount):
    phi = dense(CODES, CODER.n_cells) / 255
    expected = MultinomialNB(alpha=pseudocount, fit_prior=False).fit(phi, Y)
    readout = bayes(pseudocount)
    np.testing.assert_allclose(
        scores(circuit, readout, 2), phi @ expected.feature_log_prob_.T, rtol=1e-12
    )
    with circuit.memory.reading as snapshot:
        ranks = readout.best(snapshot, CODES, 1).tolist()
        one_by_one = [readout.best_one(snapshot, CODER.native.encode_one(x)) for x in X]
    assert ranks == expected.predict(phi).tolist() == one_by_one


def test_computes_weights_once_after_each_change(circuit, versions):
    changes = [
        lambda: None,
        lambda: circuit.learn(X[:1], Y[:1], AUTO, 1),
        lambda: circuit.unlearn([(X[:1], Y[:1])], 1),
        lambda: circuit.rename_class(4, 9),
        lambda: circuit.memory.replace(lambda memory: memory.drop_class(9)),
    ]
    for n, change in enumerate(changes, start=1):
        change()
        for _ in range(3):
            # Equal readouts share the weights.
            scores(circuit, bayes(0.5))
        assert len(set(versions)) == len(versions) == n


def test_classes_keep_their_scores(circuit):
    readout = bayes(0.5)
    before = scores(circuit, readout)
    circuit.rename_class(0, 7)
    np.testing.assert_array_equal(scores(circuit, readout), before[:, [1, 2, 3, 4, 0]])
    circuit.drop_class(2)
    np.testing.assert_array_equal(scores(circuit, readout), before[:, [1, 3, 4, 0]])


def test_a_class_without_samples_never_wins(circuit):
    circuit.learn(X, Y, AUTO, 1, [*range(5), 77, -3])
    others = CODER.native.encode(np.random.default_rng(5).standard_normal((200, 12)), 1)
    with circuit.memory.reading as snapshot:
        ranks = bayes(10.0).best(snapshot, others, 1)
        assert set(snapshot.memory.classes[ranks].tolist()) <= set(range(5))


def test_old_weights_are_not_kept(circuit):
    for pseudocount in (0.1, 0.2, 0.3):
        scores(circuit, bayes(pseudocount))
        circuit.learn(X[:1], Y[:1], AUTO, 1)
    with circuit.memory.reading as snapshot:
        assert list(snapshot.cache._entries) == ["bayes weights"]


def test_concurrent_readers_compute_weights_once(circuit, versions):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: scores(circuit, bayes(0.7)), range(4)))
    assert len(versions) == 1
    assert all((other == found[0]).all() for other in found)


def test_readers_of_a_replaced_memory_keep_its_weights(circuit, versions):
    readout = bayes(0.5)
    with circuit.memory.reading as old:
        before = readout.scores(old, CODES, 1)
        for n in range(1, 4):
            circuit.learn(X[:n], Y[:n], AUTO, 1)  # into a copy, since `old` is being read
            assert (scores(circuit, readout) != before).any()
            np.testing.assert_array_equal(readout.scores(old, CODES, 1), before)
    # One computation for the replaced version, and one for each of the others.
    assert len(set(versions)) == len(versions) == 4


def test_weights_add_up_to_scores(circuit):
    readout, code = bayes(0.1), CODER.native.encode_one(X[3])
    with circuit.memory.reading as snapshot:
        contributions = code.to_csr()[2] / 255 @ readout.weights(snapshot, code)
    np.testing.assert_allclose(contributions, scores(circuit, readout)[3], rtol=1e-12)


def test_rejects_a_memory_without_counters():
    circuit = Circuit(CODER, DecayingMemory(CODER.n_cells))
    circuit.learn(X, Y, (Rates(0.1, 0.01),), 1)
    with pytest.raises(ValueError, match=r"readout is 'bayes', which reads counts, .* only fit"):
        scores(circuit, bayes(1.0))
