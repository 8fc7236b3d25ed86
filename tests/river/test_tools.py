"""River's pipelines, wrappers, ensembles and evaluation around the classifier."""

import copy
import pickle

import pandas as pd
import pytest
from river import (
    active,
    compose,
    datasets,
    drift,
    ensemble,
    evaluate,
    feature_extraction,
    imblearn,
    linear_model,
    metrics,
    model_selection,
    preprocessing,
    stream,
    utils,
)
from river.datasets import synth
from sklearn.datasets import load_digits

from kenyon.river import FlyClassifier
from tests.reading import model_state
from tests.river.models import SEGMENTS, frame, learned, small, sums


def test_scaled_features():
    model = preprocessing.StandardScaler() | FlyClassifier(n_cells=200, n_threads=1)
    accuracy = evaluate.progressive_val_score(SEGMENTS, model, metrics.Accuracy())
    plain = evaluate.progressive_val_score(SEGMENTS, small(n_cells=200), metrics.Accuracy())
    assert accuracy.get() > max(0.75, plain.get())


def test_a_union_of_numbers_and_categories():
    model = compose.SelectType(float) | preprocessing.StandardScaler()
    model = (model + compose.SelectType(str)) | small()
    for i in range(60):
        x = {"length": float(i % 7), "colour": "red" if i % 2 else "blue"}
        model.learn_one(x, "odd" if i % 2 else "even")
    assert model.predict_one({"length": 3.0, "colour": "red"}) == "odd"
    assert model.predict_one({"length": 3.0, "colour": "blue"}) == "even"


def test_words_and_pairs_of_words():
    texts = [
        ("where is my card", "card"),
        ("my card is lost", "card"),
        ("book a flight to Rome", "travel"),
        ("a flight home", "travel"),
    ]
    bag = feature_extraction.BagOfWords(ngram_range=(1, 2))
    model = bag | FlyClassifier(n_threads=1)
    for text, label in texts:
        model.learn_one(text, label)
    assert model.predict_one("is the card lost") == "card"
    model.learn_one("cancel my order", "cancel")
    assert model.predict_one("please cancel the order") == "cancel"
    many = feature_extraction.BagOfWords(ngram_range=(1, 2)) | FlyClassifier(n_threads=1)
    text, label = zip(*texts, strict=True)
    many.learn_many(pd.Series(text), pd.Series(label))
    many.learn_one("cancel my order", "cancel")
    assert sums(many["FlyClassifier"].model) == sums(model["FlyClassifier"].model)


def test_batches_in_a_pipeline():
    model = preprocessing.StandardScaler() | small()
    X, y = frame(SEGMENTS[:200])
    model.learn_many(X[:100], y[:100])
    assert model.predict_many(X[100:]).eq(y[100:]).mean() > 0.5
    assert model.predict_proba_many(X[100:]).shape == (100, y[:100].nunique())


@pytest.mark.parametrize(
    "wrap",
    [
        lambda fly: ensemble.BaggingClassifier(fly, n_models=2, seed=0),
        lambda fly: ensemble.ADWINBaggingClassifier(fly, n_models=2, seed=0),
        lambda fly: ensemble.LeveragingBaggingClassifier(fly, n_models=2, seed=0),
        lambda fly: ensemble.AdaBoostClassifier(fly, n_models=2, seed=0),
        lambda fly: ensemble.SRPClassifier(fly, n_models=2, seed=0),
        lambda fly: ensemble.VotingClassifier([fly, linear_model.Perceptron()]),
        lambda fly: drift.DriftRetrainingClassifier(fly),
        lambda fly: imblearn.RandomOverSampler(fly, desired_dist={False: 0.5, True: 0.5}, seed=0),
        lambda fly: model_selection.SuccessiveHalvingClassifier(
            utils.expand_param_grid(fly, {"penalty": [0.1, 1.0], "n_cells": [40, 60]}),
            metric=metrics.Accuracy(),
            budget=100,
        ),
    ],
    ids=lambda wrap: "-".join(wrap.__code__.co_names[1:2]),
)
def test_wrappers(wrap):
    model = preprocessing.StandardScaler() | wrap(small())
    data = datasets.Phishing().take(150)
    assert evaluate.progressive_val_score(data, model, metrics.Accuracy()).get() > 0.7


