"""A sliding window: the sums are those of the latest samples alone, bit for bit."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import kenyon
from kenyon import FlyClassifier
from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.circuit.window import TENSORS as WINDOW
from tests.reading import memory_of, model_state
from tests.refusal import assert_refused

X, Y = load_digits(return_X_y=True)
# Few distinct samples, so that equal ones meet in a window.
X = X[:12]
SIZES = {"n_cells": 60, "fan_in": 6, "n_active": 12, "inhibition": "subtract"}
READOUTS = "fly", "bayes", "ridge"
SIZE = 7

readouts = pytest.mark.parametrize("readout", READOUTS)
samples = st.tuples(st.integers(0, len(X) - 1), st.integers(0, 4))
steps = st.one_of(
    st.tuples(st.just("learn_one"), samples),
    st.tuples(st.just("partial_fit"), st.lists(samples, min_size=1, max_size=2 * SIZE)),
    st.tuples(st.just("unlearn"), st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4)),
    st.tuples(st.just("drop_class"), st.integers(0, 4)),
    st.tuples(st.just("rename_class"), st.integers(0, 4)),
    st.tuples(st.just("save"), st.none()),
)


def new(readout, **parameters):
    return FlyClassifier(**{"readout": readout, "window": SIZE, **SIZES, **parameters})


def learn(model, entries):
    rows, labels = zip(*entries, strict=True)
    return model.partial_fit(X[[*rows]], [*labels])


def sums(model):
    return model_state(model, but=(*CALIBRATION, *WINDOW))


def assert_holds(model, entries):
    """Check that a model holds these samples in this order, and nothing else."""
    if not entries:
        assert model.n_samples_seen_ == 0
        assert len(model.classes_) == 0
        return
    alone = learn(new(model.readout, window=None), entries)
    assert sums(model) == sums(alone)
    again = learn(new(model.readout), entries)
    window, expected = ({name: model_state(one)[name] for name in WINDOW} for one in (model, again))
    assert window == expected


def saved_and_loaded(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kenyon"
        model.save(path)
        return kenyon.load(path)


def remove_latest(entries, sample):
    """Remove the latest of equal samples."""
    place = max(i for i, entry in enumerate(entries) if entry == sample)
    del entries[place]


@readouts
@given(st.lists(steps, min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_sums_are_those_of_the_latest_samples(readout, sequence):
    entries = [(0, 0), (1, 1), (2, 0)]
    model, n_renamed = learn(new(readout), entries), 100
    for step, argument in sequence:
        labels = {label for _, label in entries}
        if step == "learn_one":
            model.learn_one(X[argument[0]], argument[1])
            entries.append(argument)
        elif step == "partial_fit":
            learn(model, argument)
            entries += argument
        elif step == "unlearn" and entries:
            removed = [entries[i] for i in sorted({i % len(entries) for i in argument})]
            model.unlearn(X[[row for row, _ in removed]], [label for _, label in removed])
            for sample in removed:
                remove_latest(entries, sample)
        elif step == "drop_class" and argument in labels:
            model.drop_class(argument)
            entries = [entry for entry in entries if entry[1] != argument]
        elif step == "rename_class" and argument in labels:
            n_renamed += 1
            model.rename_class(argument, n_renamed)
            entries = [(row, n_renamed if y == argument else y) for row, y in entries]
        elif step == "save":
            model = saved_and_loaded(model)
        entries = entries[-SIZE:]
        assert_holds(model, entries)


@readouts
def test_answers_are_those_of_the_latest_samples(readout):
    """Reading in between, from which ridge updates its factor, changes nothing but rounding."""
    digits, labels = load_digits(return_X_y=True)
    sizes = {"n_cells": 200, "n_active": 40, "penalty": 0.1}
    model = new(readout, **sizes, window=100).fit(digits[:100], labels[:100])
    for row in range(100, 150):
        model.learn_one(digits[row], int(labels[row]))
        model.predict_one(digits[0])
    alone = new(readout, **sizes, window=None).fit(digits[50:150], labels[50:150])
    tolerance = {"rtol": 1e-7, "atol": 1e-9} if readout == "ridge" else {"rtol": 0}
    np.testing.assert_allclose(
        model.decision_function(digits[200:300]),
        alone.decision_function(digits[200:300]),
        **tolerance,
    )
    assert model.predict_proba(digits[:5]).shape == (5, 10)


@readouts
def test_a_class_disappears_with_its_last_sample(readout):
    model = new(readout, window=3).fit(X[:3], ["a", "b", "b"])
    assert model.learn_one(X[3], "c").classes_.tolist() == ["b", "c"]
    assert model.partial_fit(X[:2], ["d", "d"]).classes_.tolist() == ["c", "d"]
    assert model.partial_fit(X[:9], ["e"] * 6 + ["f"] * 3).classes_.tolist() == ["f"]
    assert model.partial_fit(X[:1], ["f"], classes=["f", "g"]).classes_.tolist() == ["f", "g"]


def test_dropping_a_class_unlearns_it_from_the_pairs():
    model = new("ridge").fit(X[:6], ["a", "b"] * 3).drop_class("a")
    assert sums(model) == sums(new("ridge", window=None).fit(X[1:6:2], ["b"] * 3))


@readouts
def test_many_more_samples_than_the_window(readout):
    digits, labels = load_digits(return_X_y=True)
    rows, y = np.tile(digits, (4, 1)), np.tile(labels, 4)
    model = new(readout, window=5000).fit(rows, y)
    assert model.n_samples_seen_ == 5000
    model.partial_fit(rows[:4500], y[:4500])
    alone = new(readout, window=None)
    assert sums(model) == sums(
        alone.fit(np.vstack([rows[-500:], rows[:4500]]), np.concatenate([y[-500:], y[:4500]]))
    )


REFUSED = {
    "a sample that left": (
        lambda m: m.unlearn(X[:1], ["a"]),
        "samples that were not learned: they are not in the window",
    ),
    "a sample that is there once": (
        lambda m: m.unlearn(X[[5, 4, 5]], ["b", "a", "b"]),
        "they are not in the window",
    ),
    "a sample of another class": (lambda m: m.unlearn(X[5:6], ["a"]), "not in the window"),
    "an unknown class": (lambda m: m.drop_class("z"), "the label 'z' has not been learned"),
    "a label of another kind": (
        lambda m: m.partial_fit(np.tile(X, (2, 1)), np.array([1, *["a"] * 23], object)),
        "labels must be all strings, all booleans or all numbers",
    ),
    "merging": (lambda m: m.merge(m), "merge is not possible: a window holds the latest samples"),
    "another size": (
        lambda m: m.set_params(window=8).learn_one(X[0], "a"),
        "window is 8, but the model was fitted with 4: only fit changes that",
    ),
    "no size": (
        lambda m: m.set_params(window=None).partial_fit(X[:1], ["a"]),
        "window is None, but the model was fitted with 4",
    ),
}


@readouts
@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_call_changes_nothing(readout, call, message):
    model = new(readout, window=4).fit(X[:6], ["a", "b"] * 3)
    before = model_state(model)
    with pytest.raises(ValueError, match=message):
        call(model)
    assert model_state(model) == before


def test_merging_into_a_model_without_window_is_refused():
    plain = new("fly", window=None).fit(X, Y[:12])
    with pytest.raises(ValueError, match="merge is not possible: a window"):
        plain.merge(new("fly").fit(X, Y[:12]))


def test_extinguishing_is_refused():
    model = new("fly").fit(X, Y[:12])
    with pytest.raises(ValueError, match="extinguish is not possible: with a window"):
        model.extinguish(X[:1], Y[:1], 0.5)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"window": 0}, ValueError, "window must be from 1 to"),
        ({"window": 2.5}, TypeError, "window must be an integer or None"),
        ({"window": True}, TypeError, "window must be an integer or None"),
        ({"window": 3, "decay": 0.1}, ValueError, "window is not possible with decay"),
        (
            {"window": 3, "compartments": [("auto", 0.0)]},
            ValueError,
            "window is not possible with decay or compartments",
        ),
    ],
)
def test_rejects_parameters(parameters, error, message):
    model = FlyClassifier(n_cells=50, **parameters)
    assert_refused(model, lambda m: m.fit(X, Y[:12]), error, message)


@readouts
def test_a_copy_is_independent(readout):
    model = new(readout).fit(X, Y[:12])
    before, other = model_state(model), copy.deepcopy(model)
    assert model_state(other) == before
    learn(other, [(0, 1), (1, 2)])
    assert model_state(model) == before
    assert model_state(learn(model, [(0, 1), (1, 2)])) == model_state(other)


def test_the_window_counts_as_memory():
    model = new("fly").fit(X[:1], [0])
    memory = memory_of(model)
    before = model.nbytes
    model.learn_one(X[0], 0)
    assert model.nbytes - before == memory.window.nbytes / 2
    assert memory.window.nbytes / 2 == pytest.approx(2 * SIZES["n_active"], abs=40)


def changed(content, name, change):
    tensor = content[name].copy()
    change(tensor)
    return {**content, name: tensor}


DAMAGES = {
    "another order of classes": ("window_ranks", lambda t: t.__setitem__(0, 1 - t[0])),
    "an unknown class": ("window_ranks", lambda t: t.__setitem__(0, 2)),
    "another level": ("window_codes", lambda t: t.__setitem__(1, t[1] ^ 1 or 3)),
    "no size": ("window_size", lambda t: t.__setitem__(0, 0)),
    "too small a size": ("window_size", lambda t: t.__setitem__(0, 3)),
    "other starts": ("window_starts", lambda t: t.__setitem__(-1, t[-1] - 1)),
    "descending starts": ("window_starts", lambda t: t.__setitem__(1, t[2] + 1)),
    "other counters": ("synapses", lambda t: t.__setitem__((0, 0), t[0, 0] + 1)),
    "other pairs": ("pairs", lambda t: t.__setitem__(0, t[0] + 1)),
    "other numbers of pairs": ("n_paired", lambda t: t.__setitem__(0, t[0] + 1)),
}


@pytest.mark.parametrize(("name", "change"), DAMAGES.values(), ids=DAMAGES.keys())
def test_restoring_refuses_a_window_that_is_not_that_of_the_sums(name, change):
    memory = memory_of(new("ridge").fit(X[:6], ["a", "b"] * 3))
    restored = type(memory).restore(memory.classes, memory.content())
    assert restored.window_size == SIZE
    with pytest.raises(ValueError, match=r"its window|its sums"):
        type(memory).restore(memory.classes, changed(memory.content(), name, change))
