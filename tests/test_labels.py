"""Any kind of label."""

import pickle
import re
from enum import Enum, IntEnum, IntFlag
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

import kenyon
from kenyon import FlyClassifier
from tests.reading import model_state, synapses


def fly(**parameters):
    return FlyClassifier(**{"n_cells": 400, "readout": "fly", **parameters})


class Colour(str, Enum):
    RED, GREEN = "red", "green"


class Direction(IntEnum):
    DOWN, UP = -1, 1


class Bits(IntFlag):
    ONE, TWO = 1, 2


WORDS = ["left", "right", "up"]
LABELS = {
    "int64": ([3, 1, 2], np.int64),
    "int8": (np.array([3, 1, 2], dtype=np.int8), np.int64),
    "small uint64": (np.array([3, 1, 2], dtype=np.uint64), np.int64),
    "uint64": (np.array([3, 2**64 - 1, 2], dtype=np.uint64), np.uint64),
    "negative": ([-1, 7, -300], np.int64),
    "bool": ([True, False, True], bool),
    "integral floats": ([3.0, -1.0, 0.0], np.int64),
    "numpy scalars": ([np.int64(3), np.int64(1), np.int64(2)], np.int64),
    "numpy scalars as objects": (np.array([np.int64(3), np.int8(1)] * 2, dtype=object), np.int64),
    "numpy booleans": ([np.True_, np.False_], bool),
    "object booleans": (np.array([True, False], dtype=object), bool),
    "integer enumeration": ([Direction.UP, Direction.DOWN], np.int64),
    "integer flags": ([Bits.ONE, Bits.TWO], np.int64),
    "strings": (WORDS, "<U5"),
    "numpy strings": (np.array(WORDS, dtype="<U20"), "<U5"),
    "numpy string scalars": ([np.str_("left"), np.str_("up")], "<U4"),
    "string enumeration": ([Colour.RED, Colour.GREEN], "<U5"),
    "string enumeration as objects": (np.array([*Colour], dtype=object), "<U5"),
    "series of a string enumeration": (pd.Series([*Colour], dtype=object), "<U5"),
    "strings and members": (["blue", Colour.RED, np.str_("green")], "<U5"),
    "NUL at the end": (["a", "a\0", "a\0\0"], object),
    "only NUL": (["", "\0"], object),
    "NUL inside": (["a\0b", "ab"], "<U3"),
    "object strings": (np.array(WORDS, dtype=object), "<U5"),
    "empty string": (["", "a", "b"], "<U1"),
    "wide characters": (["naïve", "日本", "🪰"], "<U5"),
    "series of strings": (pd.Series(WORDS), "<U5"),
    "series of ints": (pd.Series([3, 1, 2], index=[9, 4, 7]), np.int64),
    "categorical": (pd.Categorical(WORDS), "<U5"),
    "series of categories": (pd.Series([30, 10, 20]).astype("category"), np.int64),
    "polars series": (pl.Series(WORDS), "<U5"),
    "huge ints": ([2**70, -(2**80), 5], object),
    "above int64": ([2**63, 0], np.uint64),
    "above and below int64": ([2**63, -1], object),
    "limits of int64": ([2**63 - 1, -(2**63)], np.int64),
    "above uint64": ([2**64, 0], object),
}


def plain(labels):
    """Return labels as Python's own strings, booleans and integers, independently of Kenyon."""
    found = []
    for label in list(labels):
        value = label.value if isinstance(label, Enum) else label
        value = value.item() if isinstance(value, np.generic) else value
        found.append(int(value) if isinstance(value, float) else value)
    assert {*map(type, found)} < {str, bool, int}
    return found


def types(labels):
    return {*map(type, labels)}


@pytest.mark.parametrize(("given", "dtype"), LABELS.values(), ids=LABELS.keys())
def test_labels_become_plain_and_their_values_give_the_type(given, dtype, tmp_path):
    labels = plain(given)
    X = np.eye(len(labels))
    model = fly().fit(X, given)
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == sorted(set(labels))
    assert types(model.classes_.tolist()) == types(labels)
    assert model.class_count_.tolist() == [labels.count(label) for label in model.classes_.tolist()]
    assert model.predict(X).dtype == dtype
    assert model.predict(X).tolist() == labels
    one_by_one, batches = fly(), fly()
    for x, label in zip(X, given, strict=True):
        one_by_one.learn_one(x, label)
        batches.partial_fit(x[np.newaxis], [label])
    assert [one_by_one.predict_one(x) for x in X] == labels
    assert types(one_by_one.predict_one(x) for x in X) == types(labels)
    model.save(tmp_path / "fly.kenyon")
    loaded = kenyon.load(tmp_path / "fly.kenyon")
    merged = fly().fit(X[:1], list(given)[:1]).merge(fly().fit(X[1:], list(given)[1:]))
    for other in (one_by_one, batches, loaded, merged, pickle.loads(pickle.dumps(model))):
        assert model_state(other) == model_state(model)
        assert other.classes_.dtype == dtype
    assert len(model.unlearn(X, given).classes_) == 0
    for label in dict.fromkeys(given):
        loaded.drop_class(label)
    assert len(loaded.classes_) == 0


