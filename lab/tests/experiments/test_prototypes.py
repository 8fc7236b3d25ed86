"""Arbitrary labels: cases that are known, and what theory says of random ones."""

import json
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import sparse

from kenyon import FlyClassifier, SparseCoder
from kenyon_lab.experiments import prototypes
from kenyon_lab.theory import separation

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prototypes, "N_PROTOTYPES", (10, 60, 160))
        patch.setattr(prototypes, "N_TRIALS", 4)
        return prototypes.measure(seed=0)


@pytest.mark.parametrize("labels", product((0, 1), repeat=4))
def test_of_a_squares_labels_only_those_of_xor_are_not_separable(labels):
    expected = labels not in ((0, 1, 1, 0), (1, 0, 0, 1))
    assert prototypes.is_separable(SQUARE, np.array(labels)) == expected
    assert prototypes.is_separable(sparse.csr_matrix(SQUARE), np.array(labels)) == expected


def test_a_narrow_gap_is_a_gap():
    points = np.array([[0.0], [1e-3], [2e-3]])
    assert prototypes.is_separable(points, np.array([0, 1, 1]))
    assert not prototypes.is_separable(points, np.array([0, 1, 0]))


@pytest.mark.parametrize("n_points", [8, 12, 16])
def test_random_labels_are_separable_as_often_as_cover_counts(n_points):
    n_features, n_trials = 5, 120
    rng = np.random.default_rng(n_points)
    separable = [
        prototypes.is_separable(
            rng.standard_normal((n_points, n_features)), rng.integers(2, size=n_points)
        )
        for _ in range(n_trials)
    ]
    # Of 2^n labelings of points in general position; a bias is one dimension more.
    expected = sum(comb(n_points - 1, i) for i in range(n_features + 1)) / 2 ** (n_points - 1)
    assert np.mean(separable) == pytest.approx(expected, abs=4 * 0.5 / n_trials**0.5)


def test_the_fly_learns_all_exactly_where_gamma_is_above_zero():
    outcomes = set()
    for seed, n in enumerate((20, 60, 80, 90, 100, 140)):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n, 50)), prototypes.draw_labels(rng, n)
        codes = SparseCoder(**prototypes.FRUIT_FLY, random_state=seed).fit_transform(X)
        fly = FlyClassifier(
            **prototypes.FRUIT_FLY, readout="fly", learning_rate=0.01, random_state=seed
        ).fit(X, y)
        outcome = separation(codes, y) > 0
        assert outcome == (fly.score(X, y) == 1)
        outcomes.add(outcome)
    assert outcomes == {True, False}


def test_what_the_means_separate_some_linear_rule_does(found):
    shares = {rule: np.array(list(of.values())) for rule, of in found["shares"].items()}
    assert (shares["means"] <= shares["linear"]).all()


def test_coding_makes_arbitrary_labels_separable(found):
    linear, means = found["shares"]["linear"], found["shares"]["means"]
    assert linear == {"inputs": [1, 1, 0], "codes": [1, 1, 1]}
    assert means["inputs"][1:] == [0, 0]
    assert means["codes"][0] == 1
    assert means["codes"][1] > 0.5


def test_on_the_ring_no_line_is_right_and_the_fly_is(found):
    ring = found["ring"]
    labels = np.array(ring["labels"])
    assert sorted(labels) == [0] * 4 + [1] * 4
    assert (labels != np.roll(labels, 1)).sum() > 2
    assert ring["line"]["n_right"] < 8
    assert ring["n_right"] == 8
    assert ring["fly"][:: len(ring["fly"]) // 8] == ring["labels"]


def test_the_best_line_beats_many_others():
    rng = np.random.default_rng(0)
    angles = np.arange(8) * np.pi / 4
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    labels = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    sides = places @ rng.standard_normal((2, 5000)) > rng.uniform(-1, 1, 5000)
    n_right = (sides == labels[:, np.newaxis]).sum(axis=0)
    line = prototypes.best_line(labels)
    assert line["n_right"] == max(n_right.max(), (8 - n_right).max()) == 6
    on_arc = (np.arange(8) - line["first"]) % 8 < line["length"]
    assert (np.where(on_arc, line["inside"], 1 - line["inside"]) == labels).sum() == 6


def test_a_finding_is_plain_and_small(found):
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) < 50_000
