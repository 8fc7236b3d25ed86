"""Readouts that derive their weights: when they do so, and naive Bayes against scikit-learn's."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from kenyon._validation import design_layer
from kenyon.circuit import Circuit, CountingMemory, DecayingMemory, Rates
from kenyon.circuit.defaults import FLY_LAYER

CODER = design_layer(12, FLY_LAYER, n_cells=90, fan_in=3, n_active=9, seed=5)
X = np.random.default_rng(1).standard_normal((80, 12))
Y = np.arange(80) % 5
RATES = Rates()


@pytest.fixture
def circuit():
    circuit = Circuit(CODER, CountingMemory(CODER.n_cells))
    circuit.learn(X, Y, RATES, 1)
    return circuit


def codes(rows):
    starts, cells, levels = CODER.native.encode(rows, 1).to_csr()
    dense = np.zeros((len(rows), CODER.n_cells))
    for i, row in enumerate(dense):
        row[cells[starts[i] : starts[i + 1]]] = levels[starts[i] : starts[i + 1]] / 255
    return dense


@pytest.mark.parametrize("pseudocount", [0.01, 0.1, 3.0])
def test_bayes_is_scikit_learns_with_a_uniform_prior(circuit, pseudocount):
    bayes = MultinomialNB(alpha=pseudocount, fit_prior=False).fit(codes(X), Y)
    readout = BayesReadout(pseudocount)
    expected = codes(X) @ bayes.feature_log_prob_.T
    np.testing.assert_allclose(circuit.scores(X, readout, 2), expected, rtol=1e-12)
    assert circuit.labels(X, readout, 1).tolist() == bayes.predict(codes(X)).tolist()
    assert [circuit.label(x, readout) for x in X] == circuit.labels(X, readout, 1).tolist()


def test_weights_are_derived_once_after_each_change(circuit, monkeypatch):
    derived = []
    derive = BayesReadout.derive
    monkeypatch.setattr(
        BayesReadout,
        "derive",
        lambda self, memory, n_threads: derived.append(1) or derive(self, memory, n_threads),
    )
    readout = BayesReadout(0.5)
    for _ in range(3):
        circuit.scores(X, readout, 1)
        circuit.label(X[0], BayesReadout(0.5))
    assert len(derived) == 1
    changes = [
        lambda: circuit.learn(X[:1], Y[:1], RATES, 1),
        lambda: circuit.unlearn(X[:1], Y[:1], 1),
        lambda: circuit.memory.change(lambda memory: memory.rename_class(4, 9)),
        lambda: circuit.memory.rework(lambda memory: memory.drop_class(9)),
    ]
    for n, change in enumerate(changes, start=2):
        change()
        circuit.scores(X, readout, 1)
        circuit.scores(X, readout, 1)
        assert len(derived) == n


def test_classes_keep_their_places(circuit):
    readout = BayesReadout(0.5)
    before = circuit.scores(X, readout, 1)
    circuit.memory.change(lambda memory: memory.rename_class(0, 7))
    np.testing.assert_array_equal(circuit.scores(X, readout, 1), before[:, [1, 2, 3, 4, 0]])
    circuit.memory.change(lambda memory: memory.drop_class(2))
    np.testing.assert_array_equal(circuit.scores(X, readout, 1), before[:, [1, 3, 4, 0]])


def test_a_class_that_is_only_named_wins_nothing(circuit):
    circuit.learn(X, Y, RATES, 1, np.array([*range(5), 77, -3]))
    strange = np.random.default_rng(5).standard_normal((200, 12))
    assert set(circuit.labels(strange, BayesReadout(10.0), 1).tolist()) <= set(range(5))


def test_old_weights_are_not_kept(circuit):
    for pseudocount in (0.1, 0.2, 0.3):
        circuit.scores(X, BayesReadout(pseudocount), 1)
        circuit.learn(X[:1], Y[:1], RATES, 1)
    with circuit.memory.reading as snapshot:
        assert len(memory.derived) == 1


def test_those_who_read_at_the_same_time_derive_once(circuit, monkeypatch):
    derived, derive = [], BayesReadout.derive

    def slowly(self, memory, n_threads):
        derived.append(1)
        time.sleep(0.2)
        return derive(self, memory, n_threads)

    monkeypatch.setattr(BayesReadout, "derive", slowly)
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda _: circuit.scores(X, BayesReadout(0.7), 1), range(4)))
    assert len(derived) == 1
    assert all((other == scores[0]).all() for other in scores)


def test_explanations_add_up(circuit):
    readout = BayesReadout(0.1)
    explanation = circuit.explain(X[3], readout)
    total = explanation.contributions.sum(axis=0)
    np.testing.assert_allclose(total, circuit.scores(X[3:4], readout, 1)[0], rtol=1e-12)


def test_a_memory_without_counts_is_refused():
    circuit = Circuit(CODER, DecayingMemory(CODER.n_cells))
    circuit.learn(X, Y, Rates(0.1, 0.01), 1)
    with pytest.raises(ValueError, match=r"readout is 'bayes', which reads counts, .* only fit"):
        circuit.labels(X, BayesReadout(1.0), 1)
