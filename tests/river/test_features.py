"""Features of dicts as columns, and what is refused."""

import math
import random
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher

from kenyon.river import FlyClassifier
from tests.reading import model_state
from tests.river.models import learned, samples, small


def is_given(value):
    return value is not None and not (isinstance(value, float) and math.isnan(value))


@settings(max_examples=60)
@given(st.lists(samples, min_size=1, max_size=5), st.sampled_from([1, 7, 32, 1024]))
def test_hashing_is_that_of_scikit_learn(data, n_features):
    plain = [{str(name): value for name, value in x.items() if is_given(value)} for x in data]
    expected = FeatureHasher(n_features).transform(plain).toarray()
    fly = FlyClassifier(n_features=n_features, constant=0)
    found = np.array([fly.vector(x) for x in plain])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_the_names_of_features_are_their_strings():
    fly = small()
    for name in (3, ("a", "b"), None, 2.5):
        np.testing.assert_array_equal(fly.vector({name: 2.0}), fly.vector({str(name): 2.0}))


def test_the_order_of_features_does_not_matter():
    """Sums of numbers in one column are rounded at every step."""
    items, shuffler = [(f"feature {i}", 1 / (i + 3)) for i in range(20)], random.Random(0)
    for n_features in (1, 3):
        fly, orders = FlyClassifier(n_features=n_features), set()
        for _ in range(30):
            shuffler.shuffle(items)
            orders.add(fly.vector(dict(items)).tobytes())
        assert len(orders) == 1


def test_absent_and_missing_features_are_zero():
    fly = small()
    expected = fly.vector({"a": 1.5})
    for missing in (None, float("nan"), np.nan, pd.NA, pd.NaT, 0, False):
        np.testing.assert_array_equal(fly.vector({"b": missing, "a": 1.5}), expected)


def test_the_vector_of_known_features():
    fly = FlyClassifier(n_features=8)
    found = fly.vector({"age": 3.0, "city": "Rome", "new": True})
    # Pinned: models are used by other processes, which have other hashes of strings, and versions.
    assert found.tolist() == [0, 3, 0, 0, 0, 0, 0, 2, 1]


def test_the_constant_is_the_last_column():
    assert FlyClassifier(features=["a"], constant=2.5).vector({"a": 3}).tolist() == [3, 2.5]


def test_declared_features_have_their_own_columns():
    fly = FlyClassifier(features=["a", 7, "city=Rome"], constant=0)
    assert fly.vector({7: 2, "a": True, "city": "Rome"}).tolist() == [1, 2, 1]
    assert fly.vector({"city": "Oslo", "b": 5.0, "7": 3, "c": "d"}).tolist() == [0, 0, 0]


def test_the_constant_makes_the_size_of_a_sample_count():
    data = [({"a": size * sign}, size > 1) for size in (0.2, 3.0) for sign in (-1, 1)] * 5
    fly = learned(data, features=["a"])
    assert [fly.predict_one(x) for x, _ in data] == [y for _, y in data]
    blind = learned(data, features=["a"], constant=0.0)
    for x, _ in data:
        scaled = {"a": x["a"] * 7}
        assert blind.predict_proba_one(scaled) == blind.predict_proba_one(x)


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ({"a": float("inf")}, r"^x\['a'\] must be a finite number, a boolean, .* but is inf$"),
        ({"a": [1.0]}, r"^x\['a'\] must be a finite number, a boolean, .* but is \[1.0\]$"),
        ({3: 1j}, r"^x\[3\] must be a finite number, a boolean, .* but is 1j$"),
        ({"a": 10**400}, r"^x\['a'\] must be a finite number"),
        ({"a": pd.Timestamp("2020-01-01")}, r"^x\['a'\] must be a finite number"),
    ],
)
def test_values_that_are_no_features(x, sentence):
    fly = learned([({"a": 1.0}, "u"), ({"b": 1.0}, "v")])
    before = model_state(fly.model)
    for call in (
        lambda: fly.learn_one(x, "u"),
        lambda: fly.unlearn_one(x, "u"),
        lambda: fly.predict_one(x),
        lambda: fly.predict_proba_one(x),
        lambda: fly.learn_many(pd.DataFrame([x]), ["u"]),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()
    assert model_state(fly.model) == before


@pytest.mark.parametrize("x", [[1.0], None, "word"])
def test_samples_that_are_no_dicts(x):
    for call in (lambda: FlyClassifier().learn_one(x, "u"), lambda: learned([]).vector(x)):
        with pytest.raises(TypeError, match=r"^x must be a dict of features, but is of type "):
            call()


def test_a_string_for_a_declared_number():
    fly = FlyClassifier(features=["age"])
    with pytest.raises(
        ValueError, match=r"^x\['age'\] must be a number, since features has 'age', but is '3'"
    ):
        fly.learn_one({"age": "3"}, "u")


@pytest.mark.parametrize("w", [0.5, -1, float("nan"), "2", None])
def test_weights_that_are_no_whole_numbers(w):
    fly = learned([({"a": 1.0}, "u")])
    before = model_state(fly.model)
    with pytest.raises(ValueError, match=r"^w must be a whole number from 0, but is"):
        fly.learn_one({"a": 2.0}, "u", w=w)
    assert model_state(fly.model) == before


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"features": "age"}, "^features must be different names or None, but is 'age'$"),
        ({"features": []}, "^features must be different names or None"),
        ({"features": ["a", "b", "a"]}, "^features must be different names or None"),
        ({"n_features": 0}, "^n_features must be an integer above 0, but is 0$"),
        ({"constant": float("nan")}, "^constant must be a finite number, but is nan$"),
    ],
)
def test_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        FlyClassifier(**parameters)


def test_unknown_parameters():
    with pytest.raises(TypeError, match=r"n_cell'"):
        FlyClassifier(n_cell=3)


def test_labels_of_another_kind():
    fly = learned([({"a": 1.0}, "u")])
    with pytest.raises(ValueError, match="labels"):
        fly.learn_one({"a": 1.0}, 3)
    assert fly.model.classes_.tolist() == ["u"]


def test_samples_that_were_never_learned():
    fly = learned([({"a": 1.0}, "u"), ({"b": 1.0}, "v")])
    before = model_state(fly.model)
    with pytest.raises(ValueError, match=r"^X and y hold samples that were not learned"):
        fly.unlearn_one({"c": 1.0}, "u")
    assert model_state(fly.model) == before


def test_what_is_no_frame():
    with pytest.raises(TypeError, match=r"^X must be a frame of pandas or polars, but is list$"):
        small().learn_many([{"a": 1.0}], ["u"])


@pytest.mark.parametrize("missing", ["river", "narwhals"])
def test_a_missing_package_is_named(monkeypatch, missing):
    for module in list(sys.modules):
        if module == missing or module.startswith(f"{missing}.") or module == "kenyon.river":
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        ImportError, match=rf"^kenyon.river needs {missing}\S*: pip install 'kenyon\[river\]'$"
    ):
        import kenyon.river  # noqa: F401