@pytest.mark.parametrize("given", [labels for labels, _ in LABELS.values()], ids=LABELS.keys())
def test_classes_are_renamed_to_and_from_every_label(given):
    for old, label in zip(list(given), plain(given), strict=True):
        other = not label if isinstance(label, bool) else {str: "z", int: 100}[type(label)]
        model = fly().fit(np.eye(1), [old])
        before = model_state(model)
        assert model.rename_class(old, other).classes_.tolist() == [other]
        assert model_state(model.rename_class(other, old)) == before
        assert model.classes_.tolist() == [label]
        assert types(model.classes_.tolist()) == {type(label)}


@pytest.mark.parametrize("given", [labels for labels, _ in LABELS.values()], ids=LABELS.keys())
def test_declared_classes_become_plain(given):
    model = fly().partial_fit(np.eye(1), list(given)[:1], classes=given)
    assert model.classes_.tolist() == sorted(set(plain(given)))
    assert types(model.classes_.tolist()) == types(plain(given))
    assert model.class_count_.sum() == 1


def test_weighted_labels_keep_nul_characters():
    model = fly().fit(np.eye(2), ["a", "a\0"], sample_weight=[1, 3])
    assert (model.classes_.tolist(), model.class_count_.tolist()) == (["a", "a\0"], [1, 3])
    assert model.unlearn(np.eye(2)[1:], ["a\0"], sample_weight=[3]).classes_.tolist() == ["a"]
    assert model.classes_.dtype == "<U1"


def test_labels_that_differ_by_nul_characters_are_different():
    model = fly().fit(np.eye(2), ["a", "a\0"])
    with pytest.raises(ValueError, match="not learned"):
        model.unlearn(np.eye(2)[:1], ["a\0"])
    with pytest.raises(ValueError, match=r"the label 'a\\x00' exists already"):
        model.rename_class("a", "a\0")
    with pytest.raises(ValueError, match=r"the label 'a\\x00\\x00' has not been learned"):
        model.drop_class("a\0\0")
    assert model.drop_class("a").classes_.tolist() == ["a\0"]
    assert model.rename_class("a\0", "b").classes_.dtype == "<U1"
    assert model.extinguish(np.eye(2)[1:], ["b"], 0.5).classes_.tolist() == ["b"]


def test_longer_strings_widen_the_type():
    model = fly()
    words = ["b", "abc", "a" * 40, "c" * 1000]
    for i, word in enumerate(words):
        model.partial_fit(np.eye(4)[[i]], [word])
        assert model.classes_.tolist() == sorted(words[: i + 1])
        assert model.classes_.dtype == f"<U{len(word)}"
    assert model.predict(np.eye(4)).tolist() == words
    assert model.drop_class("c" * 1000).classes_.dtype == "<U40"


@pytest.mark.parametrize(
    ("first", "second", "dtype"),
    [
        (np.int8, np.int64, np.int64),
        (np.int64, np.uint64, np.int64),
        (np.int64, np.float64, np.int64),
        (np.uint8, np.float16, np.int64),
        ("<U1", object, "<U1"),
    ],
)
def test_labels_of_two_types_get_a_common_type(first, second, dtype):
    one, two = np.array([1]).astype(first), np.array([2]).astype(second)
    if first == "<U1":
        one, two = np.array(["a"]), np.array(["b"], dtype=object)
    forth = fly().partial_fit([[1, 0]], one).partial_fit([[0, 1]], two)
    back = fly().partial_fit([[0, 1]], two).partial_fit([[1, 0]], one)
    assert forth.classes_.dtype == back.classes_.dtype == dtype
    assert forth.classes_.tolist() == back.classes_.tolist() == [*one.tolist(), *two.tolist()]
    assert_array_equal(synapses(forth), synapses(back))


def kind(labels):
    """Return a model that has learned these labels, one sample of each."""
    return fly().fit(np.eye(3)[: len(labels)], labels)


