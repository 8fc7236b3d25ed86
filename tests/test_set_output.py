"""Encoders give data frames of pandas and polars, and pipelines learn from them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.pipeline
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from kenyon import FlyClassifier, load
from kenyon.encoders import ImageEncoder, TextEncoder
from kenyon.pipeline import make_pipeline

TEXTS = ["where is my card", "book a flight", "my card is lost", "a flight home"]
Y = ["card", "travel"] * 2
IMAGES = [np.full((5, 4), 40 * i, np.uint8) for i in range(3)]
ENCODERS = {
    "text": (TextEncoder("hashing"), TEXTS),
    "image": (ImageEncoder("pixels", size=4), IMAGES),
}
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}

each_library = pytest.mark.parametrize("library", LIBRARIES)


@each_library
@pytest.mark.parametrize("kind", ENCODERS)
def test_encoders_give_frames_of_the_same_features(kind, library):
    encoder, inputs = ENCODERS[kind]
    encoder = sklearn.clone(encoder)
    expected = encoder.fit_transform(inputs)
    frame = encoder.set_output(transform=library).transform(inputs)
    assert type(frame) is LIBRARIES[library]
    assert [*frame.columns] == encoder.get_feature_names_out().tolist()
    assert_array_equal(frame.to_numpy(), expected)
    assert frame.to_numpy().dtype == np.float32
    assert type(encoder.set_output(transform="default").transform(inputs)) is np.ndarray


def test_a_frame_of_pandas_keeps_the_index_of_a_series():
    series = pd.Series(TEXTS, index=[7, 5, 3, 1])
    frame = TextEncoder("hashing").set_output(transform="pandas").fit_transform(series)
    assert frame.index.tolist() == [7, 5, 3, 1]


def columns():
    steps = [("text", TextEncoder("hashing"), "text"), ("n", StandardScaler(), ["amount"])]
    return ColumnTransformer(steps)


@each_library
def test_columns_of_texts_and_numbers(library):
    frame = LIBRARIES[library]({"text": TEXTS, "amount": [3.0, 250.0, 8.0, 80.0]})
    expected = columns().fit_transform(frame)
    features = columns().set_output(transform=library).fit_transform(frame)
    assert type(features) is LIBRARIES[library]
    assert [features.columns[0], features.columns[-1]] == ["text__textencoder0", "n__amount"]
    assert_array_equal(features.to_numpy(), expected)
    plain = make_pipeline(columns(), FlyClassifier(n_cells=200)).fit(frame, Y)
    framed = make_pipeline(columns().set_output(transform=library), FlyClassifier(n_cells=200)).fit(
        frame, Y
    )
    assert framed.classifier.feature_names_in_[-1] == "n__amount"
    for model in plain, framed:
        model.partial_fit(frame[:1], ["new"])
    assert_array_equal(framed.predict_proba(frame), plain.predict_proba(frame))


@each_library
@pytest.mark.parametrize("make", [make_pipeline, sklearn.pipeline.make_pipeline])
def test_pipelines_learn_the_same_from_frames(make, library):
    plain = make(TextEncoder("hashing"), FlyClassifier(n_cells=200)).fit(TEXTS, Y)
    framed = make(TextEncoder("hashing"), FlyClassifier(n_cells=200)).set_output(transform=library)
    framed.fit(TEXTS, Y)
    assert framed[-1].feature_names_in_[0] == "textencoder0"
    assert_array_equal(framed.predict_proba(TEXTS), plain.predict_proba(TEXTS))


@each_library
def test_a_pipeline_of_frames_goes_on_learning(library, tmp_path):
    model = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=200)).set_output(
        transform=library
    )
    model.partial_fit(TEXTS, Y).learn_one("good morning", "hello").unlearn(TEXTS[:1], Y[:1])
    assert model.predict_one("good morning") == "hello"
    assert model.n_samples_seen_ == 4
    model.save(tmp_path / "model.kenyon")
    assert_array_equal(load(tmp_path / "model.kenyon").predict(TEXTS), model.predict(TEXTS))


@each_library
def test_a_setting_for_all_transformers(library):
    with sklearn.config_context(transform_output=library):
        assert type(TextEncoder("hashing").fit_transform(TEXTS)) is LIBRARIES[library]
        model = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=200)).fit(TEXTS, Y)
        assert model.learn_one("good morning", "hello").predict_one("good morning") == "hello"
        assert model.score(TEXTS, Y) == 1
