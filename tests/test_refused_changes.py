"""Impossible changes raise an error and leave the model unchanged."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from kenyon import FlyClassifier
from kenyon.circuit import Circuit, CountingMemory
from tests.reading import memory_of
from tests.refusal import COMPARTMENTS, DECAY, X, Y, assert_refused, fitted, state

MEMORIES = {"counting": {}, "decaying": DECAY, "compartments": COMPARTMENTS}
MAX_COUNT = 2**31 - 1
ORDER = "with decay the weights depend on the order of the samples"
NEVER = "X and y hold samples that were not learned"


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:1], ["unknown"], "the label 'unknown' has not been learned"),
        (X[:2], ["a", "unknown"], "the label 'unknown' has not been learned"),
        (X[:1], [1], "the label 1 has not been learned"),
        (np.repeat(X[1:2], 10, axis=0), ["a"] * 10, NEVER),
        (np.vstack([X, X[:1]]), [*Y, "a"], f"{NEVER}: a counter would fall below zero"),
        (np.repeat(X[:1], 10, axis=0), ["a"] * 10, NEVER),
        (np.zeros((11, 5)), ["a"] * 11, f"{NEVER}: a counter would fall below zero"),
        (np.zeros((10, 5)), ["a"] * 10, f"{NEVER}: .* missing from the calibration sample"),
        (X[:3], Y[1:4], NEVER),
    ],
    ids=["label", "one label", "number", "sample", "again", "repeated", "many", "all", "shifted"],
)
def test_rejects_unlearning_unknown_samples(rows, labels, message):
    assert_refused(fitted(), lambda m: m.unlearn(rows, labels), ValueError, message)


def test_rejects_unlearning_twice():
    model = fitted().unlearn(X[:6], Y[:6])
    assert_refused(model, lambda m: m.unlearn(X[:6], Y[:6]), ValueError, NEVER)
    model.drop_class("a")
    assert_refused(model, lambda m: m.unlearn(X[:6], Y[:6]), ValueError, "label 'a'")


def test_rejects_unlearning_a_class_without_samples():
    model = fitted().partial_fit(X[:1], ["a"], classes=["a", "b", "c", "named"])
    assert_refused(model, lambda m: m.unlearn(X[:1], ["named"]), ValueError, NEVER)


def test_rejects_unlearning_and_merging_with_decay():
    model = fitted(**DECAY)
    assert_refused(model, lambda m: m.unlearn(X, Y), ValueError, f"unlearn is .*: {ORDER}")
    assert_refused(model, lambda m: m.merge(fitted()), ValueError, f"merge is .*: {ORDER}")
    assert_refused(model, lambda m: m.merge(fitted(**DECAY)), ValueError, f"merge is .*: {ORDER}")
    assert_refused(fitted(), lambda m: m.merge(model), ValueError, f"merge is .*: {ORDER}")
    assert_refused(fitted(), lambda m: m.merge(fitted(), model), ValueError, ORDER)
    assert_refused(fitted(), lambda m: m.merge(model, fitted()), ValueError, ORDER)
    compartments = fitted(**COMPARTMENTS)
    assert_refused(compartments, lambda m: m.unlearn(X, Y), ValueError, f"unlearn is .*: {ORDER}")
    assert_refused(compartments, lambda m: m.merge(fitted()), ValueError, f"merge is .*: {ORDER}")
    assert_refused(fitted(), lambda m: m.merge(compartments), ValueError, f"merge is .*: {ORDER}")


DIFFERENT = "models of different circuits cannot be merged: "
OTHERS = [
    ({"random_state": 7}, "seed is 0 here and 7 there"),
    ({"n_cells": 500}, "n_cells is 400 here and 500 there"),
    ({"fan_in": 3}, "fan_in is 2 here and 3 there"),
    ({"n_active": 9}, "n_active is 20 here and 9 there"),
    ({"inhibition": "subtract"}, "inhibition is 'cut' here and 'subtract' there"),
    ({"channels": "raw", "n_active": 20}, "channels is 'on-off' here and 'raw' there"),
]


def assert_not_merged(other, message):
    fitting = fitted(np.repeat("a longer name", 30))
    before = state(other)
    for others in ([other], [fitting, other], [other, fitting]):
        assert_refused(fitted(), lambda m, others=others: m.merge(*others), ValueError, message)
    with pytest.raises(ValueError, match=message):
        FlyClassifier.merged([fitted(), other])
    assert state(other) == before


@pytest.mark.parametrize(("parameters", "difference"), OTHERS, ids=str)
def test_rejects_merging_another_circuit(parameters, difference):
    assert_not_merged(fitted(**parameters), DIFFERENT + difference)


def test_rejects_merging_another_width_or_other_labels():
    narrow = FlyClassifier(n_cells=400, n_active=20, readout="fly").fit(X[:, :4], Y)
    assert_not_merged(narrow, f"{DIFFERENT}n_features is 5 here and 4 there")
    assert_not_merged(
        fitted(np.arange(30)), "labels must be all strings, all booleans or all numbers, but .* mix"
    )


@pytest.mark.parametrize("other", ["a path", None, 3, GaussianNB().fit(X, Y), FlyClassifier])
def test_rejects_merging_other_objects(other):
    message = "others must be FlyClassifier models, but one is "
    assert_refused(fitted(), lambda m: m.merge(other), TypeError, message)
    assert_refused(fitted(), lambda m: m.merge(fitted(), other), TypeError, message)
    with pytest.raises(TypeError, match=r"models must be one or more FlyClassifiers, but is \["):
        FlyClassifier.merged([other, fitted()])


def test_rejects_merging_nothing():
    with pytest.raises(TypeError, match=r"models must be one or more FlyClassifiers, but is \[\]"):
        FlyClassifier.merged([])
    assert_refused(fitted(), lambda m: m.merge(FlyClassifier()), ValueError, "is not fitted yet")


@pytest.mark.parametrize("rates", MEMORIES.values(), ids=list(MEMORIES))
@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("rename_class", ("a", "b"), "the label 'b' exists already"),
        ("rename_class", ("a", "a"), "the label 'a' exists already"),
        ("rename_class", ("z", "b"), "the label 'z' has not been learned"),
        ("rename_class", ("z", "y"), "the label 'z' has not been learned"),
        (
            "rename_class",
            ("a", 1),
            "all strings, all booleans or all numbers, but 'a' and 1 are mixed",
        ),
        ("rename_class", ("a", 0.5), "A label must be integral, not 0.5"),
        ("rename_class", ("a", None), "labels must be strings or numbers, but one is None"),
        ("rename_class", ("a", ["z"]), r"new must be one label, but is \['z'\]"),
        ("rename_class", (["a"], "z"), r"old must be one label, but is \['a'\]"),
        ("drop_class", ("z",), "the label 'z' has not been learned"),
        ("drop_class", (0,), "the label 0 has not been learned"),
        ("drop_class", (["a"],), r"label must be one label, but is \['a'\]"),
        ("drop_class", (None,), "labels must be strings or numbers, but one is None"),
    ],
)
def test_rejects_renaming_and_dropping(rates, method, arguments, message):
    model = fitted(**rates)
    assert_refused(model, lambda m: getattr(m, method)(*arguments), ValueError, message)


def test_rejects_a_change_of_decay():
    reason = "only fit changes that"
    for model, decay in ((fitted(learning_rate=0.1), 0.1), (fitted(**DECAY), 0)):
        model.set_params(decay=decay)
        assert_refused(model, lambda m: m.partial_fit(X, Y), ValueError, f"decay is .*{reason}")
        assert_refused(model, lambda m: m.learn_one(X[0], "z"), ValueError, f"decay is .*{reason}")
    default = {"learning_rate": "auto", "decay": 0, "compartments": None}
    pairs = (COMPARTMENTS, {}), (COMPARTMENTS, DECAY), ({}, COMPARTMENTS), (DECAY, COMPARTMENTS)
    for before, after in pairs:
        model = fitted(**before).set_params(**default | after)
        for call in (lambda m: m.partial_fit(X, Y), lambda m: m.learn_one(X[0], "z")):
            with pytest.raises(ValueError, match=reason):
                call(model)
        assert model.n_samples_seen_ == len(X)


def test_rejects_reading_without_classes():
    model = fitted().unlearn(X, Y)
    for name, sample in (("predict", X), ("decision_function", X), ("predict_one", X[0])):
        with pytest.raises(ValueError, match="the model has no classes left"):
            getattr(model, name)(sample)
    assert state(model.partial_fit(X, Y)) == state(fitted())


def filled(room, labels=("a", "b", "c"), **parameters):
    """Return a model whose counters are all `room` below the largest number."""
    model = fitted(**parameters)
    coder = model.circuit_.coder
    content = {
        "synapses": np.full((len(labels), coder.n_cells), MAX_COUNT - room, dtype=np.int32),
        "samples": np.full(len(labels), 8_000_000),
    }
    model.circuit_ = Circuit(coder, CountingMemory.restore(np.array(labels), content))
    return model


TOO_MANY = "a counter would exceed 2147483647: too many samples of one class"


def test_rejects_overflow():
    model = filled(room=255).learn_one(X[0], "a").partial_fit(X[:1], ["b"])
    assert model.class_count_.tolist() == [8_000_001, 8_000_001, 8_000_000]
    assert memory_of(model).synapses.max() == MAX_COUNT
    assert_refused(model, lambda m: m.learn_one(X[0], "a"), OverflowError, TOO_MANY)
    assert_refused(model, lambda m: m.partial_fit(X[:1], ["b"]), OverflowError, TOO_MANY)
    assert_refused(model, lambda m: m.partial_fit(X, Y), OverflowError, TOO_MANY)


@pytest.mark.parametrize("rows", [X, X[[0, 1, 2, 0]]], ids=["many", "few"])
def test_overflow_drops_new_classes(rows):
    labels = ["new", "a longer name", *["a"] * (len(rows) - 2)]
    for room in (0, 100, 200):
        model = filled(room)
        assert_refused(model, lambda m: m.partial_fit(rows, labels), OverflowError, TOO_MANY)
        assert_refused(model, lambda m: m.partial_fit(rows[::-1], labels), OverflowError, TOO_MANY)
        assert model.learn_one(X[0], "new").class_count_[-1] == 1


def test_rejects_overflow_by_merging():
    half = filled(room=MAX_COUNT // 2, labels=("b", "c"))
    other = filled(room=MAX_COUNT // 2, labels=("a new name", "b"))
    assert_refused(half, lambda m: m.merge(other, other), OverflowError, TOO_MANY)
    assert_refused(filled(0), lambda m: m.merge(half), OverflowError, TOO_MANY)
    assert_refused(filled(0), lambda m: m.merge(fitted()), OverflowError, TOO_MANY)
    assert_refused(half, lambda m: m.merge(filled(0), fitted()), OverflowError, TOO_MANY)
    empty = fitted().unlearn(X, Y)
    assert state(empty.merge(half))["synapses"] == state(half)["synapses"]


MANY = np.resize(X, (9000, 5))


def many(first, last):
    """Return labels for MANY, of which only the last, in the third batch, differs."""
    labels = np.empty(len(MANY), dtype=object)
    labels[:-1], labels[-1] = first, last
    return labels


@pytest.mark.parametrize("rates", MEMORIES.values(), ids=list(MEMORIES))
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (many("new", 7), "but 'new' and 7 are mixed|but 'a' and 7 are mixed"),
        (many("a", None), "labels must be strings or numbers, but one is None"),
        (many("a", 0.5), "A label must be integral, not 0.5"),
    ],
    ids=["mixed", "missing", "continuous"],
)
def test_rejects_a_label_in_the_last_batch(method, rates, labels, message):
    model = fitted(n_cells=50, **rates)
    assert_refused(model, lambda m: getattr(m, method)(MANY, labels), ValueError, message)
    new = FlyClassifier(n_cells=50, **rates)
    assert_refused(new, lambda m: getattr(m, method)(MANY, labels), ValueError, message)


def test_rejects_overflow_in_the_last_batch():
    model = filled(room=100, n_cells=50)
    labels = many("a longer name", "b")
    assert_refused(model, lambda m: m.partial_fit(MANY, labels), OverflowError, TOO_MANY)


@pytest.mark.parametrize(
    ("last", "message"), [("unknown", "the label 'unknown'"), ("rare", NEVER), (1, "the label 1")]
)
def test_rejects_unlearning_in_the_last_batch(last, message):
    model = fitted(n_cells=50).learn_one(X[0], "rare")
    before = state(model)
    model.partial_fit(MANY, many("many", "many"))
    assert_refused(model, lambda m: m.unlearn(MANY, many("many", last)), ValueError, message)
    assert state(model.unlearn(MANY, many("many", "many"))) == before


def test_rejects_merging_other_feature_names():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = FlyClassifier().fit(frame, Y)
    for other in (FlyClassifier().fit(frame[list("edcba")], Y), FlyClassifier().fit(X, Y)):
        with pytest.raises(ValueError, match="different names"):
            model.merge(other)
        assert model.n_samples_seen_ == len(X)
    assert model.merge(FlyClassifier().fit(frame, Y)).n_samples_seen_ == 2 * len(X)
