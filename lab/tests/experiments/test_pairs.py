"""Two classes one after the other, compared with the learning rules written out."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.data import load
from kenyon_lab.experiments import pairs

N_FEATURES, RATE = 12, 0.1
SIZES = {"n_cells": 60, "fan_in": 3, "n_active": 8}
MILESTONES = [0, 1, 3, 10, 40]
CODER = SparseCoder(**SIZES).fit(np.zeros((1, N_FEATURES)))


@pytest.fixture(autouse=True)
def _few_samples_reach_the_cap(monkeypatch):
    monkeypatch.setattr(pairs, "CAP", 255 / RATE)


def draw(label, n, seed):
    rng = np.random.default_rng([seed, label])
    return np.random.default_rng(label).random(N_FEATURES) + rng.random((n, N_FEATURES))


TAUGHT = {label: draw(label, MILESTONES[-1], seed=1) for label in range(3)}
TESTED = {label: draw(label, 30, seed=2) for label in range(3)}


def measure(teach, pairs_of_classes):
    taught = {c: pairs.encode_steps(CODER, X, MILESTONES) for c, X in TAUGHT.items()}
    tested = {c: CODER.levels(X) for c, X in TESTED.items()}
    return pairs.teach_pairs(teach, pairs_of_classes, taught, tested)


def dense(x):
    return CODER.transform(x[np.newaxis]).toarray()[0]


class Literal:
    """Both rules in a few lines; a tie counts as the second class."""

    def __init__(self, version):
        self.version, self.weights = version, np.zeros((2, SIZES["n_cells"]))

    def predict(self, x):
        scores = np.round(self.weights @ dense(x), 9)
        return 0 if scores[0] > scores[1] else 1

    def learn(self, x, target):
        predicted = self.predict(x)
        if self.version == "v4":
            self.weights[target] = np.minimum(1, self.weights[target] + RATE * dense(x))
        elif predicted != target:
            self.weights[target] += RATE * dense(x)
            self.weights[predicted] -= RATE * dense(x)


def follow(version, first, second):
    model = Literal(version)
    for x in TAUGHT[first]:
        model.learn(x, 0)
    curve = []
    for n_learned in range(MILESTONES[-1] + 1):
        if n_learned:
            model.learn(TAUGHT[second][n_learned - 1], 1)
        if n_learned in MILESTONES:
            one, two = ([model.predict(x) for x in TESTED[label]] for label in (first, second))
            curve.append([one.count(0) / 30, two.count(1) / 30])
    return curve


@pytest.mark.parametrize("version", ["v1", "v4"])
def test_accuracies_follow_the_rules(version):
    accuracies = measure(pairs.VERSIONS[version], [(0, 1), (2, 0)])
    assert accuracies.shape == (2, len(MILESTONES), 2)
    np.testing.assert_allclose(accuracies[0], follow(version, 0, 1))
    np.testing.assert_allclose(accuracies[1], follow(version, 2, 0))
    assert 0 < accuracies[0, -1, 0] < 1


def test_v4_is_the_fly():
    fly = FlyClassifier(**SIZES, readout="fly", learning_rate=RATE)
    fly.partial_fit(TAUGHT[0], [0] * 40).partial_fit(TAUGHT[1], [1] * 40)
    end = measure(pairs.teach_v4, [(0, 1)])[0, -1]
    assert end.tolist() == [fly.score(TESTED[c], [c] * 30) for c in (0, 1)]


def test_v1_learns_the_first_class_before_there_is_a_second():
    weights = np.zeros((SIZES["n_cells"], 2))
    pairs.teach_v1(weights, CODER.levels(TAUGHT[0]), pairs.FIRST)
    assert weights[:, pairs.FIRST].any()


def test_describes_runs():
    milestones = [0, 10, 20]
    runs = np.array([[[1.0, 0.0], [0.8, 0.7], [0.4, 1.0]], [[1.0, 0.2], [0.6, 0.9], [0.2, 1.0]]])
    found = pairs.describe(runs, milestones)
    assert found["mean"]["first"] == [1.0, 0.7, 0.3]
    assert found["mean"]["both"] == [0.55, 0.75, 0.65]
    assert found["deviation"]["first"] == [0.0, 0.1, 0.1]
    assert (found["both_early"], found["both_at_end"]) == (0.75, 0.65)
    assert (found["learned_after"], found["lost_at_end"], found["half_lost_after"]) == (20, 0.7, 20)
    assert pairs.describe(runs * 0 + 0.8, milestones)["half_lost_after"] is None
    assert pairs.list_ends([(3, 5), (5, 3)], runs) == [[3, 5, 0.4, 1.0], [5, 3, 0.2, 1.0]]


def test_teaches_every_pair_of_digits(monkeypatch):
    monkeypatch.setattr(pairs, "load", lambda name: load("digits"))
    monkeypatch.setattr(pairs, "MILESTONES", (0, 1, 10, 50))
    monkeypatch.setattr(pairs, "N_ORDERS", 2)
    found = pairs.measure(seed=1)
    assert json.loads(json.dumps(found, allow_nan=False)) == found == pairs.measure(seed=1)
    assert found["milestones"] == [0, 1, 10, 50, np.bincount(load("digits").y_train).min()]
    for version in ("v1", "v4"):
        ends = found["ends"][version]
        assert len({(first, second) for first, second, *_ in ends}) == 90
        mean = np.mean([accuracy for _, _, accuracy, _ in ends])
        assert found["all"][version]["mean"]["first"][-1] == pytest.approx(mean, abs=1e-4)
        assert found["alike"][version]["mean"]["first"][0] == 1
