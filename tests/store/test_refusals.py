"""Refused requests: one sentence, and nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

import kenyon.store
from kenyon import FlyClassifier
from kenyon.store import (
    Conflict,
    Drop,
    Learn,
    Merge,
    NoSuchEvent,
    NoSuchKey,
    NoSuchModel,
    NoSuchSample,
    Rename,
    Settings,
    Undo,
    Unlearn,
)
from kenyon.store.features import quantise
from tests.store.data import N_FEATURES, SMALL, X, grouped


def file_of(**parameters):
    return kenyon.store.model.file_of(FlyClassifier(**parameters).fit(X[:2], ["a", "b"]))


def learn_wrong_width(model):
    features = np.zeros((1, N_FEATURES + 1), np.int16)
    return model.submit(Learn(features, ["a"])).result()


def learn_floats(model):
    return model.submit(Learn(X[:1], ["a"])).result()


def share_a_key(model):
    model.learn(X[:1], ["a"], key="k")
    return model.learn(X[:1], ["b"], key="k")


# What is asked of a model that has learned x, y, z as a, b, b and dropped nothing; the error; words
# of its sentence.
REFUSALS = {
    "known id": (lambda m: m.learn(X[:1], ["a"], ["x"]), Conflict, "'x' is that of a sample"),
    "repeated id": (
        lambda m: m.learn(X[:2], ["a", "b"], ["q", "q"]),
        Conflict,
        "'q' is there twice",
    ),
    "empty id": (lambda m: m.learn(X[:1], ["a"], [""]), ValueError, "1 to 200 printable"),
    "long id": (lambda m: m.learn(X[:1], ["a"], ["i" * 201]), ValueError, "1 to 200 printable"),
    "number as id": (lambda m: m.learn(X[:1], ["a"], [7]), ValueError, "but is 7"),
    "invalid id": (lambda m: m.learn(X[:1], ["a"], ["\ud800"]), ValueError, "printable"),
    "store's id": (lambda m: m.learn(X[:1], ["a"], ["#9.9"]), ValueError, "must not begin"),
    "fewer ids": (lambda m: m.learn(X[:2], ["a", "b"], ["q"]), ValueError, "inconsistent"),
    "fewer labels": (lambda m: m.learn(X[:2], ["a"]), ValueError, "inconsistent"),
    "width": (lambda m: m.learn(X[:1, :3], ["a"]), ValueError, "X must have 6 features"),
    "width unchecked": (learn_wrong_width, ValueError, "quantised numbers"),
    "not quantised": (learn_floats, ValueError, "quantised numbers"),
    "no samples": (lambda m: m.learn(X[:0], []), ValueError, "0"),
    "nan": (lambda m: m.learn(X[:1] * np.nan, ["a"]), ValueError, "NaN"),
    "infinity": (lambda m: m.learn(X[:1] * np.inf, ["a"]), ValueError, "infinity"),
    "text": (lambda m: m.learn(["hello"], ["a"]), ValueError, ""),
    "other kind": (lambda m: m.learn(X[:1], [1]), ValueError, "of one kind, but would be int"),
    "float label": (lambda m: m.learn(X[:1], [0.5]), ValueError, ""),
    "unlearn nothing": (lambda m: m.unlearn([]), ValueError, "at least one sample"),
    "unlearn unknown": (lambda m: m.unlearn(["x", "q"]), NoSuchSample, "the id 'q'"),
    "unlearn unassigned": (lambda m: m.unlearn(["#1.0"]), NoSuchSample, "'#1.0'"),
    "unlearn a string": (lambda m: m.unlearn("x"), TypeError, "a list of strings"),
    "ids are a string": (lambda m: m.learn(X[:1], ["a"], ids="q"), TypeError, "a list of strings"),
    "unlearn before a date": (lambda m: m.unlearn_before("2020"), TypeError, "number of seconds"),
    "unlearn before None": (lambda m: m.unlearn_before(None), TypeError, "number of seconds"),
    "unlearn before nan": (lambda m: m.unlearn_before(float("nan")), ValueError, "finite"),
    "unlearn no row": (lambda m: m.submit(Unlearn(rows=[4])).result(), NoSuchSample, "no row 4"),
    "unlearn row -1": (lambda m: m.submit(Unlearn(rows=[-1])).result(), NoSuchSample, "no row -1"),
    "drop unknown": (lambda m: m.drop_class("q"), Conflict, "label must be a class"),
    "drop number": (lambda m: m.drop_class(1), Conflict, "label must be a class"),
    "rename unknown": (lambda m: m.rename_class("q", "r"), Conflict, "old must be a class"),
    "rename to known": (lambda m: m.rename_class("a", "b"), Conflict, "new must be a new label"),
    "rename to itself": (lambda m: m.rename_class("a", "a"), Conflict, "new must be a new label"),
    "rename to number": (lambda m: m.rename_class("a", 1), ValueError, "of the kind of old"),
    "undo 0": (lambda m: m.undo(0), NoSuchEvent, "no event 0"),
    "undo later": (lambda m: m.undo(99), NoSuchEvent, "no event 99"),
    "undo huge": (lambda m: m.undo(1 << 70), NoSuchEvent, "no event"),
    "undo text": (lambda m: m.undo("1"), TypeError, "number of an event"),
    "undo erasure": (lambda m: m.undo(2), Conflict, "it erased the content"),
    "set nothing": (lambda m: m.set(), ValueError, "no setting is given"),
    "set unknown": (lambda m: m.set(colour=1), ValueError, "'colour' cannot be changed"),
    "set layer": (lambda m: m.set(n_cells=99), ValueError, "'n_cells' cannot be changed"),
    "set nonsense": (lambda m: m.set(learning_rate=-1), ValueError, "learning_rate"),
    "set nan": (lambda m: m.set(learning_rate=float("nan")), ValueError, "learning_rate"),
    "set auto": (lambda m: m.set(readout="auto"), ValueError, "but is 'auto'"),
    "set ridge": (lambda m: m.set(readout="ridge"), ValueError, "ridge"),
    "set object": (lambda m: m.set(learning_rate=object()), ValueError, "learning_rate"),
    "merge nonsense": (lambda m: m.merge(b"nonsense"), ValueError, "not a Kenyon model"),
    "merge a number": (lambda m: m.merge(5), TypeError, "a FlyClassifier, a Pipeline or"),
    "merge nothing": (lambda m: m.merge(b""), ValueError, ""),
    "merge other": (lambda m: m.merge(file_of(n_cells=50)), ValueError, "n_cells is 40 here"),
    "merge window": (lambda m: m.merge(file_of(**SMALL, window=3)), ValueError, "window"),
    "merge ridge": (
        lambda m: m.merge(file_of(**SMALL, readout="ridge")),
        ValueError,
        "for both models",
    ),
    "empty key": (lambda m: m.learn(X[:1], ["a"], key=""), ValueError, "1 to 200"),
    "long key": (lambda m: m.learn(X[:1], ["a"], key="k" * 201), ValueError, "1 to 200"),
    "number as key": (lambda m: m.learn(X[:1], ["a"], key=7), ValueError, "1 to 200"),
    "invalid key": (lambda m: m.learn(X[:1], ["a"], key="\ud800"), ValueError, ""),
    "invalid who": (lambda m: m.learn(X[:1], ["a"], who="\ud800"), ValueError, ""),
    "no request": (lambda m: m.submit("learn").result(), TypeError, "kenyon.store.requests"),
    "at later": (lambda m: m.at(99), NoSuchEvent, "no event 99"),
    "at -1": (lambda m: m.at(-1), NoSuchEvent, "no event -1"),
    "at a fraction": (lambda m: m.at(1.5), TypeError, "event must be an integer"),
    "at a truth": (lambda m: m.at(True), TypeError, "event must be an integer"),
    "wait for text": (lambda m: m.wait("1"), TypeError, "event must be an integer"),
    "events after text": (lambda m: m.events("1"), TypeError, "after must be an integer"),
    "less than no events": (lambda m: m.events(limit=-1), ValueError, "limit must be at least 0"),
    "less than no samples": (lambda m: m.samples(limit=-1), ValueError, "limit must be at least"),
}


@pytest.fixture
def model(store):
    model = store.create("m", N_FEATURES, {"readout": "fly", **SMALL})
    model.learn(X[:4], ["a", "b", "b", "c"], ["x", "y", "z", "gone"])
    model.unlearn(["gone"])
    return model


def state_of(model):
    return model.event, model.classes(), model.digest(), model.events(), model.samples()


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_request_changes_nothing(model, store, name):
    call, error, words = REFUSALS[name]
    before = state_of(model)
    with pytest.raises(error) as caught:
        call(model)
    assert type(caught.value) is error
    sentence = str(caught.value)
    assert words in sentence
    assert sentence
    assert "\n" not in sentence.strip()
    assert state_of(model) == before
    # The next event takes the next number, and a restart sees the same.
    assert model.learn(X[5:6], ["b"]).event == before[0] + 1
    assert all(finding.is_right for finding in store.verify())


def test_a_key_is_for_one_request(model):
    with pytest.raises(Conflict, match="'k' was used for another request"):
        share_a_key(model)
    assert model.event == 3


def test_conflicts_inside_one_group(model, store):
    requests = [
        model.learning(X[:1], ["a"], ["new"]),
        model.learning(X[1:2], ["a"], ["new"]),
        Unlearn(["new"]),
        Unlearn(["new"]),
        Drop("c"),
        Rename("a", "d"),
        Drop("a"),
        Undo(5),
        Drop("a"),
        Settings({"learning_rate": 0.5}),
        Undo(99),
    ]
    n_commits = store.n_commits
    with grouped(store):
        futures = [model.submit(request) for request in requests]
    outcomes = [
        type(error).__name__ if (error := future.exception()) else future.result().event
        for future in futures
    ]
    expected = "3 Conflict 4 NoSuchSample Conflict 5 Conflict 6 7 8 NoSuchEvent"
    assert " ".join(map(str, outcomes)) == expected
    assert store.n_commits <= n_commits + 2
    assert model.classes() == {"b": 2}
    assert all(finding.is_right for finding in store.verify())


def test_a_file_without_counts_is_checked(store):
    other = store.create("other", N_FEATURES, {"readout": "fly", **SMALL})
    receipt = other.submit(Merge(file_of(**SMALL, readout="fly"))).result()
    assert (receipt.n, other.classes()) == (2, {"a": 1, "b": 1})
    with pytest.raises(ValueError, match="not a Kenyon model"):
        other.submit(Merge(b"nonsense"))


# What is asked of a store that has the model "m"; the error; words of its sentence.
STORE_REFUSALS = {
    "known name": (lambda s: s.create("m", 4), Conflict, "there is a model 'm' already"),
    "import known": (lambda s: s.import_model("m", file_of()), Conflict, "'m' already"),
    "empty name": (lambda s: s.create("", 4), ValueError, "1 to 100 letters"),
    "hidden name": (lambda s: s.create(".m", 4), ValueError, "1 to 100 letters"),
    "path": (lambda s: s.create("../m", 4), ValueError, "1 to 100 letters"),
    "long name": (lambda s: s.create("m" * 101, 4), ValueError, "1 to 100 letters"),
    "new line": (lambda s: s.create("n\n", 4), ValueError, "1 to 100 letters"),
    "number as name": (lambda s: s.create(7, 4), ValueError, "but is 7"),
    "number as who": (lambda s: s.create("n", 4, who=7), ValueError, "who must be a string"),
    "import a number": (lambda s: s.import_model("n", 7), TypeError, "must be bytes, but is int"),
    "no features": (lambda s: s.create("n"), ValueError, "either features or encoder"),
    "both": (lambda s: s.create("n", 4, encoder="hashing"), ValueError, "and not both"),
    "zero features": (lambda s: s.create("n", 0), ValueError, "features"),
    "half a feature": (lambda s: s.create("n", 1.5), TypeError, "features"),
    "encoder 7": (lambda s: s.create("n", encoder=7), TypeError, "encoder must be"),
    "unknown setting": (lambda s: s.create("n", 4, {"colour": 1}), ValueError, "'colour' is not"),
    "decay": (lambda s: s.create("n", 4, {"decay": 0.1, "learning_rate": 0.1}), ValueError, "dec"),
    "compartments": (
        lambda s: s.create("n", 4, {"compartments": [0.1], "learning_rate": 0.1}),
        (ValueError, TypeError),
        "compartments",
    ),
    "cells": (lambda s: s.create("n", 4, {"n_cells": -1}), ValueError, "n_cells"),
    "texts of vectors": (lambda s: s.create("n", 4, keep_texts=True), ValueError, "keep_texts"),
    "import nonsense": (lambda s: s.import_model("n", b"x"), ValueError, "not a Kenyon model"),
    "import window": (lambda s: s.import_model("n", file_of(window=2)), ValueError, "window"),
    "import decay": (
        lambda s: s.import_model("n", file_of(decay=0.1, learning_rate=0.1)),
        ValueError,
        "decay",
    ),
    "no model": (lambda s: s["n"], NoSuchModel, "there is no model 'n'"),
    "delete none": (lambda s: s.delete("n"), NoSuchModel, "there is no model 'n'"),
    "no scope": (lambda s: s.keys.create("k", set()), ValueError, "scopes"),
    "odd scope": (lambda s: s.keys.create("k", {"write"}), ValueError, "scopes"),
    "scope": (lambda s: s.keys.create("k", "admin"), ValueError, "scopes"),
    "no name": (lambda s: s.keys.create("", {"admin"}), ValueError, "name"),
    "no models": (lambda s: s.keys.create("k", {"admin"}, []), ValueError, "models"),
    "revoke none": (lambda s: s.keys.revoke(1), NoSuchKey, "no valid key 1"),
}


@pytest.mark.parametrize("name", STORE_REFUSALS)
def test_a_refused_call_of_a_store_changes_nothing(store, name):
    store.create("m", N_FEATURES, SMALL).learn(X[:2], ["a", "b"])
    call, error, words = STORE_REFUSALS[name]
    with pytest.raises(error, match=words) as caught:
        call(store)
    assert "\n" not in str(caught.value)
    assert store.names() == ["m"]
    assert store.keys.all() == []
    folder = store.folder
    store.close()
    with kenyon.store.open(folder) as again:
        assert again.names() == ["m"]
        assert again["m"].classes() == {"a": 1, "b": 1}


def test_quantised_rows_are_their_own_quantisation(model):
    once = quantise(model.coder, X)
    assert (quantise(model.coder, once.astype(float)) == once).all()
