"""Streams of which half the classes change, and memories taught with them."""

import json
from itertools import pairwise

import numpy as np
import pytest

from kenyon.circuit import Coder, CountingMemory, Rates
from kenyon_lab.data import load
from kenyon_lab.experiments import compartments
from kenyon_lab.experiments.compartments import Stream

DIGITS = load("digits")
SIZES = {"n_cells": 400, "fan_in": 6, "n_active": 40}
CODER = Coder.design(64, seed=0, **SIZES)
TWO = Rates(None, 0.0, (Rates(3.0, 0.003),))


def draw(kind, aside=False, seed=1):
    return Stream.draw(DIGITS, CODER, kind, seed, aside)


def rows(codes):
    starts, cells, levels = codes.to_csr()
    pairs = list(zip(cells.tolist(), levels.tolist(), strict=True))
    return [tuple(pairs[a:b]) for a, b in pairwise(starts)]


def classes_of(labelled, known):
    """The class of each code among those of the training samples that are known."""
    return [known[code] for code in rows(labelled[0])]


KNOWN = dict(
    zip(rows(CODER.native.encode(DIGITS.X_train, 1)), DIGITS.y_train.tolist(), strict=True)
)


def test_in_a_reversal_half_the_classes_swap_and_only_those_come():
    stream = draw("reversal")
    assert classes_of(stream.first, KNOWN) == stream.first[1].tolist()
    assert set(stream.first[1].tolist()) == set(range(10))
    swapped = {}
    for step in stream.steps:
        for was, now in zip(classes_of(step, KNOWN), step[1].tolist(), strict=True):
            assert swapped.setdefault(was, now) == now
    assert len(swapped) == 4
    assert all(swapped[now] == was != now for was, now in swapped.items())
    learned = [*rows(stream.first[0]), *(code for step in stream.steps for code in rows(step[0]))]
    assert len(learned) == len(set(learned))
    assert set(stream.still[1].tolist()) == set(range(10)) - set(swapped)
    assert set(stream.changed[-1][1].tolist()) == set(swapped)


def test_in_a_drift_classes_move_to_the_place_of_the_next():
    stream = draw("drift")
    assert len(stream.steps) == len(stream.changed) == 10
    plain = CountingMemory(CODER.n_cells)
    plain.learn(CODER.native.encode(DIGITS.X_train, 1), DIGITS.y_train, Rates())

    def told(codes):
        return plain.classes[plain.best(codes, Rates(), 1)]

    codes, y = stream.changed[0]
    assert (told(codes) == y).mean() > 0.8
    codes, y = stream.changed[-1]
    assert (told(codes) == y).mean() < 0.1
    # Each has taken one other class's place, and none two.
    place = {label: np.bincount(told(codes)[y == label]).argmax() for label in set(y.tolist())}
    assert sorted(place) == sorted(place.values())


def test_what_is_learned_does_not_depend_on_what_is_tested():
    for kind in compartments.STEPS:
        aside, tested = draw(kind, aside=True), draw(kind)
        for one, other in zip(
            [aside.first, *aside.steps], [tested.first, *tested.steps], strict=True
        ):
            assert rows(one[0]) == rows(other[0])
            assert one[1].tolist() == other[1].tolist()
        assert len(aside.still[0]) < len(tested.still[0])
        learned = {code for part in (aside.first, *aside.steps) for code in rows(part[0])}
        assert not learned & set(rows(aside.still[0]))


def test_two_memories_follow_a_reversal_and_keep_the_rest():
    stream = draw("reversal")
    stays, both = stream.learn(Rates()), stream.learn(TWO)
    assert both.shape == (9, 2)
    assert both[-1, 0] > stays[-1, 0] + 0.1
    assert both[-1, 1] > 0.7


def test_the_best_rates_are_chosen_on_what_was_put_aside(monkeypatch):
    monkeypatch.setattr(compartments, "SEARCHED", {"stays": (Rates(1e-9), Rates(), Rates(50.0))})
    aside, tested = draw("reversal", aside=True), draw("reversal")
    found = compartments.compare("stays", aside, tested)
    best = max(compartments.SEARCHED["stays"], key=lambda rates: aside.learn(rates).mean())
    assert found["learning_rate"] == [best.learning_rate or "auto"]
    assert found["changed"] == pytest.approx(tested.learn(best)[:, 0], abs=1e-4)
    assert found["still"] == pytest.approx(tested.learn(best)[:, 1], abs=1e-4)


def test_found_twice_is_the_same(monkeypatch):
    monkeypatch.setattr(compartments, "load", lambda name: DIGITS)
    monkeypatch.setattr(compartments, "DATASETS", {"digits": SIZES})
    few = {"stays": (Rates(),), "fades": (Rates(1.0, 0.001),), "both": (TWO,)}
    monkeypatch.setattr(compartments, "SEARCHED", few)
    found = compartments.measure(seed=2)
    assert json.loads(json.dumps(found, allow_nan=False)) == found == compartments.measure(seed=2)
    for stream in found["digits"].values():
        assert stream["both"]["learning_rate"] == ["auto", 3.0]
        assert stream["both"]["decay"] == [0.0, 0.003]
        for memory in few:
            assert len(stream[memory]["changed"]) == len(stream["n_learned"])
