"""The effect of a word is what the log-odds of the answer lose without it."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kenyon import FlyClassifier
from kenyon.calibration import log_odds
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline
from kenyon.text_explanation import MAX_WORDS

TEXTS = ["pay my bill", "a bill to pay", "play a song", "a song of love", "is it raining", "rain"]
Y = ["bank", "bank", "music", "music", "weather", "weather"]
READOUTS = "fly", "bayes", "ridge"


def fitted(texts=TEXTS, y=Y, **parameters):
    fly = FlyClassifier(**{"n_cells": 200, **parameters})
    return make_pipeline(TextEncoder("hashing"), fly).fit(texts, y)


def logit(p):
    return np.log(p) - np.log1p(-p)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("label", [None, "bank"])
def test_effects_are_differences_of_log_odds(readout, label):
    pipeline, text = fitted(readout=readout), "play a song, a song"
    explanation = pipeline.explain(text, label)
    expected = label or pipeline.predict_one(text)
    assert (explanation.text, explanation.label) == (text, expected)
    probability = pipeline.predict_proba_one(text)[expected]
    assert explanation.log_odds == pytest.approx(logit(probability))
    assert [word.word for word in explanation.words] == ["play", "a", "song", "a", "song"]
    for word, start, end, effect in explanation.words:
        assert text[start:end] == word
        without = pipeline.predict_proba_one(text[:start] + text[end:])[expected]
        assert effect == pytest.approx(logit(probability) - logit(without), abs=1e-9)


def test_the_words_that_speak_for_an_answer():
    explanation = fitted(n_cells=None).explain("a song of love and rain")
    effects = {word.word: word.effect for word in explanation.words}
    assert explanation.label == "music"
    assert max(effects, key=effects.get) in ("love", "song")
    assert min(effects, key=effects.get) == "rain"


@pytest.mark.parametrize("readout", READOUTS)
def test_log_odds_do_not_saturate(readout):
    pipeline = fitted(TEXTS * 40, Y * 40, readout=readout)
    features = pipeline.encoder.transform([*TEXTS, "unknown", ""])
    fly = pipeline.classifier
    found = fly._read(features, log_odds)
    probabilities = fly.predict_proba(features)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found.argmax(axis=1), probabilities.argmax(axis=1))
    is_exact = (probabilities > 1e-200) & (probabilities < 0.9)
    np.testing.assert_allclose(found[is_exact], logit(probabilities[is_exact]), rtol=1e-9)
    # The probability of the best class and the sum of all others are two views of one number.
    others = np.sort(probabilities, axis=1)[:, :-1].sum(axis=1)
    expected = np.log1p(-others) - np.log(others)
    np.testing.assert_allclose(found.max(axis=1), expected, rtol=1e-9)


def test_probabilities_of_one_have_log_odds():
    fly = FlyClassifier(n_cells=60, learning_rate=0.1, decay=1e-3)
    fly.fit(np.eye(3)[[0, 1, 2] * 30] * 9, [0, 1, 2] * 30)
    with fly.circuit_.memory.reading as snapshot:
        readout, codes = fly._readout(), fly._encode_one([1, 0, 0])
        scores = readout.scores(snapshot, codes, 1)[0]
        found = log_odds(snapshot, readout, codes, 1)[0]
    # With decay, probabilities are the softmax of the scores.
    assert found[0] == pytest.approx(scores[0] - np.log(np.exp(scores[1:]).sum()))


def test_words_have_apostrophes_and_any_letters():
    words = fitted().explain("don\u2019t it's 'naïve' x_1 — Straße 日本").words
    assert [word.word for word in words] == [
        *("don\u2019t", "it's", "naïve", "x_1", "Straße", "日本")
    ]


def test_one_word_and_none():
    pipeline = fitted()
    explanation = pipeline.explain("song")
    empty = logit(pipeline.predict_proba_one("")[explanation.label])
    assert [word[:3] for word in explanation.words] == [("song", 0, 4)]
    assert explanation.words[0].effect == pytest.approx(explanation.log_odds - empty)
    assert pipeline.explain("").words == pipeline.explain("?!").words == []


def test_only_the_first_words_are_left_out():
    words = fitted().explain("song " * (MAX_WORDS + 50)).words
    assert len(words) == MAX_WORDS
    assert words[-1].start == 5 * (MAX_WORDS - 1)


def test_it_is_readable():
    explanation = fitted().explain("a song")
    assert str(explanation).splitlines()[0].startswith("music: log-odds +")
    assert str(explanation).splitlines()[1].endswith("  song")
    assert repr(explanation).startswith("TextExplanation(text='a song', label='music', log_odds=")


def test_refusals():
    pipeline = fitted()
    with pytest.raises(ValueError, match="the label 'art' has not been learned"):
        pipeline.explain("a song", "art")
    with pytest.raises(ValueError, match="the label 1 has not been learned"):
        pipeline.explain("a song", 1)
    with pytest.raises(ValueError, match=r"X must hold texts, but X\[0\] is 3"):
        pipeline.explain(3)
    with pytest.raises(ValueError, match="explain needs two classes or more, but the model has"):
        fitted(["a"], ["b"]).explain("a")
    with pytest.raises(ValueError, match="the model has no classes left"):
        fitted(["a"], ["b"]).drop_class("b").explain("a")
    numbers = make_pipeline(StandardScaler(), FlyClassifier()).fit([[1, 0], [0, 1]], [1, 2])
    with pytest.raises(ValueError, match="explain needs a TextEncoder as the first step"):
        numbers.explain("a")


def test_booleans_are_no_numbers():
    pipeline = fitted(["a", "b"], [True, False])
    assert pipeline.explain("a", True).label is True
    with pytest.raises(ValueError, match="the label 1 has not been learned"):
        pipeline.explain("a", 1)
