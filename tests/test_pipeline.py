"""A pipeline learns, unlearns and merges as its classifier does, and changes as a whole."""

import copy
import pickle
import threading
from itertools import chain

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kenyon import FlyClassifier, SparseCoder
from kenyon.encoders import TextEncoder
from kenyon.pipeline import Pipeline, make_pipeline
from tests.faults.cases import state

TEXTS = ["pay my bill", "a bill to pay", "play a song", "a song of love", "is it raining", ""]
Y = ["bank", "bank", "music", "music", "weather", "weather"]
READOUTS = "fly", "bayes", "ridge"
X = np.random.default_rng(0).random((30, 4))
NUMBERS = [0, 1, 2] * 10


def new(readout="fly", *, keep_texts=True, **parameters):
    fly = FlyClassifier(**{"n_cells": 30, "n_threads": 1, "readout": readout, **parameters})
    return make_pipeline(TextEncoder("hashing"), fly, keep_texts=keep_texts)


def fitted(**parameters):
    return new(**parameters).fit(TEXTS, Y)


def sums(model):
    """Return everything learned but the calibration sample, which depends on what was unlearned."""
    found = state(model)
    return {name: each for name, each in found.items() if not name.startswith("calibration")}


def assert_refused(model, call, error, message):
    before = state(model)
    with pytest.raises(error, match=message):
        call(model)
    assert state(model) == before


samples = st.lists(
    st.tuples(st.sampled_from(["a", "b c", "d é", "", "f g h i"]), st.sampled_from("xyz")),
    min_size=1,
    max_size=12,
)
lots = settings(deadline=None, max_examples=25)


def learned(pairs, readout, keep_texts=True):
    texts, labels = zip(*pairs, strict=True)
    return new(readout, keep_texts=keep_texts).fit(texts, labels)


@lots
@given(st.lists(samples, min_size=1, max_size=4), st.sampled_from(READOUTS), st.booleans())
def test_pieces_are_the_whole(pieces, readout, keep_texts):
    pipeline = new(readout, keep_texts=keep_texts)
    for piece in pieces:
        texts, labels = zip(*piece, strict=True)
        if len(piece) == 1:
            pipeline.learn_one(texts[0], labels[0])
        else:
            pipeline.partial_fit(texts, labels)
    whole = learned([*chain(*pieces)], readout, keep_texts)
    assert state(pipeline) == state(whole)
    assert pipeline.n_texts == (whole.n_samples_seen_ if keep_texts else 0)


@lots
@given(st.lists(samples, min_size=2, max_size=4), st.sampled_from(READOUTS), st.booleans())
def test_merged_shards_are_the_whole(shards, readout, keep_texts):
    first, *others = (learned(shard, readout, keep_texts) for shard in shards)
    before = [state(other) for other in others]
    assert state(first.merge(*others)) == state(learned([*chain(*shards)], readout, keep_texts))
    assert [state(other) for other in others] == before


@lots
@given(samples, samples, st.sampled_from(READOUTS))
def test_unlearned_is_never_learned(kept, removed, readout):
    pipeline = learned(removed + kept, readout)
    pipeline.unlearn(*zip(*removed, strict=True))
    assert sums(pipeline) == sums(learned(kept, readout))


@lots
@given(samples, st.data(), st.sampled_from(READOUTS))
def test_weights_are_repetitions(pairs, data, readout):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)))
    weights[0] += 1
    texts, labels = zip(*pairs, strict=True)
    expected = learned(
        [pair for pair, n in zip(pairs, weights, strict=True) for _ in range(n)], readout
    )
    assert state(new(readout).fit(texts, labels, weights)) == state(expected)
    assert state(new(readout).partial_fit(texts, labels, None, weights)) == state(expected)
    by_step = new(readout).fit(texts, labels, flyclassifier__sample_weight=weights)
    assert state(by_step) == state(expected)
    assert len(expected.unlearn(texts, labels, weights).classes_) == expected.n_texts == 0


@pytest.mark.parametrize("keep_texts", [False, True])
def test_classes_are_dropped_and_renamed(keep_texts):
    pipeline = fitted(keep_texts=keep_texts).rename_class("music", "art").drop_class("bank")
    expected = new(keep_texts=keep_texts).fit(TEXTS[2:], ["art", "art", *Y[4:]])
    assert sums(pipeline) == sums(expected)
    assert pipeline.n_texts == (4 if keep_texts else 0)


