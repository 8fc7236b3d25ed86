"""Labels, weights, unlearning and merging; and the plain model inside."""

import random

import numpy as np
import pandas as pd
import pytest
from river import evaluate, metrics
from sklearn.feature_extraction import FeatureHasher

import kenyon
import kenyon.onnx
from kenyon.hub import save_pretrained
from tests.reading import model_state
from tests.river.models import SEGMENTS, learned, small, sums


def test_before_the_first_sample():
    fly, X = small(), pd.DataFrame({"a": [1.0, 2.0]}, index=[5, 3])
    assert fly.predict_one({"a": 1}) is None
    assert fly.predict_proba_one({"a": 1}) == {}
    assert fly.predict_many(X).tolist() == [None, None]
    assert fly.predict_many(X).index.tolist() == [5, 3]
    assert fly.predict_proba_many(X).shape == (2, 0)
    assert fly.learn_one({"a": 1}, "u") is None


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 2, -3], [True, False, True]])
def test_labels_are_open_and_keep_their_type(labels):
    fly = small()
    for i, label in enumerate(labels):
        fly.learn_one({f"feature {i}": 1.0}, label)
        found = fly.predict_proba_one({f"feature {i}": 1.0})
        assert set(found) == set(labels[: i + 1])
        assert sum(found.values()) == pytest.approx(1)
    for i, label in enumerate(labels):
        found = fly.predict_one({f"feature {i}": 1.0})
        assert found == label
        assert type(found) is type(label)


@pytest.mark.parametrize("parameters", [{}, {"readout": "fly"}, {"decay": 0.01}, {"window": 40}])
def test_it_answers_as_the_plain_model(parameters):
    """A second loop: features by FeatureHasher, and the plain model."""
    hasher = FeatureHasher(32)
    plain = kenyon.FlyClassifier(n_cells=60, n_threads=1, **parameters)
    fly, right = small(**parameters), metrics.Accuracy()
    for x, y in SEGMENTS[:120]:
        vector = np.append(hasher.transform([x]).toarray()[0], 1.0)
        expected = plain.predict_one(vector) if hasattr(plain, "circuit_") else None
        assert fly.predict_one(x) == expected
        if expected is not None:
            right.update(y, expected)
        plain.learn_one(vector, y)
        fly.learn_one(x, y)
    assert model_state(fly.model) == model_state(plain)
    found = evaluate.progressive_val_score(SEGMENTS[:120], small(**parameters), metrics.Accuracy())
    assert found.get() == right.get()


def test_declared_columns_alone_are_those_of_the_plain_model():
    names = list(SEGMENTS[0][0])
    fly = learned(SEGMENTS[:30], features=names, constant=0, n_cells=None)
    rows = [[x[name] for name in names] for x, _ in SEGMENTS[:30]]
    plain = kenyon.FlyClassifier().fit(rows, [y for _, y in SEGMENTS[:30]])
    assert model_state(fly.model) == model_state(plain)


def test_unlearning_restores_the_sums():
    fly = learned(SEGMENTS[:40])
    before = sums(fly.model)
    for x, y in SEGMENTS[40:60]:
        fly.learn_one(x, y)
    for x, y in random.Random(0).sample(SEGMENTS[40:60], 20):
        fly.unlearn_one(dict(reversed(x.items())), y)
    assert sums(fly.model) == before


def test_models_of_different_features_merge():
    data = [({f"{label} {i}": 1.0 + i}, label) for label in "abc" for i in range(5)]
    parts = [learned([(x, y) for x, y in data if y == label]) for label in "abc"]
    merged = kenyon.FlyClassifier.merged([part.model for part in parts])
    assert sums(merged) == sums(learned(data).model)
    parts[0].model = merged
    assert parts[0].predict_one({"c 3": 4.0}) == "c"


def test_weights_repeat_samples():
    weighted, repeated = small(), small()
    for x, y in SEGMENTS[:20]:
        weighted.learn_one(x, y, w=3.0)
        weighted.learn_one(x, y, w=0)
        for _ in range(3):
            repeated.learn_one(x, y)
    assert sums(weighted.model) == sums(repeated.model)


def test_the_window_holds_the_latest_samples():
    fly = learned(SEGMENTS[:100], window=30)
    assert sums(fly.model) == sums(learned(SEGMENTS[70:100], window=30).model)


def test_a_saved_model_goes_on_in_river(tmp_path):
    fly = learned(SEGMENTS[:60])
    fly.model.save(tmp_path / "model")
    loaded = small()
    loaded.model = kenyon.load(tmp_path / "model")
    for x, y in SEGMENTS[60:80]:
        assert loaded.predict_one(x) == fly.predict_one(x)
        fly.learn_one(x, y)
        loaded.learn_one(x, y)
    assert sums(loaded.model) == sums(fly.model)


@pytest.mark.parametrize(
    "call",
    [
        lambda fly, folder: kenyon.onnx.export(fly, folder / "model.onnx"),
        lambda fly, folder: save_pretrained(fly, folder / "model"),
        lambda fly, folder: kenyon.Combiner(fly),
    ],
)
def test_what_takes_plain_models_names_the_other_type(call, tmp_path):
    with pytest.raises(
        TypeError, match=r"^\w+ must be a kenyon\.FlyClassifier.* type kenyon\.river\."
    ):
        call(small(), tmp_path)
    assert not [*tmp_path.iterdir()]
