"""Ridge regression on codes, against scikit-learn's."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

import kenyon
from kenyon import FlyClassifier, SparseCoder
from kenyon.circuit import pairing
from kenyon.circuit.available_ram import available_ram
from kenyon.circuit.calibration_sample import TENSORS
from tests.reading import model_state

X, Y = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 900), slice(900, 1400)
SIZES = {"n_cells": 300, "fan_in": 6, "n_active": 60, "channels": "raw", "inhibition": "cut"}
SMALL = {**SIZES, "readout": "ridge"}


def learned(rows=TRAIN, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows])


def codes(rows):
    coder = SparseCoder(**SIZES).fit(X)
    return coder.transform(X[rows]).toarray()


def shift(Phi, penalty):
    """Return the penalty times the mean sum of squares, to a power of two in units of levels."""
    return 2.0 ** round(np.log2(penalty * np.square(255 * Phi).sum() / Phi.shape[1])) / 255**2


def solution(model):
    """Return the cached solution."""
    with model.circuit_.memory.reading as snapshot:
        return snapshot.cache.peek("ridge solution")


@pytest.mark.parametrize("penalty", [1e-4, 0.01, 1.0])
def test_matches_scikit_learn(penalty):
    Phi = codes(TRAIN)
    other = Ridge(alpha=shift(Phi, penalty), fit_intercept=False).fit(Phi, np.eye(10)[Y[TRAIN]])
    scores = learned(penalty=penalty).decision_function(X[TEST])
    counts = np.bincount(Y[TRAIN])
    expected = other.predict(codes(TEST)) * np.sqrt(counts.mean() / counts)
    np.testing.assert_allclose(scores, expected, atol=1e-8)


def test_predicts_rare_classes():
    rows = np.flatnonzero((Y[TRAIN] % 2 == 0) | (np.arange(len(Y[TRAIN])) % 10 == 0))
    model = FlyClassifier(readout="ridge", n_cells=300).fit(X[rows], Y[rows])
    rare = Y[TEST] % 2 == 1
    assert model.score(X[TEST][rare], Y[TEST][rare]) > 0.7


@pytest.mark.parametrize(("n_samples", "penalty"), [(100, 0.9), (300, 0.1), (900, 0.1 / 9)])
def test_the_automatic_penalty_is_a_closed_form(n_samples, penalty):
    model = learned(slice(0, n_samples))
    model.predict(X[TEST])
    assert solution(model).shift == shift(codes(slice(0, n_samples)), penalty) * 255**2


def test_does_not_fit_noise_with_as_many_samples_as_cells():
    model = learned(slice(0, 300))
    accuracy = model.score(X[TEST], Y[TEST])
    assert accuracy > model.set_params(penalty=0.0001).score(X[TEST], Y[TEST]) + 0.05


def test_is_accurate_with_fewer_samples_than_cells():
    model = learned(slice(0, 400), n_cells=1000, n_active=200)
    assert model.score(X[TEST], Y[TEST]) > 0.9


def test_is_more_accurate_than_other_readouts():
    model = learned(inhibition="subtract")
    accuracy = {
        readout: model.set_params(readout=readout).score(X[TEST], Y[TEST])
        for readout in ("ridge", "bayes", "fly")
    }
    assert accuracy["ridge"] > max(accuracy["bayes"], accuracy["fly"]) + 0.02
    assert accuracy["ridge"] > 0.92


def test_merge_and_unlearn_give_the_same_sums():
    whole = learned()
    shards = [learned(slice(i, 900, 3)) for i in range(3)]
    assert model_state(FlyClassifier.merged(shards)) == model_state(whole)
    more = learned(slice(0, 1000)).unlearn(X[900:1000], Y[900:1000])
    assert model_state(more, but=TENSORS) == model_state(whole, but=TENSORS)
    np.testing.assert_array_equal(more.decision_function(X[TEST]), whole.decision_function(X[TEST]))


def test_save_and_load(tmp_path):
    model = learned()
    model.save(tmp_path / "model.kenyon")
    other = kenyon.load(tmp_path / "model.kenyon")
    assert model_state(other) == model_state(model)
    np.testing.assert_array_equal(
        other.decision_function(X[TEST]), model.decision_function(X[TEST])
    )
    other.partial_fit(X[900:950], Y[900:950])
    assert model_state(other) == model_state(learned(slice(0, 950)))


def test_threads_change_scores_by_rounding_only():
    one, two = (learned(n_threads=n) for n in (1, 2))
    assert model_state(one) == model_state(two)
    np.testing.assert_allclose(
        one.decision_function(X[TEST]), two.decision_function(X[TEST]), atol=1e-9
    )


def test_rejects_a_penalty_too_small_to_solve():
    model = learned(slice(0, 50), penalty=1e-300)
    with pytest.raises(
        ValueError, match="penalty is too small to solve for the weights: the shift is"
    ):
        model.predict(X)


def test_rejects_a_memory_without_pairs():
    model = learned(readout="fly").set_params(readout="ridge")
    with pytest.raises(ValueError, match=r"readout is 'ridge', which reads pairs .* only fit"):
        model.predict(X)
    assert model.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) > 0.9


def test_rejects_more_cells_than_ram_allows(monkeypatch, tmp_path):
    model = learned()
    model.save(tmp_path / "model.kenyon")
    monkeypatch.setattr(pairing, "available_ram", lambda: 10**6)
    with pytest.raises(
        MemoryError, match=r"n_cells 5000 takes 0\.3 GB .* only 0\.0 GB are available"
    ):
        learned(n_cells=5000)
    with pytest.raises(ValueError, match=r"too much memory to load: .* n_cells 300 takes"):
        kenyon.load(tmp_path / "model.kenyon")
    monkeypatch.setattr(pairing, "available_ram", lambda: None)
    assert kenyon.load(tmp_path / "model.kenyon").n_samples_seen_ == 900


def test_available_ram():
    assert 10**6 < available_ram() < 10**14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pairs: (pairs, 3), "pairs of 3 samples, but 900"),
        (lambda pairs: (pairs, 2**40), "but 900 samples"),
        (lambda pairs: (np.append(pairs[:-2], [10**15, pairs[-1]]), 900), "sums of products"),
        (lambda pairs: (pairs.astype(np.int64) * 10**6, 900), "too large for 900 samples"),
    ],
)
def test_rejects_a_file_with_impossible_pairs(tmp_path, change, message):
    model = learned()
    with model.circuit_.memory.reading as snapshot:
        pairs = snapshot.memory.pairs
        pairs.set(*change(pairs.get().astype(np.int64)))
    model.save(tmp_path / "model.kenyon")
    with pytest.raises(ValueError, match=message):
        kenyon.load(tmp_path / "model.kenyon")


def test_predicts_while_it_learns():
    model = learned(n_cells=900, n_active=300)
    model.predict(X[:1])
    reader = threading.Thread(target=lambda: [model.predict(X[:50]) for _ in range(20)])
    reader.start()
    for start in range(0, 900, 300):
        model.partial_fit(X[start : start + 300], Y[start : start + 300])
    reader.join()
    assert model.n_samples_seen_ == 1800


REJECTED = {
    "an unknown readout": ({"readout": "x"}, "must be one of 'auto', 'fly', 'bayes', 'ridge'"),
    "with decay": ({"decay": 0.1}, "must be 'fly' or 'auto' with decay, but is 'ridge'"),
    "with a learning rate": (
        {"learning_rate": 0.1},
        "must be 'fly' or 'auto' with learning_rate, but is 'ridge'",
    ),
    "with compartments": (
        {"compartments": [("auto", 0.0)]},
        "must be 'fly' or 'auto' with compartments, but is 'ridge'",
    ),
    "no pseudocount": ({"pseudocount": 0}, "pseudocount must be a number above 0, but is 0"),
    "pseudocount in words": (
        {"pseudocount": "much"},
        "pseudocount must be a number above 0, but is 'm",
    ),
    "a negative penalty": ({"penalty": -1}, "penalty must be 'auto' or a number above 0, but is"),
    "an array": ({"penalty": np.ones(2)}, "penalty must be 'auto' or a number above 0, but is arr"),
    "far too much": ({"pseudocount": 10**400}, "pseudocount must be a number above 0, but is 1000"),
    "a list": ({"penalty": [1]}, r"penalty must be 'auto' or a number above 0, but is \[1\]"),
}


@pytest.mark.parametrize(("parameters", "message"), REJECTED.values(), ids=REJECTED.keys())
def test_rejects_invalid_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        learned(**parameters)