def test_active_learning():
    """River's sampler asks for no label before the classifier knows two classes."""
    data = list(datasets.Phishing().take(200))
    model = preprocessing.StandardScaler() | active.EntropySampler(small(), seed=0)
    for x, y in data[:20]:
        model.learn_one(x, y)
    assert evaluate.progressive_val_score(data[20:], model, metrics.Accuracy()).get() > 0.75
    assert 20 < model["EntropySampler"].classifier.model.n_samples_seen_ < 150


def test_a_grid_of_parameters():
    grid = {"window": [None, 10], "n_features": [8, 16]}
    models = utils.expand_param_grid(small(), grid)
    found = {(model.model.window, model.n_features) for model in models}
    assert found == {(None, 8), (None, 16), (10, 8), (10, 16)}
    assert {model.model.n_threads for model in models} == {1}


def test_a_window_follows_drift():
    stable, other = synth.SEA(variant=0, seed=1), synth.SEA(variant=0, seed=2)
    data = [*stable.take(200), *((x, not y) for x, y in other.take(200))]
    found = {}
    for window in (None, 50):
        model = preprocessing.StandardScaler() | small(window=window)
        for x, y in data[:300]:
            model.learn_one(x, y)
        found[window] = evaluate.progressive_val_score(data[300:], model, metrics.Accuracy())
    assert found[50].get() > found[None].get() + 0.1


def test_labels_that_come_in_mid_stream():
    data = sorted(SEGMENTS, key=lambda sample: sample[1])
    half = [sample for sample in data if sample[1] < "grass"]
    model = preprocessing.StandardScaler() | small()
    for x, y in half:
        model.learn_one(x, y)
    assert "sky" not in model.predict_proba_one(data[-1][0])
    for x, y in data[len(half) :]:
        model.learn_one(x, y)
    assert set(model.predict_proba_one(data[-1][0])) == {y for _, y in data}


def test_a_dataset_of_scikit_learn():
    data = list(stream.iter_sklearn_dataset(load_digits()))[:400]
    model = small(n_features=256, n_cells=400, constant=0)
    assert evaluate.progressive_val_score(data, model, metrics.Accuracy()).get() > 0.8


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_go_on_alone(copied):
    model = preprocessing.StandardScaler() | small()
    for x, y in SEGMENTS[:50]:
        model.learn_one(x, y)
    other = copied(model)
    for x, _ in SEGMENTS[50:60]:
        assert other.predict_proba_one(x) == model.predict_proba_one(x)
    before = model_state(model["FlyClassifier"].model)
    other.learn_one(*SEGMENTS[60])
    assert model_state(model["FlyClassifier"].model) == before


def test_a_clone_has_learned_nothing():
    fly = learned(SEGMENTS[:20], window=7)
    clone = fly.clone({"n_features": 64, "readout": "fly"})
    assert clone.predict_one(SEGMENTS[0][0]) is None
    assert (clone.n_features, clone.model.window, clone.model.readout) == (64, 7, "fly")
    kept = fly.clone(include_attributes=True)
    assert model_state(kept.model) == model_state(fly.model)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda fly: fly,
        lambda fly: preprocessing.StandardScaler() | fly,
        lambda fly: drift.DriftRetrainingClassifier(fly),
    ],
    ids=["alone", "pipeline", "wrapper"],
)
def test_memory_includes_the_synapses(wrap):
    fly = small()
    model = wrap(fly)
    empty = model._raw_memory_usage
    model.learn_one({"a": 1.0}, "u")
    assert fly.model.nbytes <= model._raw_memory_usage - empty < 3 * fly.model.nbytes + 20_000
