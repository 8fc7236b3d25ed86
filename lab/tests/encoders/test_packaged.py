"""The encoders reproduce the packaged features from the raw data."""

from __future__ import annotations

import os

import numpy as np
import pytest

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon_lab.data import load
from kenyon_lab.data.clinc150 import read_queries
from kenyon_lab.data.features import compare_levels, packaged_path
from kenyon_lab.data.npz import read_npz
from kenyon_lab.data.source import Source
from kenyon_lab.encoders import LeNet5
from kenyon_lab.encoders.build import Builder

RAW = os.environ.get("KENYON_DATA_DIR")
needs_raw_data = pytest.mark.skipif(not RAW, reason="KENYON_DATA_DIR is not set: no raw data")


def within_one_level(features, name, part):
    """Return the share of features within one level of the packaged features."""
    arrays = read_npz(packaged_path(name).read_bytes(), name)
    levels = arrays[f"X_{part}"][: len(features)]
    return np.mean(np.abs(np.rint(features / arrays["step"]) - levels) <= 1)


@needs_raw_data
@pytest.mark.parametrize("name", ["mnist20", "mnist20-distorted"])
def test_lenet5_reproduces_its_features(name):
    images = load("mnist20-pixels").X_test.reshape(-1, 28, 28)
    encoder = LeNet5.load(packaged_path(name).with_suffix(".safetensors"))
    assert within_one_level(encoder.encode(images, n_threads=2), name, "test") > 0.999


def test_the_packaged_encoder_is_that_of_mnist20():
    images = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)
    known = LeNet5.load(packaged_path("mnist20").with_suffix(".safetensors"))
    np.testing.assert_array_equal(LeNet5.packaged().encode(images), known.encode(images))


@needs_raw_data
def test_minilm_reproduces_clinc150():
    queries = read_queries()["test"].texts[:300]
    features = TextEncoder("minilm", cache=False).fit_transform(queries)
    assert within_one_level(features, "clinc150", "test") > 0.999


@needs_raw_data
def test_quantisation_of_clinc150_keeps_accuracy():
    source = Source(
        "clinc150/clinc150-minilm-l6-v2.npz",
        "02b6211ffe52d6508a1fc7a1ba917278b90aa208ea0a2bf36ca34075ceed579b",
    )
    floats, levels = read_npz(source.read(), source.path), load("clinc150")
    differences = []
    for seed in range(3):
        fly = FlyClassifier(readout="fly", random_state=seed)
        fly.fit(floats["train_x"], levels.y_train)
        accuracy = fly.score(floats["test_x"], levels.y_test)
        fly.fit(levels.X_train, levels.y_train)
        differences.append(fly.score(levels.X_test, levels.y_test) - accuracy)
    assert abs(np.mean(differences)) <= 0.002


@needs_raw_data
@pytest.mark.rebuild
@pytest.mark.parametrize("name", ["mnist20", "mnist20-distorted"])
def test_rebuild_of_mnist20(tmp_path, name):
    """From raw pixels to levels, including the training of the encoder."""
    path = Builder(folder=tmp_path, n_threads=2).build(name)
    _, near = compare_levels(path, packaged_path(name))
    assert near >= 0.999
