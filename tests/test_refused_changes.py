"""Changes that cannot be made to what was learned: a sentence, and the model stays as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from kenyon import FlyClassifier
from kenyon.circuit import Circuit, CountingMemory
from tests.refusal import COMPARTMENTS, FADING, X, Y, assert_refused, snapshot, taught

MEMORIES = {"counting": {}, "decaying": FADING, "compartments": COMPARTMENTS}
LARGEST = 2**31 - 1
ORDER = "with decay the weights depend on the order in which the samples came"
NEVER = "X and y hold samples that were not learned"


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (X[:1], ["unknown"], "the label 'unknown' has not been learned"),
        (X[:2], ["a", "unknown"], "the label 'unknown' has not been learned"),
        (X[:1], [1], "the label 1 has not been learned"),
        (np.repeat(X[1:2], 10, axis=0), ["a"] * 10, NEVER),
        (np.vstack([X, X[:1]]), [*Y, "a"], f"{NEVER}: a counter would fall below zero"),
        (np.repeat(X[:1], 10, axis=0), ["a"] * 10, NEVER),
        (np.zeros((11, 5)), ["a"] * 11, f"{NEVER}: a counter would fall below zero"),
        (np.zeros((10, 5)), ["a"] * 10, f"{NEVER}: .* a code that would be kept is not"),
        (X[:3], Y[1:4], NEVER),
    ],
    ids=[
        "label",
        "one label",
        "number",
        "sample",
        "once more",
        "repeated",
        "many",
        "all",
        "shifted",
    ],
)
def test_unlearning_what_was_never_learned(rows, labels, sentence):
    assert_refused(taught(), lambda m: m.unlearn(rows, labels), ValueError, sentence)


def test_unlearning_the_same_twice():
    model = taught().unlearn(X[:6], Y[:6])
    assert_refused(model, lambda m: m.unlearn(X[:6], Y[:6]), ValueError, NEVER)
    assert_refused(model.drop_class("a"), lambda m: m.unlearn(X[:6], Y[:6]), ValueError, "label 'a'")


def test_unlearning_a_class_that_was_only_named():
    model = taught().partial_fit(X[:1], ["a"], classes=["a", "b", "c", "named"])
    assert_refused(model, lambda m: m.unlearn(X[:1], ["named"]), ValueError, NEVER)


def test_unlearning_and_merging_with_decay():
    model = taught(**FADING)
    assert_refused(model, lambda m: m.unlearn(X, Y), ValueError, f"unlearn is .*: {ORDER}")
    assert_refused(model, lambda m: m.merge(taught()), ValueError, f"merge is .*: {ORDER}")
    assert_refused(model, lambda m: m.merge(taught(**FADING)), ValueError, f"merge is .*: {ORDER}")
    assert_refused(taught(), lambda m: m.merge(model), ValueError, f"merge is .*: {ORDER}")
    assert_refused(taught(), lambda m: m.merge(taught(), model), ValueError, ORDER)
    assert_refused(taught(), lambda m: m.merge(model, taught()), ValueError, ORDER)
    compartments = taught(**COMPARTMENTS)
    assert_refused(compartments, lambda m: m.unlearn(X, Y), ValueError, f"unlearn is .*: {ORDER}")
    assert_refused(compartments, lambda m: m.merge(taught()), ValueError, f"merge is .*: {ORDER}")
    assert_refused(taught(), lambda m: m.merge(compartments), ValueError, f"merge is .*: {ORDER}")


DIFFERENT = "models of different circuits cannot be merged: "
OTHERS = [
    ({"random_state": 7}, "seed is 0 here and 7 there"),
    ({"n_cells": 500}, "n_cells is 400 here and 500 there"),
    ({"fan_in": 3}, "fan_in is 2 here and 3 there"),
    ({"n_active": 9}, "n_active is 20 here and 9 there"),
    ({"inhibition": "subtract"}, "inhibition is 'cut' here and 'subtract' there"),
    ({"channels": "raw", "n_active": 20}, "on_off is True here and False there"),
]


def assert_not_merged(other, sentence):
    fitting = taught(np.repeat("a longer name", 30))
    before = snapshot(other)
    for others in ([other], [fitting, other], [other, fitting]):
        assert_refused(taught(), lambda m, others=others: m.merge(*others), ValueError, sentence)
    with pytest.raises(ValueError, match=sentence):
        FlyClassifier.merged([taught(), other])
    assert snapshot(other) == before


@pytest.mark.parametrize(("parameters", "difference"), OTHERS, ids=str)
def test_merging_another_circuit(parameters, difference):
    assert_not_merged(taught(**parameters), DIFFERENT + difference)


def test_merging_what_learned_from_other_samples():
    narrow = FlyClassifier(n_cells=400, n_active=20).fit(X[:, :4], Y)
    assert_not_merged(narrow, f"{DIFFERENT}n_features is 5 here and 4 there")
    assert_not_merged(
        taught(np.arange(30)), "labels must be all strings or all numbers, but .* mix"
    )


@pytest.mark.parametrize("other", ["a path", None, 3, GaussianNB().fit(X, Y), FlyClassifier])
def test_merging_what_is_not_a_model(other):
    sentence = "others must be FlyClassifier models, but one is "
    assert_refused(taught(), lambda m: m.merge(other), TypeError, sentence)
    assert_refused(taught(), lambda m: m.merge(taught(), other), TypeError, sentence)
    with pytest.raises(TypeError, match=r"models must be one or more FlyClassifiers, but is \["):
        FlyClassifier.merged([other, taught()])


def test_merging_nothing_or_what_has_learned_nothing():
    with pytest.raises(TypeError, match=r"models must be one or more FlyClassifiers, but is \[\]"):
        FlyClassifier.merged([])
    assert_refused(taught(), lambda m: m.merge(FlyClassifier()), ValueError, "is not fitted yet")


@pytest.mark.parametrize("rates", MEMORIES.values(), ids=list(MEMORIES))
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.rename_class("a", "b"), "the label 'b' exists already"),
        (lambda m: m.rename_class("a", "a"), "the label 'a' exists already"),
        (lambda m: m.rename_class("z", "b"), "the label 'z' has not been learned"),
        (lambda m: m.rename_class("z", "y"), "the label 'z' has not been learned"),
        (lambda m: m.rename_class("a", 1), "all strings or all numbers, but '[bc]' and 1 are mixed"),
        (lambda m: m.rename_class("a", 0.5), "y must hold classes, not 0.5"),
        (lambda m: m.rename_class("a", None), "labels must be strings or numbers, but y holds None"),
        (lambda m: m.rename_class("a", ["z"]), r"new must be one label, but is \['z'\]"),
        (lambda m: m.rename_class(["a"], "z"), r"the label \['a'\] has not been learned"),
        (lambda m: m.drop_class("z"), "the label 'z' has not been learned"),
        (lambda m: m.drop_class(0), "the label 0 has not been learned"),
        (lambda m: m.drop_class(["a"]), r"the label \['a'\] has not been learned"),
        (lambda m: m.drop_class(None), "the label None has not been learned"),
    ],
)
def test_renaming_and_forgetting_what_cannot_be(rates, call, sentence):
    assert_refused(taught(**rates), call, ValueError, sentence)


def test_decay_cannot_begin_or_end_half_way():
    begun = "but the model was begun"
    for model, decay in ((taught(learning_rate=0.1), 0.1), (taught(**FADING), 0)):
        model.set_params(decay=decay)
        assert_refused(model, lambda m: m.partial_fit(X, Y), ValueError, f"decay is .*{begun}")
        assert_refused(model, lambda m: m.learn_one(X[0], "z"), ValueError, f"decay is .*{begun}")
    for begun_with, changed in ((COMPARTMENTS, {}), ({}, COMPARTMENTS), (FADING, COMPARTMENTS)):
        model = taught(**begun_with).set_params(**({"learning_rate": 0.1, "decay": 0} | changed))
        for call in (lambda m: m.partial_fit(X, Y), lambda m: m.learn_one(X[0], "z")):
            with pytest.raises(ValueError, match=begun):
                call(model)
        assert model.n_samples_seen_ == len(X)
    faded = taught(**FADING).set_params(learning_rate="auto")
    for call in (lambda m: m.partial_fit(X, Y), lambda m: m.learn_one(X[0], "z")):
        assert_refused(faded, call, ValueError, "learning_rate must be a number where decay")


def test_a_model_without_classes_cannot_answer():
    model = taught().unlearn(X, Y)
    for name, sample in (("predict", X), ("decision_function", X), ("predict_one", X[0])):
        with pytest.raises(ValueError, match="there are no classes left to choose from"):
            getattr(model, name)(sample)
    assert snapshot(model.partial_fit(X, Y)) == snapshot(taught())


def filled(room, labels=("a", "b", "c"), **parameters):
    """A model whose counters are all as close as `room` to the largest number."""
    model = taught(**parameters)
    coder = model.circuit_.coder
    content = {
        "synapses": np.full((len(labels), coder.n_cells), LARGEST - room, dtype=np.int32),
        "samples": np.full(len(labels), 8_000_000),
    }
    model.circuit_ = Circuit(coder, CountingMemory.restore(np.array(labels), content))
    return model


TOO_MANY = "a counter would exceed 2147483647: too many samples of one class"


def test_counters_fill_to_the_last_and_no_further():
    model = filled(room=255).learn_one(X[0], "a").partial_fit(X[:1], ["b"])
    assert model.class_count_.tolist() == [8_000_001, 8_000_001, 8_000_000]
    with model.circuit_.memory.reading as snapshot:
        assert memory.synapses.max() == LARGEST
    assert_refused(model, lambda m: m.learn_one(X[0], "a"), OverflowError, TOO_MANY)
    assert_refused(model, lambda m: m.partial_fit(X[:1], ["b"]), OverflowError, TOO_MANY)
    assert_refused(model, lambda m: m.partial_fit(X, Y), OverflowError, TOO_MANY)


@pytest.mark.parametrize("rows", [X, X[[0, 1, 2, 0]]], ids=["many", "few"])
def test_an_overflow_takes_back_new_classes_too(rows):
    labels = ["new", "a longer name", *["a"] * (len(rows) - 2)]
    for room in (0, 100, 200):
        model = filled(room)
        assert_refused(model, lambda m: m.partial_fit(rows, labels), OverflowError, TOO_MANY)
        assert_refused(model, lambda m: m.partial_fit(rows[::-1], labels), OverflowError, TOO_MANY)
        assert model.learn_one(X[0], "new").class_count_[-1] == 1


def test_merging_beyond_the_largest_counter():
    half = filled(room=LARGEST // 2, labels=("b", "c"))
    other = filled(room=LARGEST // 2, labels=("a new name", "b"))
    assert_refused(half, lambda m: m.merge(other, other), OverflowError, TOO_MANY)
    assert_refused(filled(0), lambda m: m.merge(half), OverflowError, TOO_MANY)
    assert_refused(filled(0), lambda m: m.merge(taught()), OverflowError, TOO_MANY)
    assert_refused(half, lambda m: m.merge(filled(0), taught()), OverflowError, TOO_MANY)
    empty = taught().unlearn(X, Y)
    assert snapshot(empty.merge(half))["synapses"] == snapshot(half)["synapses"]


MANY = np.resize(X, (9000, 5))


def many(first, last):
    """Labels of which only the last, in the third piece of the call, is a bad one."""
    labels = np.empty(len(MANY), dtype=object)
    labels[:-1], labels[-1] = first, last
    return labels


@pytest.mark.parametrize("rates", MEMORIES.values(), ids=list(MEMORIES))
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (many("new", 7), "but 'new' and 7 are mixed|but 'a' and 7 are mixed"),
        (many("a", None), "labels must be strings or numbers, but y holds None"),
        (many("a", 0.5), "y must hold classes, not 0.5"),
    ],
    ids=["mixed", "missing", "continuous"],
)
def test_a_bad_label_at_the_end_of_many(method, rates, labels, sentence):
    model = taught(n_cells=50, **rates)
    assert_refused(model, lambda m: getattr(m, method)(MANY, labels), ValueError, sentence)
    new = FlyClassifier(n_cells=50, **rates)
    assert_refused(new, lambda m: getattr(m, method)(MANY, labels), ValueError, sentence)


def test_an_overflow_at_the_end_of_many():
    model = filled(room=100, n_cells=50)
    labels = many("a longer name", "b")
    assert_refused(model, lambda m: m.partial_fit(MANY, labels), OverflowError, TOO_MANY)


@pytest.mark.parametrize(
    ("last", "sentence"), [("unknown", "the label 'unknown'"), ("rare", NEVER), (1, "the label 1")]
)
def test_a_sample_never_learned_at_the_end_of_many(last, sentence):
    model = taught(n_cells=50).learn_one(X[0], "rare")
    before = snapshot(model)
    model.partial_fit(MANY, many("many", "many"))
    assert_refused(model, lambda m: m.unlearn(MANY, many("many", last)), ValueError, sentence)
    assert snapshot(model.unlearn(MANY, many("many", "many"))) == before


def test_merging_models_whose_features_are_named_otherwise():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = FlyClassifier().fit(frame, Y)
    for other in (FlyClassifier().fit(frame[list("edcba")], Y), FlyClassifier().fit(X, Y)):
        with pytest.raises(ValueError, match="different names"):
            model.merge(other)
        assert model.n_samples_seen_ == len(X)
    assert model.merge(FlyClassifier().fit(frame, Y)).n_samples_seen_ == 2 * len(X)