KINDS = {"bool": ([True, False], True), "int": ([1, 0, 2], 1), "str": (["a", "b"], "a")}
MIXED_CALLS = {
    "fit": lambda m, own, other: m.fit(np.eye(3)[:2], np.array([own, other], dtype=object)),
    "fit a list": lambda m, own, other: m.fit(np.eye(3)[:2], [own, other]),
    "fit classes": lambda m, own, other: fly().partial_fit(
        np.eye(3)[:1], [own], classes=[own, other]
    ),
    "partial_fit": lambda m, own, other: m.partial_fit(np.eye(3)[:1], [other]),
    "partial_fit an array": lambda m, own, other: m.partial_fit(np.eye(3)[:1], np.array([other])),
    "partial_fit both": lambda m, own, other: m.partial_fit(np.eye(3)[:2], [own, other]),
    "declared": lambda m, own, other: m.partial_fit(np.eye(3)[:1], [own], classes=[own, other]),
    "declared alone": lambda m, own, other: m.partial_fit(np.eye(3)[:1], [other], classes=[other]),
    "weighted": lambda m, own, other: m.partial_fit(np.eye(3)[:1], [other], sample_weight=[2]),
    "learn_one": lambda m, own, other: m.learn_one(np.eye(3)[0], other),
    "learn_one a scalar": lambda m, own, other: m.learn_one(np.eye(3)[0], np.array([other])[0]),
    "rename_class": lambda m, own, other: m.rename_class(own, other),
    "merge": lambda m, own, other: m.merge(kind([other])),
    "merge two": lambda m, own, other: m.merge(kind([own]), kind([other])),
    "merged": lambda m, own, other: FlyClassifier.merged([kind([own]), kind([other])]),
}
NOT_LEARNED_CALLS = {
    "unlearn": lambda m, own, other: m.unlearn(np.eye(3)[:1], [other]),
    "unlearn both": lambda m, own, other: m.unlearn(np.eye(3)[:2], [own, other]),
    "extinguish": lambda m, own, other: m.extinguish(np.eye(3)[:1], [other], 0.5),
    "drop_class": lambda m, own, other: m.drop_class(other),
    "rename_class from": lambda m, own, other: m.rename_class(other, own),
}
pairs_of_kinds = pytest.mark.parametrize(("here", "there"), [*permutations(KINDS, 2)])
MIXED = "labels must be all strings, all booleans or all numbers, but {!r} and {!r} are mixed"


@pairs_of_kinds
@pytest.mark.parametrize("call", MIXED_CALLS.values(), ids=MIXED_CALLS.keys())
def test_strings_booleans_and_numbers_do_not_mix(here, there, call):
    """Also where they are equal, as True and 1 are."""
    (labels, own), (_, other) = KINDS[here], KINDS[there]
    assert_refused(kind(labels), lambda m: call(m, own, other), MIXED.format(own, other))


@pairs_of_kinds
@pytest.mark.parametrize("call", NOT_LEARNED_CALLS.values(), ids=NOT_LEARNED_CALLS.keys())
def test_an_equal_label_of_another_kind_has_not_been_learned(here, there, call):
    (labels, own), (_, other) = KINDS[here], KINDS[there]
    message = f"the label {other!r} has not been learned"
    assert_refused(kind(labels), lambda m: call(m, own, other), message)


def assert_refused(model, call, message):
    before, dtype = model_state(model), model.classes_.dtype
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call(model)
    assert model_state(model) == before
    assert model.classes_.dtype == dtype


@pairs_of_kinds
def test_a_model_without_other_classes_takes_labels_of_another_kind(here, there):
    (_, own), (_, other) = KINDS[here], KINDS[there]
    x = np.eye(3)[:1]
    renamed = kind([own]).rename_class(own, other)
    dropped = kind([own]).drop_class(own).partial_fit(x, [other])
    merged = kind([own]).drop_class(own).merge(kind([other]))
    for model in (renamed, dropped, merged, kind([own]).fit(x, [other])):
        assert types(model.classes_.tolist()) == {type(other)}
        assert model_state(model) == model_state(kind([other]))
        assert model.classes_.dtype == kind([other]).classes_.dtype


text = st.text(st.sampled_from("ab\0é"), max_size=4)
integers = st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1])
some_labels = st.one_of(
    *(st.lists(each, min_size=1, max_size=6) for each in (text, integers, st.booleans()))
)


