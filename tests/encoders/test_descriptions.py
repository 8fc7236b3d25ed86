"""Descriptions of encoders: complete, plain JSON, and checked where they are read."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon.encoders import ImageEncoder, TextEncoder, from_description

TEXT = TextEncoder("hashing").fit().description()
IMAGE = ImageEncoder("pixels", size=4).fit().description()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@pytest.mark.parametrize("description", [TEXT, IMAGE], ids=["text", "image"])
def test_descriptions_survive_json(description):
    encoder = from_description(json.loads(json.dumps(description)))
    assert encoder.description() == description
    encoder.check()


def test_settings_return():
    images = np.random.default_rng(0).integers(0, 256, (3, 9, 5), dtype=np.uint8)
    expected = ImageEncoder("pixels", size=4).transform(images)
    np.testing.assert_array_equal(from_description(IMAGE).transform(images), expected)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "sound"}, "kind of an encoder must be 'text' or 'image', but is 'sound'"),
        ({"kind": ["text"]}, "kind of an encoder must be"),
        ({"model": 3}, "model of an encoder must be a name or a folder, but is 3"),
        ({"model": ""}, "model of an encoder must be"),
        ({"model": "a\0b"}, "model of an encoder must be"),
        ({"model": "a" * 5000}, "model of an encoder must be"),
        ({"model": "a" * 1000, "kind": 3}, "kind of an encoder must be"),
        ({"model": "auto"}, "must be named, but is 'auto'"),
        ({"digest": "A" * 64}, "digest of an encoder must be 64 hexadecimal digits"),
        ({"digest": "a" * 63}, "digest of an encoder must be"),
        ({"digest": "a" * 64 + "\n"}, "digest of an encoder must be"),
        ({"digest": None}, "digest of an encoder must be"),
        ({"n_features": 0}, "n_features of an encoder must be from 1 to"),
        ({"n_features": 10**9}, "n_features of an encoder must be"),
        ({"n_features": True}, "n_features of an encoder must be"),
        ({"n_features": 2048.0}, "n_features of an encoder must be"),
        ({"settings": {"size": 3}}, "a text encoder has no settings"),
        ({"settings": None}, "a text encoder has no settings"),
        ({"more": 1}, "must have the keys digest, kind, model, n_features, settings"),
    ],
)
def test_hostile_text_encoders(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_description(TEXT | change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "hashing"}, "model of an image encoder must be one of"),
        ({"settings": {}}, "must be a size from 1 to 512, but are {}"),
        ({"settings": {"size": 0}}, "must be a size"),
        ({"settings": {"size": 10**6}}, "must be a size"),
        ({"settings": {"size": True}}, "must be a size"),
        ({"settings": {"size": 4, "more": 1}}, "must be a size"),
        ({"settings": [4]}, "must be a size"),
    ],
)
def test_hostile_image_encoders(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_description(IMAGE | change)


@pytest.mark.parametrize("model", [3, ["pixels"], "minilm"])
def test_other_models_of_images(model):
    with pytest.raises(ValueError, match="the model of an image encoder must be one of"):
        from_description(IMAGE, model)


def test_another_number_of_features_is_found_by_check():
    for description in TEXT, IMAGE:
        encoder = from_description(description | {"n_features": 7})
        with pytest.raises(ValueError, match="must have 7 features, but has"):
            encoder.check()


@given(JSON)
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="a description of an encoder must have the keys"):
        from_description(value)


@given(st.sampled_from(sorted(TEXT)), JSON, st.sampled_from([TEXT, IMAGE]))
def test_any_value_is_accepted_or_refused_by_a_sentence(key, value, description):
    # An error of another type fails the test.
    with suppress(ValueError):
        assert from_description(description | {key: value}).n_features_out_ > 0
