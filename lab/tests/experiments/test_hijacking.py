"""Shared cells, compared with the learning rules written out."""

import json

import numpy as np
import pytest

from kenyon import SparseCoder
from kenyon_lab.data import load
from kenyon_lab.experiments import hijacking

SIZES = {"n_cells": 3200, "fan_in": 10, "n_active": 160}
N_CELLS, N_CLASSES, FIRST, SECOND = 3200, 7, 3, 5
MNIST = load("mnist20")
THREES, FIVES = (MNIST.X_test[MNIST.y_test == digit][:60] for digit in (FIRST, SECOND))


@pytest.fixture(scope="module")
def found():
    return hijacking.measure(seed=0)


def literal_steps(version, codes):
    """The weights before and after a sample of the first class, then one of the second."""
    weights = np.zeros((N_CLASSES, N_CELLS))
    steps = [weights.copy()]
    for code, target in zip(codes, (FIRST, SECOND), strict=True):
        predicted = int((weights @ code).argmax())
        if version in (3, 4) or predicted != target:
            weights[target] += code
        if version in (1, 3) and predicted != target:
            weights[predicted] -= code
        steps.append(weights.copy())
    return steps


@pytest.mark.parametrize("version", hijacking.VERSIONS)
def test_follows_the_rules(version):
    pair = np.stack([THREES[0], FIVES[0]])
    codes = SparseCoder(**SIZES, random_state=2).fit(pair).levels(pair).toarray().astype(int)
    seen = hijacking.follow(version, 2, pair, codes[0], np.arange(N_CELLS), N_CLASSES)
    for i, weights in enumerate(literal_steps(version, codes)):
        assert seen["weights"][i] == weights[[FIRST, SECOND]].tolist()
        scores = weights @ codes[0] / 255**2
        assert seen["scores"][i] == pytest.approx(scores[[FIRST, SECOND]], abs=1e-3)
        if i:
            assert seen["taken_for"][i - 1] == scores.argmax()


def test_v1_and_v3_lose_the_first_input_and_v4_keeps_it(found):
    assert found["n_shared"] > found["n_active"] / 2
    taken_for = {version: seen["taken_for"] for version, seen in found["versions"].items()}
    assert taken_for == {"v1": [3, 5], "v3": [3, 5], "v4": [3, 3]}


def test_weights_of_shared_cells(found):
    one, two = levels = np.array(found["levels"])
    shared = (one > 0) & (two > 0)
    assert shared.sum() == found["n_shared"]
    assert (levels > 0).sum(axis=1).tolist() == [160, 160]
    for version, to_first in (("v1", one - two), ("v3", one - two), ("v4", one)):
        _, after_first, after_second = np.array(found["versions"][version]["weights"])
        assert after_first[:, shared].tolist() == [one[shared].tolist(), [0] * shared.sum()]
        assert after_second[:, shared].tolist() == [to_first[shared].tolist(), two[shared].tolist()]


def test_orders_cells_in_three_groups():
    levels = np.array([[9, 0, 3, 5, 0, 2], [0, 0, 4, 0, 7, 9]])
    assert hijacking.order_cells(levels).tolist() == [0, 3, 5, 2, 4]


def test_judged_pairs_agree_with_taught_ones():
    coder = SparseCoder(**SIZES, random_state=0).fit(THREES)
    threes, fives = (coder.levels(X).astype(np.int64) for X in (THREES, FIVES))
    product = (threes @ fives.T).toarray()
    square = np.asarray(threes.multiply(threes).sum(axis=1))
    by_doubt = np.argsort(abs(product / square - 0.5), axis=None)
    fates = set()
    for place in [*by_doubt[:8], *by_doubt[-2:]]:
        i, j = np.unravel_index(place, product.shape)
        judged = hijacking.judge_pairs(threes[i], fives[j])
        pair = np.stack([THREES[i], FIVES[j]])
        for version in hijacking.VERSIONS:
            seen = hijacking.follow(
                version, 0, pair, threes[i].toarray()[0], np.arange(1), N_CLASSES
            )
            fate = judged["split" if version == 4 else "weakened"]
            assert fate == (seen["taken_for"][-1] == SECOND)
            fates.add((version, fate))
    assert fates == {(1, 0), (1, 1), (3, 0), (3, 1), (4, 0)}


def test_dissimilar_digits_are_hijacked_less(found):
    alike, unlike = found["pairs"]["5"], found["pairs"]["4"]
    assert alike["weakened"] > 10 * unlike["weakened"]
    assert alike["split"] < alike["weakened"]
    assert alike["n_pairs"] == 1010 * 892


def test_finding_is_plain_and_small(found):
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) < 50_000
