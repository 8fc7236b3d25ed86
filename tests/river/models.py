"""Small River classifiers, a stream, and dicts of features."""

import pandas as pd
from hypothesis import strategies as st
from river import datasets

from kenyon.circuit.calibration_sample import TENSORS as CALIBRATION
from kenyon.circuit.window import TENSORS as WINDOW
from kenyon.river import FlyClassifier
from tests.reading import model_state

SMALL = {"n_features": 32, "n_cells": 60, "n_threads": 1}
SEGMENTS = list(datasets.ImageSegments().take(300))

names = st.one_of(st.text(max_size=4), st.integers(-9, 9), st.tuples(st.text(max_size=2)))
numbers = st.one_of(st.floats(-1e3, 1e3), st.integers(-100, 100), st.booleans())
missing = st.sampled_from([None, float("nan")])
samples = st.dictionaries(names, st.one_of(numbers, st.text(max_size=3), missing), max_size=12)


def small(**parameters):
    return FlyClassifier(**{**SMALL, **parameters})


def learned(data, **parameters):
    model = small(**parameters)
    for x, y in data:
        model.learn_one(x, y)
    return model


def sums(model):
    """Return the sums of a plain model."""
    return model_state(model, but=(*CALIBRATION, *WINDOW))


def frame(data):
    """Return the features and the labels of samples."""
    return pd.DataFrame([x for x, _ in data]), pd.Series([y for _, y in data])
