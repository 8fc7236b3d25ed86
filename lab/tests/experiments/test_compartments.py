"""Streams in which half the classes change, and models taught with them."""

import json

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.experiments import compartments
from kenyon_lab.experiments.compartments import Stream

DIGITS = load("digits")
SIZES = {"n_cells": 400, "fan_in": 6, "n_active": 40}
AUTO, TWO = (("auto", 0.0),), (("auto", 0.0), (3.0, 0.003))


def new_model(compartments):
    return FlyClassifier(compartments=compartments, readout="fly", **SIZES)


def draw(kind, held_out=False, seed=1):
    return Stream.draw(DIGITS, kind, seed, held_out)


def rows(X):
    return [tuple(row) for row in X.tolist()]


KNOWN = dict(zip(rows(DIGITS.X_train), DIGITS.y_train.tolist(), strict=True))


def classes_of(labelled):
    """Original classes of training samples."""
    return [KNOWN[row] for row in rows(labelled[0])]


def test_reversal_swaps_labels_of_half_the_classes_and_teaches_only_these():
    stream = draw("reversal")
    assert classes_of(stream.first) == stream.first[1].tolist()
    assert set(stream.first[1].tolist()) == set(range(10))
    swapped = {}
    for step in stream.steps:
        for was, now in zip(classes_of(step), step[1].tolist(), strict=True):
            assert swapped.setdefault(was, now) == now
    assert len(swapped) == 4
    assert all(swapped[now] == was != now for was, now in swapped.items())
    learned = [*rows(stream.first[0]), *(row for step in stream.steps for row in rows(step[0]))]
    assert len(learned) == len(set(learned))
    assert set(stream.still[1].tolist()) == set(range(10)) - set(swapped)
    assert set(stream.changed[-1][1].tolist()) == set(swapped)


def test_drift_moves_each_class_to_the_place_of_the_next():
    stream = draw("drift")
    assert len(stream.steps) == len(stream.changed) == 10
    plain = FlyClassifier(**SIZES, readout="fly").fit(DIGITS.X_train, DIGITS.y_train)
    assert plain.score(*stream.changed[0]) > 0.8
    assert plain.score(*stream.changed[-1]) < 0.1
    X, y = stream.changed[-1]
    predicted = plain.predict(X)
    place = {label: np.bincount(predicted[y == label]).argmax() for label in set(y.tolist())}
    assert sorted(place) == sorted(place.values())


def test_learned_samples_do_not_depend_on_the_test():
    for kind in compartments.STEPS:
        held_out, test = draw(kind, held_out=True), draw(kind)
        for one, other in zip(
            [held_out.first, *held_out.steps], [test.first, *test.steps], strict=True
        ):
            assert rows(one[0]) == rows(other[0])
            assert one[1].tolist() == other[1].tolist()
        assert len(held_out.still[0]) < len(test.still[0])
        learned = {row for part in (held_out.first, *held_out.steps) for row in rows(part[0])}
        assert not learned & set(rows(held_out.still[0]))


def test_two_compartments_follow_a_reversal_and_keep_the_rest():
    stream = draw("reversal")
    one, two = (stream.learn(new_model(rates)) for rates in (AUTO, TWO))
    assert two.shape == (9, 2)
    assert two[-1, 0] > one[-1, 0] + 0.1
    assert two[-1, 1] > 0.7


def test_selects_rates_on_held_out_samples():
    candidates = (((1e-9, 0.0),), AUTO, ((50.0, 0.0),))
    held_out, test = draw("reversal", held_out=True), draw("reversal")
    found = compartments.choose(candidates, held_out, test, **SIZES)
    best = max(candidates, key=lambda one: held_out.learn(new_model(one)).mean())
    assert found["learning_rate"] == [best[0][0]]
    accuracies = test.learn(new_model(best))
    assert found["changed"] == pytest.approx(accuracies[:, 0], abs=1e-4)
    assert found["still"] == pytest.approx(accuracies[:, 1], abs=1e-4)


def test_is_reproducible(monkeypatch):
    monkeypatch.setattr(compartments, "load", lambda name: DIGITS)
    monkeypatch.setattr(compartments, "DATASETS", {"digits": SIZES})
    few = {"stays": (AUTO,), "fades": (((1.0, 0.001),),), "both": (TWO,)}
    monkeypatch.setattr(compartments, "SEARCHED", few)
    found = compartments.measure(seed=2)
    assert json.loads(json.dumps(found, allow_nan=False)) == found == compartments.measure(seed=2)
    for stream in found["digits"].values():
        assert stream["both"]["learning_rate"] == ["auto", 3.0]
        assert stream["both"]["decay"] == [0.0, 0.003]
        for memory in few:
            assert len(stream[memory]["changed"]) == len(stream["n_learned"])
