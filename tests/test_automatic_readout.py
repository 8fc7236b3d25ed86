"""The readout "auto": ridge, or fly where a learning rate, decay or compartments are given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kenyon
from kenyon import FlyClassifier
from kenyon._validation import RATE_WITH_DECAY
from tests.reading import memory_of
from tests.refusal import COMPARTMENTS, DECAY, X, Y, assert_refused

SMALL = {"n_cells": 60}
CHOICES = [
    ({}, "ridge"),
    ({"penalty": 0.1, "pseudocount": 1.0}, "ridge"),
    ({"window": 20}, "ridge"),
    ({"decay": 0.01}, "fly"),
    (DECAY, "fly"),
    (COMPARTMENTS, "fly"),
    ({"compartments": (("auto", 0.0),)}, "fly"),
    ({"learning_rate": 0.1}, "fly"),
    ({"learning_rate": 0.1, "window": 20}, "fly"),
]


@pytest.mark.parametrize(("parameters", "expected"), CHOICES, ids=str)
def test_the_parameters_choose_the_readout(parameters, expected, tmp_path):
    model = FlyClassifier(**SMALL, **parameters).fit(X, Y)
    assert model.readout == "auto"
    assert model.readout_ == expected
    named = FlyClassifier(**SMALL, **parameters, readout=expected).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))
    model.save(tmp_path / "model.kenyon")
    loaded = kenyon.load(tmp_path / "model.kenyon")
    assert loaded.readout == loaded.readout_ == expected
    np.testing.assert_allclose(model.decision_function(X), loaded.decision_function(X), rtol=1e-9)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, Y)):
        assert (other.readout, other.readout_) == ("auto", expected)


def test_there_is_no_readout_before_fit():
    assert not hasattr(FlyClassifier(), "readout_")


CONTRADICTIONS = [
    ("ridge", {"learning_rate": 0.1}, "learning_rate"),
    ("ridge", {"decay": 0.1}, "decay"),
    ("ridge", COMPARTMENTS, "compartments"),
    ("bayes", {"decay": 0.1}, "decay"),
    ("bayes", COMPARTMENTS, "compartments"),
    ("bayes", {"compartments": [("auto", 0.0)]}, "compartments"),
]


@pytest.mark.parametrize(("readout", "parameters", "name"), CONTRADICTIONS, ids=str)
def test_rejects_contradictions(readout, parameters, name):
    model = FlyClassifier(**SMALL, readout=readout, **parameters)
    message = f"readout must be 'fly' or 'auto' with {name}, but is '{readout}'"
    assert_refused(model, lambda m: m.fit(X, Y), ValueError, message)


def test_bayes_has_a_learning_rate_for_its_novelty():
    models = [
        FlyClassifier(**SMALL, readout="bayes", learning_rate=rate).fit(X, Y) for rate in (0.01, 1)
    ]
    assert models[0].novelty(X).mean() > models[1].novelty(X).mean()


CALLS = {
    "predict": lambda m: m.predict(X),
    "predict_one": lambda m: m.predict_one(X[0]),
    "partial_fit": lambda m: m.partial_fit(X, Y),
    "learn_one": lambda m: m.learn_one(X[0], "a"),
    "unlearn": lambda m: m.unlearn(X[:1], Y[:1]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("change", [{"learning_rate": 0.1}, {"decay": 0.1}, COMPARTMENTS], ids=str)
def test_a_fitted_ridge_stays_ridge(change, call):
    model = FlyClassifier(**SMALL).fit(X, Y)
    expected = model.decision_function(X)
    defaults = {name: model.get_params()[name] for name in change}
    model.set_params(**change)
    message = f"{next(iter(change))} is given, but the model was fitted with readout 'ridge'"
    with pytest.raises(ValueError, match=message + r".*: only fit changes that"):
        call(model)
    np.testing.assert_array_equal(model.set_params(**defaults).decision_function(X), expected)
    assert model.set_params(**change).fit(X, Y).readout_ == "fly"


def test_a_fitted_fly_stays_fly():
    model = FlyClassifier(**SMALL, learning_rate=0.1).fit(X, Y).set_params(learning_rate="auto")
    assert model.readout_ == "fly"
    expected = FlyClassifier(**SMALL, readout="fly").fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert model.fit(X, Y).readout_ == "ridge"


def test_a_readout_that_is_named_is_used_at_once():
    model = FlyClassifier(**SMALL).fit(X, Y)
    assert model.set_params(readout="bayes").readout_ == "bayes"
    model.set_params(readout="fly", learning_rate=0.1).predict(X)
    assert model.readout_ == "fly"


def test_decay_alone_has_a_learning_rate(tmp_path):
    model = FlyClassifier(**SMALL, decay=0.01).fit(X, Y)
    named = FlyClassifier(**SMALL, decay=0.01, learning_rate=RATE_WITH_DECAY).fit(X, Y)
    np.testing.assert_array_equal(memory_of(model).synapses, memory_of(named).synapses)
    model.save(tmp_path / "model.kenyon")
    assert kenyon.load(tmp_path / "model.kenyon").learning_rate == RATE_WITH_DECAY


def test_the_default_answers_after_one_sample():
    model = FlyClassifier().learn_one([1.0, -2.0], "only")
    assert model.predict([[1, -2], [-1, 2], [0, 0]]).tolist() == ["only"] * 3
    np.testing.assert_array_equal(model.predict_proba([[1, -2], [5, 5]]), [[1], [1]])
    novelty = model.novelty([[1, -2], [-1, 2]])
    assert novelty[0] < novelty[1] <= 1


def test_the_default_answers_with_one_class():
    model = FlyClassifier().fit(X, ["only"] * len(X))
    assert set(model.predict(-X)) == {"only"}
    assert model.decision_function(X).shape == (len(X), 1)


def test_the_default_answers_with_two_features():
    model = FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"])
    assert model.predict([[2, 0], [0, 3], [3, 1], [1, 3]]).tolist() == ["a", "b", "a", "b"]
    signed = FlyClassifier().fit([[1, 0], [-1, 0], [0, -1]], ["a", "b", "c"])
    assert signed.predict([[5, 0], [-5, 0], [0, -5]]).tolist() == ["a", "b", "c"]


def test_the_default_answers_with_one_feature():
    model = FlyClassifier().fit([[1], [-1], [2], [-3]], ["plus", "minus", "plus", "minus"])
    assert model.predict([[5], [-5]]).tolist() == ["plus", "minus"]
    probabilities = model.predict_proba([[5], [-5], [0]])
    assert (probabilities[[0, 1], [1, 0]] > 0.5).all()
    np.testing.assert_allclose(probabilities[2], 0.5)
