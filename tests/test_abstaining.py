"""Novelty thresholds, and a label for out-of-distribution samples."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import kenyon
from kenyon import FlyClassifier

X, Y = load_digits(return_X_y=True)
SMALL = {"n_cells": 500, "fan_in": 8, "n_active": 40, "readout": "fly"}
KNOWN = np.flatnonzero(Y < 7)


def fitted(rows, labels=Y, **parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], labels[rows])


@pytest.mark.parametrize("parameters", [{}, {"learning_rate": 0.05}, {"readout": "ridge"}])
@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_share_of_false_alarms(parameters, rate):
    rows = np.random.default_rng(0).permutation(KNOWN)
    model = fitted(rows[:800], **parameters)
    threshold = model.novelty_threshold(rate)
    n_alarms = (model.novelty(X[rows[800:]]) > threshold).mean()
    assert n_alarms == pytest.approx(rate, abs=0.06)
    assert (model.novelty(X[Y >= 7]) > threshold).mean() > 2 * rate


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("parameters", [{}, {"readout": "ridge", "penalty": 0.1, "n_cells": 200}])
def test_threshold_equals_unlearning_one_by_one(parameters, most):
    rows, times = KNOWN[:120], np.arange(120) % most + 1
    model = FlyClassifier(**{**SMALL, **parameters}).fit(X[rows], Y[rows], sample_weight=times)
    held_out = []
    for row, n in zip(rows, times, strict=True):
        model.unlearn(X[[row]], Y[[row]], sample_weight=[n])
        held_out.append(model.novelty(X[[row]])[0])
        model.partial_fit(X[[row]], Y[[row]], sample_weight=[n])
    weights = 1 / np.bincount(Y[rows])[Y[rows]] / 7
    for rate in (0.05, 0.3):
        share = weights[np.array(held_out) > model.novelty_threshold(rate)].sum()
        # Held-out scores of ridge ignore that the mean number of samples changes.
        assert rate - 0.06 < share < rate + 0.01
    assert model.novelty_threshold(0.001) == 1, "120 samples are too few for 0.001"


def test_threshold_survives_order_shards_and_files(tmp_path):
    whole = fitted(KNOWN)
    merged = FlyClassifier.merged([fitted(KNOWN[i::3]) for i in range(3)])
    whole.save(tmp_path / "fly.kenyon")
    for other in (merged, fitted(KNOWN[::-1]), kenyon.load(tmp_path / "fly.kenyon")):
        assert other.novelty_threshold(0.1) == whole.novelty_threshold(0.1)
    assert fitted(KNOWN[:300]).novelty_threshold(0.1) != whole.novelty_threshold(0.1)


@pytest.mark.parametrize(
    ("labels", "unknown"),
    [(Y, -1), (Y.astype(str), "something else"), (Y.astype(np.uint8), -1), (Y * 1.0, -5)],
    ids=["int", "str", "uint8", "float"],
)
def test_labels_novel_samples_unknown(labels, unknown):
    model = fitted(KNOWN, labels)
    is_novel = model.novelty(X) > model.novelty_threshold(0.1)
    found = model.predict(X, unknown=unknown, false_alarms=0.1)
    assert set(found[is_novel].tolist()) == {unknown}
    np.testing.assert_array_equal(found[~is_novel], model.predict(X)[~is_novel])
    assert (found == unknown).sum() > (model.predict(X, unknown=unknown) == unknown).sum() > 0


def test_large_labels_stay_exact():
    labels = Y.astype(np.uint64) + np.uint64(2**60 + 1)
    found = fitted(KNOWN, labels).predict(X, unknown=-1, false_alarms=0.1)
    assert set(found.tolist()) <= {*labels.tolist(), -1}
    assert -1 in found.tolist()


def test_large_calls_equal_several_batches():
    model = fitted(KNOWN)
    rows = np.tile(X, (4, 1))
    expected = np.tile(model.predict(X, unknown=-1), 4)
    np.testing.assert_array_equal(model.predict(rows, unknown=-1), expected)


@pytest.mark.parametrize(
    ("unknown", "message"),
    [
        (3, "unknown must not be a class that was learned, but is 3"),
        ("none", "unknown must be like the labels, of which 0 is one, but is 'none'"),
        ([1, 2], "unknown must be a label, a string or a number"),
        (object(), "unknown must be a label, a string or a number"),
    ],
)
def test_rejects_unknown(unknown, message):
    with pytest.raises(ValueError, match=message):
        fitted(KNOWN[:50]).predict(X[:3], unknown=unknown)


@pytest.mark.parametrize("rate", [0, 1, -0.1, 2, "few", None, np.nan])
def test_rejects_false_alarms(rate):
    model = fitted(KNOWN[:50])
    for call in (model.novelty_threshold, lambda r: model.predict(X[:3], -1, r)):
        with pytest.raises(ValueError, match="false_alarms must be a number between 0 and 1"):
            call(rate)


def test_rejects_decay():
    model = fitted(KNOWN[:50], learning_rate=0.1, decay=1e-3)
    with pytest.raises(ValueError, match="a novelty threshold is not possible: with decay"):
        model.predict(X[:3], unknown=-1)


def test_threshold_of_few_samples():
    with pytest.raises(NotFittedError):
        FlyClassifier().novelty_threshold()
    assert fitted([0]).novelty_threshold() == 1
    repeated = np.repeat([0, 1], 20)
    assert fitted(repeated).novelty_threshold() == 1, "two distinct samples are too few"
    empty = fitted([0]).drop_class(0)
    with pytest.raises(ValueError, match="no classes left"):
        empty.novelty_threshold()