def expected_dtype(labels):
    """Return the narrowest type of the rule that gives every label back."""
    wanted = sorted(set(labels))
    longest = max((len(label) for label in wanted if isinstance(label, str)), default=0)
    candidates = {str: [f"<U{max(1, longest)}"], bool: [bool], int: [np.int64, np.uint64]}[
        type(wanted[0])
    ]
    for dtype in candidates:
        try:
            found = np.array(wanted, dtype=object).astype(dtype).tolist()
        except OverflowError:
            continue
        if found == wanted:
            return np.dtype(dtype)
    return np.dtype(object)


@given(some_labels, st.data())
@settings(max_examples=60, deadline=None)
def test_the_type_of_labels_does_not_depend_on_their_way(labels, data):
    """Learned at once, one by one, in another order, or merged in any order of shards."""
    cut = data.draw(st.integers(0, len(labels)))
    order = data.draw(st.permutations(range(len(labels))))
    X = np.eye(len(labels))
    whole, shuffled, single = (fly(n_cells=40) for _ in range(3))
    whole.fit(X, labels)
    shuffled.fit(X[order], [labels[i] for i in order])
    for i in order:
        single.learn_one(X[i], labels[i])
    models = [whole, shuffled, single]
    if 0 < cut < len(labels):
        for places in ((order[:cut], order[cut:]), (order[cut:], order[:cut])):
            one, other = (
                fly(n_cells=40).fit(X[part], [labels[i] for i in part]) for part in places
            )
            models.append(one.merge(other))
    for model in models:
        assert model.classes_.dtype == expected_dtype(labels)
        assert model.classes_.tolist() == sorted(set(labels))
        assert model_state(model) == model_state(whole)


@given(some_labels, st.data())
@settings(max_examples=40, deadline=None)
def test_the_type_of_labels_forgets_those_that_leave(labels, data):
    labels = [*dict.fromkeys(labels)]
    X, stays = np.eye(len(labels)), data.draw(st.integers(0, len(labels) - 1))
    model = fly(n_cells=40).fit(X, labels)
    for i, label in enumerate(labels):
        if i != stays and i % 2:
            model.drop_class(label)
        elif i != stays:
            model.unlearn(X[[i]], [label])
    assert model.classes_.dtype == expected_dtype([labels[stays]])
    assert model_state(model) == model_state(fly(n_cells=40).fit(X[[stays]], [labels[stays]]))


def test_a_model_without_classes_has_an_integer_type():
    assert kind(["a"]).drop_class("a").classes_.dtype == np.int64


def test_equal_numbers_of_different_types_are_one_class():
    model = fly().fit([[1, 0]], [1]).partial_fit([[1, 0]], [1.0]).learn_one([1, 0], np.uint8(1))
    model.learn_one([1, 0], Direction.UP).partial_fit([[1, 0]], np.array([1], dtype=np.uint64))
    assert model.classes_.tolist() == [1]
    assert model.class_count_.tolist() == [5]
    assert len(model.unlearn([[1, 0]] * 5, [1.0, Direction.UP, np.int8(1), 1, 1]).classes_) == 0


def test_equal_strings_of_different_types_are_one_class():
    model = fly().fit([[1, 0]], ["red"]).partial_fit([[1, 0]], [Colour.RED])
    model.learn_one([1, 0], np.str_("red")).learn_one([1, 0], Colour.RED)
    assert model.classes_.tolist() == ["red"]
    assert model.class_count_.tolist() == [4]
    model.unlearn([[1, 0]] * 3, [Colour.RED, np.str_("red"), "red"])
    assert model.rename_class(Colour.RED, Colour.GREEN).classes_.tolist() == ["green"]
    assert type(model.predict_one([1, 0])) is str
    assert len(model.drop_class(Colour.GREEN).classes_) == 0


@given(st.lists(st.text(max_size=5) | st.just("a"), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_a_label(words):
    X = np.eye(len(words))
    model, listed = fly().fit(X, np.array(words, dtype=object)), fly().fit(X, words)
    assert model.classes_.tolist() == sorted(set(words))
    assert model.class_count_.sum() == len(words)
    assert model_state(listed) == model_state(model)


def test_warns_of_labels_in_a_column():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model = fly().fit(np.eye(3), np.array([[0], [1], [2]]))
    assert model_state(model) == model_state(fly().fit(np.eye(3), [0, 1, 2]))


def test_public_arrays_cannot_change_the_model():
    model = fly().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="read-only"):
        model.classes_[0] = 5
    model.class_count_[0] = 0
    assert model.class_count_.tolist() == [1, 1, 1]
