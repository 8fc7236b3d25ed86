"""Ridge regression on codes: against scikit-learn's, and what counting allows."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

import kenyon
from kenyon import FlyClassifier, SparseCoder, ridge
from kenyon.circuit import pairing
from kenyon.circuit.free_memory import free_memory
from kenyon.readouts.ridge import BETTER, PENALTIES

X, Y = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 900), slice(900, 1400)
SMALL = {"n_cells": 300, "fan_in": 6, "n_active": 60, "inhibition": "cut", "readout": "ridge"}


def taught(rows=TRAIN, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows])


def codes(rows):
    coder = SparseCoder(n_cells=300, fan_in=6, n_active=60).fit(X)
    return coder.transform(X[rows]).toarray()


def unit(Phi):
    """The mean sum of squares of a cell, to a power of two of what levels are."""
    return 2.0 ** round(np.log2(np.square(255 * Phi).sum() / Phi.shape[1])) / 255**2


def solution(model):
    with model.circuit_.memory.reading as snapshot:
        return memory.factor


def sums(model, kept=True):
    with model.circuit_.memory.reading as snapshot:
        content = memory.content().items()
    return {name: array.tolist() for name, array in content if kept or "kept" not in name}


@pytest.mark.parametrize("penalty", [1e-4, 0.01, 1.0])
def test_scores_are_those_of_scikit_learns_ridge(penalty):
    Phi = codes(TRAIN)
    other = Ridge(alpha=penalty * unit(Phi), fit_intercept=False).fit(Phi, np.eye(10)[Y[TRAIN]])
    scores = taught(penalty=penalty).decision_function(X[TEST])
    counts = np.bincount(Y[TRAIN])
    expected = other.predict(codes(TEST)) * np.sqrt(counts.mean() / counts)
    np.testing.assert_allclose(scores, expected, atol=1e-8)


def test_rare_classes_are_predicted_too():
    rows = np.flatnonzero((Y[TRAIN] % 2 == 0) | (np.arange(len(Y[TRAIN])) % 10 == 0))
    model = FlyClassifier(readout="ridge", n_cells=300).fit(X[rows], Y[rows])
    rare = Y[TEST] % 2 == 1
    assert model.score(X[TEST][rare], Y[TEST][rare]) > 0.7


def exact(Phi, targets):
    """The exact generalised cross-validation of every penalty."""
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    judged = []
    for penalty in PENALTIES:
        kept = s**2 / (s**2 + penalty * unit(Phi))
        residual = np.square(targets - (U * kept) @ (U.T @ targets)).sum()
        judged.append(residual / (len(Phi) - kept.sum()) ** 2)
    return judged


@pytest.mark.parametrize("n_samples", [250, 300, 350, 900])
def test_the_automatic_penalty_is_hardly_worse_than_the_best(n_samples):
    judged = exact(codes(slice(0, n_samples)), np.eye(10)[Y[:n_samples]])
    model = taught(slice(0, n_samples))
    model.predict(X[TEST])
    chosen = PENALTIES.tolist().index(solution(model).penalty)
    assert judged[chosen] <= 1.02 / BETTER * min(judged)
    assert 0 < chosen < len(PENALTIES) - 1


@pytest.mark.parametrize("usual", [1e-3, 100])
def test_a_first_guess_that_is_off_is_left(monkeypatch, usual):
    monkeypatch.setattr(ridge, "USUAL", usual)
    judged = exact(codes(TRAIN), np.eye(10)[Y[TRAIN]])
    model = taught()
    model.predict(X[TEST])
    chosen = PENALTIES.tolist().index(solution(model).penalty)
    assert judged[chosen] <= 1.02 / BETTER * min(judged)


def test_forgotten_samples_have_targets_of_zero(monkeypatch):
    monkeypatch.setattr(ridge, "BETTER", 0.99)
    targets = np.eye(10)[Y[TRAIN]]
    targets[:, :7] = 0
    model = taught()
    for label in range(7):
        model.drop_class(label)
    model.predict(X[TEST])
    judged = exact(codes(TRAIN), targets)
    assert solution(model).penalty == PENALTIES[np.argmin(judged)]


def test_with_as_many_samples_as_cells_noise_is_not_fitted():
    model = taught(slice(0, 300))
    accuracy = model.score(X[TEST], Y[TEST])
    assert accuracy > model.set_params(penalty=0.0001).score(X[TEST], Y[TEST]) + 0.05


def test_with_fewer_samples_than_cells_it_is_still_good():
    model = taught(slice(0, 400), n_cells=1000, n_active=200)
    assert model.score(X[TEST], Y[TEST]) > 0.9


def test_it_is_more_accurate_than_the_others():
    model = taught(inhibition="subtract")
    accuracy = {
        readout: model.set_params(readout=readout).score(X[TEST], Y[TEST])
        for readout in ("ridge", "bayes", "fly")
    }
    assert accuracy["ridge"] > max(accuracy["bayes"], accuracy["fly"]) + 0.02
    assert accuracy["ridge"] > 0.92


def test_shards_merged_and_samples_unlearned_leave_the_same_sums():
    whole = taught()
    shards = [taught(slice(i, 900, 3)) for i in range(3)]
    assert sums(FlyClassifier.merged(shards)) == sums(whole)
    more = taught(slice(0, 1000)).unlearn(X[900:1000], Y[900:1000])
    assert sums(more, kept=False) == sums(whole, kept=False)
    np.testing.assert_array_equal(more.decision_function(X[TEST]), whole.decision_function(X[TEST]))


def test_saved_is_loaded(tmp_path):
    model = taught()
    model.save(tmp_path / "model.kenyon")
    other = kenyon.load(tmp_path / "model.kenyon")
    assert sums(other) == sums(model)
    np.testing.assert_array_equal(
        other.decision_function(X[TEST]), model.decision_function(X[TEST])
    )
    assert sums(other.partial_fit(X[900:950], Y[900:950])) == sums(taught(slice(0, 950)))


def test_threads_change_the_sums_in_nothing_and_scores_by_rounding_only():
    one, two = (taught(n_threads=n) for n in (1, 2))
    assert sums(one) == sums(two)
    np.testing.assert_allclose(
        one.decision_function(X[TEST]), two.decision_function(X[TEST]), atol=1e-9
    )


def test_a_penalty_too_small_to_solve_with_is_named():
    model = taught(slice(0, 50), penalty=1e-300)
    with pytest.raises(ValueError, match="penalty is too small to solve for the weights: 1e-300"):
        model.predict(X)


def test_it_must_be_there_from_the_start():
    model = taught(readout="fly").set_params(readout="ridge")
    with pytest.raises(ValueError, match=r"readout is 'ridge', which reads pairs .* only fit"):
        model.predict(X)
    assert model.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) > 0.9


def test_more_memory_than_there_is_is_refused_with_the_number(monkeypatch, tmp_path):
    model = taught()
    model.save(tmp_path / "model.kenyon")
    monkeypatch.setattr(pairing, "free_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"n_cells 5000 takes 0\.5 GB .* only 0\.0 GB are free"):
        taught(n_cells=5000)
    with pytest.raises(MemoryError, match="n_cells 300 takes"):
        kenyon.load(tmp_path / "model.kenyon")
    monkeypatch.setattr(pairing, "free_memory", lambda: None)
    assert kenyon.load(tmp_path / "model.kenyon").n_samples_seen_ == 900


def test_free_memory():
    assert 10**6 < free_memory() < 10**14


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda pairs: (pairs, 3), "pairs of 3 samples, but 900"),
        (lambda pairs: (pairs, 2**40), "but 900 samples"),
        (lambda pairs: (np.append(pairs[:-2], [10**15, pairs[-1]]), 900), "sums of products"),
        (lambda pairs: (pairs * 10**6, 900), "too large for 900 samples"),
    ],
)
def test_a_file_whose_pairs_cannot_be_is_refused(tmp_path, change, sentence):
    model = taught()
    with model.circuit_.memory.reading as snapshot:
        memory.pairs.set(*change(memory.pairs.get()))
    model.save(tmp_path / "model.kenyon")
    with pytest.raises(ValueError, match=sentence):
        kenyon.load(tmp_path / "model.kenyon")


def test_while_it_learns_others_read_on():
    model = taught(n_cells=900, n_active=300)
    model.predict(X[:1])
    reader = threading.Thread(target=lambda: [model.predict(X[:50]) for _ in range(20)])
    reader.start()
    for start in range(0, 900, 300):
        model.partial_fit(X[start : start + 300], Y[start : start + 300])
    reader.join()
    assert model.n_samples_seen_ == 1800


REFUSED = {
    "an unknown readout": ({"readout": "x"}, "readout must be one of 'fly', 'bayes', 'ridge'"),
    "with decay": (
        {"decay": 0.1, "learning_rate": 0.1},
        "readout must be 'fly' where decay is not 0, but is 'ridge'",
    ),
    "no pseudocount": ({"pseudocount": 0}, "pseudocount must be a number above 0, but is 0"),
    "pseudocount in words": ({"pseudocount": "much"}, "pseudocount must be a number above 0, but is 'm"),
    "a negative penalty": ({"penalty": -1}, "penalty must be 'auto' or a number above 0, but is"),
    "an array": ({"penalty": np.ones(2)}, "penalty must be 'auto' or a number above 0, but is arr"),
    "far too much": ({"pseudocount": 10**400}, "pseudocount must be a number above 0, but is 1000"),
    "a list": ({"penalty": [1]}, r"penalty must be 'auto' or a number above 0, but is \[1\]"),
}


@pytest.mark.parametrize(("parameters", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        taught(**parameters)