def test_reads_are_those_of_the_classifier():
    pipeline = fitted(readout="ridge")
    features, fly = pipeline.encoder.transform(TEXTS), pipeline.classifier
    names = "predict", "predict_proba", "decision_function", "novelty", "score_samples"
    for name in names:
        found, expected = getattr(pipeline, name)(TEXTS), getattr(fly, name)(features)
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(
        pipeline.predict_top(TEXTS, 2), fly.predict_top(features, 2), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert pipeline.predict_one(TEXTS[2]) == "music"
    assert pipeline.predict_proba_one(TEXTS[2]) == fly.predict_proba_one(features[2])
    assert pipeline.novelty_threshold(0.2) == fly.novelty_threshold(0.2)
    assert pipeline.score(TEXTS, Y) == fly.score(features, Y)
    assert pipeline.predict(TEXTS, unknown="?").tolist() == fly.predict(features, "?").tolist()
    for name in ("class_count_", "classes_"):
        np.testing.assert_array_equal(getattr(pipeline, name), getattr(fly, name))
    assert (pipeline.readout_, pipeline.n_samples_seen_, pipeline.nbytes) == (
        *("ridge", len(TEXTS)),
        fly.nbytes,
    )


def test_any_transformers_are_fitted_with_the_first_samples():
    pipeline = make_pipeline(
        StandardScaler(), "passthrough", SparseCoder(n_cells=60), FlyClassifier(readout="fly")
    )
    pipeline.partial_fit(X[:10], NUMBERS[:10]).partial_fit(X[10:20], NUMBERS[10:20])
    for x, y in zip(X[20:], NUMBERS[20:], strict=True):
        pipeline.learn_one(x, y)
    scaler = StandardScaler().fit(X[:10])
    coder = SparseCoder(n_cells=60).fit(scaler.transform(X[:10]))
    fly = FlyClassifier(readout="fly").fit(coder.transform(scaler.transform(X)), NUMBERS)
    assert state(pipeline) == state(fly) | {"texts": None}
    assert pipeline.encoder is None
    np.testing.assert_array_equal(pipeline[0].mean_, scaler.mean_)
    pipeline.fit(X[20:], NUMBERS[20:])
    np.testing.assert_array_equal(pipeline[0].mean_, StandardScaler().fit(X[20:]).mean_)


def test_a_classifier_alone_is_a_pipeline():
    pipeline = make_pipeline(FlyClassifier(readout="fly")).partial_fit(X, NUMBERS)
    assert state(pipeline.classifier) == state(FlyClassifier(readout="fly").fit(X, NUMBERS))


class BadScaler(MinMaxScaler):
    """Fails after it was fitted."""

    def transform(self, X):
        raise ZeroDivisionError


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_failed_first_call_fits_nothing(call):
    scaler, fly = StandardScaler(), FlyClassifier()
    for last, y in ((fly, [*NUMBERS[:-1], 1.5]), (fly, [1])):
        pipeline = make_pipeline(scaler, last)
        with pytest.raises(ValueError, match=r".+"):
            getattr(pipeline, call)(X, y)
        assert not hasattr(scaler, "mean_")
        assert not hasattr(fly, "circuit_")
        assert pipeline.steps[0][1] is scaler
    pipeline = make_pipeline(scaler, BadScaler(), fly)
    with pytest.raises(ZeroDivisionError):
        getattr(pipeline, call)(X, NUMBERS)
    assert not hasattr(scaler, "mean_")
    assert not hasattr(pipeline, "classes_")


def test_fit_starts_again_on_copies():
    pipeline = fitted()
    steps, before = pipeline.steps, state(pipeline)
    with pytest.raises(ValueError, match="X must hold texts"):
        pipeline.fit([1, 2], ["a", "b"])
    assert pipeline.steps is steps
    assert state(pipeline) == before
    pipeline.fit(["a", "b"], [1, 2])
    assert pipeline.classes_.tolist() == [1, 2]
    assert pipeline.n_texts == 2
    assert steps[-1][1].classes_.tolist() == ["bank", "music", "weather"]


def test_a_generator_of_seeds_is_shared():
    random = np.random.RandomState(3)
    pipeline = new(random_state=random).fit(TEXTS, Y)
    first = pipeline.classifier.circuit_.coder.seed
    assert pipeline.fit(TEXTS, Y).classifier.circuit_.coder.seed != first


REFUSED = {
    "unlearn: not kept": (lambda p: p.unlearn(["pay my bill"], ["music"]), "was not kept with the"),
    "unlearn: twice": (lambda p: p.unlearn(["pay my bill"] * 2, ["bank"] * 2), "was not kept with"),
    "unlearn: lengths": (lambda p: p.unlearn(TEXTS[:2], Y[:1]), "inconsistent numbers of samples"),
    "learn: lengths": (lambda p: p.partial_fit(TEXTS[:2], Y[:1]), "inconsistent numbers of samp"),
    "learn: kinds": (lambda p: p.partial_fit(TEXTS[:2], [1, 2]), "all strings, all booleans or"),
    "learn: weights": (lambda p: p.partial_fit(TEXTS[:1], Y[:1], None, [0.5]), "whole numbers"),
    "learn: classes": (lambda p: p.partial_fit(TEXTS[:1], Y[:1], ["x"]), "labels that are not in"),
    "learn: one text": (lambda p: p.partial_fit("text", "a"), "X must be a list of texts"),
    "learn: no text": (lambda p: p.partial_fit([None], ["a"]), r"X\[0\] is None"),
    "learn_one: no text": (lambda p: p.learn_one(3, "a"), r"X\[0\] is 3"),
    "learn_one: label": (lambda p: p.learn_one("a", ["b"]), "y must be one label"),
    "drop_class": (lambda p: p.drop_class("x"), "'x' has not been learned"),
    "rename_class": (lambda p: p.rename_class("bank", "music"), "exists already"),
    "merge: circuit": (lambda p: p.merge(fitted(random_state=1)), "different circuits"),
    "merge: texts": (lambda p: p.merge(fitted(keep_texts=False)), "keep texts or none"),
    "explain": (lambda p: p.explain("a", "x"), "'x' has not been learned"),
    "nearest": (lambda p: p.nearest("a", 0), "k must be"),
    "window": (lambda p: p.set_params(flyclassifier__window=3).learn_one("a", "b"), "only fit"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_change_nothing(name):
    call, message = REFUSED[name]
    assert_refused(fitted(), call, ValueError, message)


def test_other_models_are_not_merged():
    model = fitted()
    assert_refused(model, lambda p: p.merge(p.classifier), TypeError, "must be Pipeline models")
    assert_refused(model, lambda p: p.merge(new()), NotFittedError, "not fitted")
    numbers = make_pipeline(StandardScaler(), FlyClassifier()).fit(X, NUMBERS)
    assert_refused(numbers, lambda p: p.merge(p), ValueError, "to merge a pipeline, its steps must")
    other = fitted()
    other.encoder.digest_ = "0" * 64
    assert_refused(model, lambda p: p.merge(other), ValueError, "different encoders.*: digest is")


def test_merge_with_itself_and_with_none():
    model = fitted()
    expected = state(new().fit(TEXTS * 2, Y * 2))
    assert state(model.merge()) == state(fitted())
    assert state(model.merge(model)) == expected


def test_the_last_step_is_a_fly_classifier():
    with pytest.raises(TypeError, match="the last step must be a FlyClassifier, but is Logistic"):
        make_pipeline(TextEncoder("hashing"), LogisticRegression())
    pipeline = Pipeline([("encoder", TextEncoder("hashing"))])
    for call in ("fit", "partial_fit"):
        with pytest.raises(TypeError, match="the last step must be a FlyClassifier"):
            getattr(pipeline, call)(TEXTS, Y)
    with pytest.raises(TypeError, match="the last step must be a FlyClassifier, but is None"):
        _ = Pipeline([]).classifier


def test_texts_are_kept_with_a_text_encoder_and_no_window():
    with pytest.raises(ValueError, match="keep_texts needs a TextEncoder as the first step"):
        make_pipeline(StandardScaler(), FlyClassifier(), keep_texts=True)
    with pytest.raises(ValueError, match="keep_texts must be False if the classifier has a window"):
        new(window=5)
    with pytest.raises(ValueError, match="keep_texts must be True or False, but is 1"):
        new(keep_texts=1)
    with pytest.raises(ValueError, match="keep_texts must be False if the classifier"):
        fitted().set_params(flyclassifier__window=5).fit(TEXTS, Y)


@pytest.mark.parametrize("keep_texts", [False, True])
def test_only_fit_changes_whether_texts_are_kept(keep_texts):
    pipeline = fitted(keep_texts=keep_texts).set_params(keep_texts=not keep_texts)
    message = f"keep_texts is {not keep_texts}, but the model was fitted with {keep_texts}: only"
    assert_refused(pipeline, lambda p: p.learn_one("a", "b"), ValueError, message)
    pipeline.fit(TEXTS, Y)
    assert pipeline.n_texts == (0 if keep_texts else len(TEXTS))


def test_changes_of_the_classifier_alone_are_noticed():
    pipeline = fitted()
    pipeline.classifier.drop_class("bank")
    for call in (
        lambda: pipeline.learn_one("a", "b"),
        lambda: pipeline.nearest("a"),
        lambda: copy.deepcopy(pipeline),
        lambda: pipeline.save("never-written"),
    ):
        with pytest.raises(ValueError, match="only its pipeline may change a classifier"):
            call()


def test_too_many_bytes_are_refused(monkeypatch):
    monkeypatch.setattr("kenyon.kept_texts.MAX_TEXT_BYTES", 80)
    pipeline = fitted()
    refused = lambda p: p.partial_fit(["é" * 30], ["a"])  # noqa: E731
    assert_refused(pipeline, refused, ValueError, "at most 80 bytes together, but would have 12")
    assert pipeline.learn_one("short", "a").n_texts == 7


def test_nearest():
    pipeline = fitted().learn_one(TEXTS[2], "music").learn_one(TEXTS[2], "art")
    found = pipeline.nearest("play songs", 2)
    assert [each[:2] for each in found] == [("play a song", "art"), ("play a song", "music")]
    features = pipeline.encoder.transform(["play songs", "play a song"]).astype(float)
    assert found[0][2] == pytest.approx(features[0] @ features[1])
    everything = pipeline.nearest("pay my bill", 100)
    assert len(everything) == 7
    assert everything[0][:2] == ("pay my bill", "bank")
    assert everything[0][2] == pytest.approx(1)
    assert [each[2] for each in everything if each[0] == ""] == [0]
    assert [each[2] for each in everything] == sorted((e[2] for e in everything), reverse=True)
    assert pipeline.nearest("", 1)[0][2] == 0
    assert fitted().drop_class("bank").drop_class("music").drop_class("weather").nearest("a") == []


def test_nearest_reads_block_by_block(monkeypatch):
    expected = fitted().nearest("a song", 6)
    monkeypatch.setattr("kenyon.pipeline._TEXTS_PER_BLOCK", 2)
    assert fitted().nearest("a song", 6) == expected


def test_nearest_needs_kept_texts():
    with pytest.raises(ValueError, match="nearest needs keep_texts=True"):
        fitted(keep_texts=False).nearest("a")
    with pytest.raises(NotFittedError):
        new().nearest("a")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_copies_are_independent(copied):
    pipeline = fitted()
    other = copied(pipeline)
    before = state(pipeline)
    assert state(other) == before
    other.learn_one("new", "bank").unlearn(TEXTS[:1], Y[:1])
    assert state(pipeline) == before
    pipeline.learn_one("other", "bank")
    assert other.n_texts == 6
    assert pipeline.n_texts == 7


def test_clones_have_learned_nothing():
    pipeline = clone(fitted())
    assert pipeline.keep_texts
    assert pipeline.n_texts == 0
    assert not hasattr(pipeline, "classes_")
    for call in (pipeline.predict, pipeline.novelty, pipeline.explain):
        with pytest.raises(NotFittedError):
            call(TEXTS)


def test_threads_learn_at_once():
    pipeline, n = fitted(), 60
    samples = [[(f"{t} text {i}", f"class {t}") for i in range(n)] for t in range(4)]
    errors = []

    def learn(own):
        try:
            for i, (text, label) in enumerate(own):
                pipeline.learn_one(text, label)
                if i % 3 == 2:
                    pipeline.unlearn([text], [label]).partial_fit([text], [label])
                if i % 10 == 9:
                    copied = copy.deepcopy(pipeline)
                    assert copied.n_texts == copied.n_samples_seen_
                    pipeline.nearest(text, 1)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=learn, args=(own,)) for own in samples]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    pairs = [*zip(TEXTS, Y, strict=True), *chain(*samples)]
    assert sums(pipeline) == sums(learned(pairs, "fly"))


def test_a_signal_handler_cannot_change_what_is_changing(monkeypatch):
    pipeline = fitted()
    learn_one = FlyClassifier.learn_one

    def interrupted(self, x, y):
        with pytest.raises(RuntimeError, match="by a signal handler"):
            pipeline.learn_one("from the handler", "bank")
        assert pipeline.n_texts == 6
        return learn_one(self, x, y)

    monkeypatch.setattr(FlyClassifier, "learn_one", interrupted)
    assert pipeline.learn_one("a", "bank").n_texts == 7


def test_scikit_learn_uses_it():
    pipeline = new(keep_texts=False, readout="bayes", n_cells=200)
    texts, y = TEXTS[:4] * 9, Y[:4] * 9
    assert is_classifier(pipeline)
    assert cross_val_score(pipeline, texts, y, cv=2).mean() > 0.9
    search = GridSearchCV(pipeline, {"flyclassifier__readout": ["fly", "bayes"]}, cv=2)
    assert search.fit(texts, y).best_score_ > 0.9
    frozen = FrozenEstimator(pipeline.fit(texts, y))
    assert clone(frozen).fit(texts, ["x"] * 36).predict(TEXTS[:1]).tolist() == ["bank"]
    calibrated = CalibratedClassifierCV(pipeline, cv=2).fit(texts, y)
    assert calibrated.predict(TEXTS[:1]).tolist() == ["bank"]


def test_parts_and_pictures():
    pipeline = fitted(readout="ridge", n_cells=200)
    assert type(pipeline[:-1]).__module__ == "sklearn.pipeline"
    np.testing.assert_array_equal(pipeline[:-1].transform(TEXTS), pipeline[0].transform(TEXTS))
    assert isinstance(pipeline[1:], Pipeline)
    assert pipeline[1:].predict(pipeline[0].transform(TEXTS[:5])).tolist() == Y[:5]
    assert pipeline["textencoder"] is pipeline.encoder is pipeline[0]
    assert pipeline[-1] is pipeline.classifier
    assert repr(pipeline).startswith("Pipeline(keep_texts=True,")
    assert "3 classes, 6 samples" in pipeline._repr_html_()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_containers_of_features(container):
    pytest.importorskip(container)
    pipeline = new("ridge", n_cells=200).set_output(transform=container).partial_fit(TEXTS, Y)
    assert pipeline.learn_one("a", "b").predict(TEXTS[:5]).tolist() == Y[:5]
    assert pipeline.unlearn(["a"], ["b"]).predict_one(TEXTS[0]) == "bank"
    assert len(pipeline.classifier.feature_names_in_) == 2048


def test_metadata_is_routed():
    weights = np.array([1, 2, 0, 3, 1, 1] * 2)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = new()
        pipeline.classifier.set_fit_request(sample_weight=True)
        pipeline.fit(TEXTS * 2, Y * 2, sample_weight=weights)
        assert pipeline.n_texts == pipeline.n_samples_seen_ == weights.sum()
        found = cross_validate(
            *(pipeline, TEXTS * 2, Y * 2), params={"sample_weight": weights}, cv=2
        )
        assert np.isfinite(found["test_score"]).all()
        aliased = new()
        aliased.classifier.set_fit_request(sample_weight="often")
        assert aliased.fit(TEXTS * 2, Y * 2, often=weights).n_texts == weights.sum()
    with pytest.raises(ValueError, match="does not accept the often parameter"):
        new().fit(TEXTS, Y, often=[1])


FAILS_FOR_ANY_PIPELINE = "check_estimators_overwrite_params", "check_dont_overwrite_parameters"


@parametrize_with_checks(
    [make_pipeline(FlyClassifier(n_cells=100))],
    expected_failed_checks=lambda _: dict.fromkeys(
        FAILS_FOR_ANY_PIPELINE, "scikit-learn's own Pipeline replaces its steps, too"
    ),
)
def test_estimator_checks(estimator, check):
    check(estimator)
