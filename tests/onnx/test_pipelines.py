"""Pipelines that skl2onnx converts."""

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession
from skl2onnx import convert_sklearn, to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.datasets import load_digits
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import kenyon.onnx
import kenyon.pipeline
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from tests.onnx.running import bits

X, Y = load_digits(return_X_y=True)
LEARNED, OTHERS = slice(0, 800), slice(800, None)
READOUTS = {"fly": {"readout": "fly"}, "bayes": {"readout": "bayes"}, "ridge": {"n_cells": 200}}
PLAIN = {"zipmap": False}


@pytest.fixture(autouse=True)
def registered():
    kenyon.onnx.register()


def convert(model, dtype=DoubleTensorType, options=PLAIN, **others):
    types = [("X", dtype([None, 64]))]
    options = {FlyClassifier: options}
    file = convert_sklearn(model, initial_types=types, options=options, **others)
    onnx.checker.check_model(file, full_check=True)
    return file


def run(file, samples):
    session = InferenceSession(file.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": samples})


@pytest.mark.parametrize("make", [make_pipeline, kenyon.pipeline.make_pipeline])
@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler])
@pytest.mark.parametrize("readout", READOUTS)
def test_a_scaler_and_a_classifier(readout, scaler, make):
    model = make(scaler(), FlyClassifier(**READOUTS[readout])).fit(X[LEARNED], Y[LEARNED])
    labels, probabilities = run(convert(model), X[OTHERS])
    np.testing.assert_array_equal(labels, model.predict(X[OTHERS]))
    np.testing.assert_allclose(probabilities, model.predict_proba(X[OTHERS]), atol=1e-9)
    assert probabilities.dtype == np.float64
    _, scores = run(convert(model, options={**PLAIN, "raw_scores": True}), X[OTHERS])
    expected = model.decision_function(X[OTHERS])
    if readout == "fly":
        np.testing.assert_array_equal(bits(scores), bits(expected))
    np.testing.assert_allclose(scores, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        (lambda digit: f"digit {digit}", lambda label: label),
        (lambda digit: digit > 4, int),
        (lambda digit: 2**62 + digit, lambda label: label),
    ],
)
def test_labels_are_texts_or_integers(label, plain):
    model = make_pipeline(StandardScaler(), FlyClassifier(readout="fly"))
    model.fit(X[LEARNED], [label(digit) for digit in Y[LEARNED].tolist()])
    expected = [plain(label) for label in model.predict(X[OTHERS]).tolist()]
    labels, probabilities = run(convert(model), X[OTHERS])
    assert labels.tolist() == expected
    labels, mapped = run(convert(model, FloatTensorType, options={}), X[OTHERS].astype(np.float32))
    classes = [plain(label) for label in model.classes_.tolist()]
    assert np.mean(labels == np.array(expected)) > 0.99
    assert [*mapped[0]] == classes
    np.testing.assert_allclose([*mapped[0].values()], probabilities[0], atol=1e-3)


def test_float32_inputs_are_scaled_in_float32():
    model = make_pipeline(StandardScaler(), FlyClassifier(readout="fly")).fit(
        X[LEARNED], Y[LEARNED]
    )
    labels, probabilities = run(convert(model, FloatTensorType), X[OTHERS].astype(np.float32))
    assert probabilities.dtype == np.float32
    assert np.mean(labels == model.predict(X[OTHERS])) > 0.99


def test_a_classifier_alone_and_other_integers():
    model = FlyClassifier(readout="fly").fit(X[LEARNED], Y[LEARNED])
    for samples in (X[OTHERS], X[OTHERS].astype(np.float32), X[OTHERS].astype(np.int64)):
        file = to_onnx(model, samples[:1], options={"zipmap": False})
        assert {one.domain for one in file.opset_import} == {""}
        np.testing.assert_array_equal(run(file, samples)[0], model.predict(X[OTHERS]))


def test_two_classifiers_in_one_graph():
    voters = [(name, FlyClassifier(**READOUTS[name])) for name in ("fly", "bayes")]
    model = VotingClassifier(voters, voting="soft", flatten_transform=False).fit(
        X[LEARNED], Y[LEARNED]
    )
    file = to_onnx(model, X[:1], options={id(model): PLAIN})
    labels, probabilities = run(file, X[OTHERS])
    np.testing.assert_allclose(probabilities, model.predict_proba(X[OTHERS]), atol=1e-6)
    np.testing.assert_array_equal(labels, model.predict(X[OTHERS]))


def test_what_cannot_be_converted_is_one_sentence():
    model = FlyClassifier(readout="fly").fit(X[:20], Y[:20])
    with pytest.raises(ValueError, match=r"^target_opset must be at least 18, but is 17$"):
        convert(model, target_opset=17)
    large = FlyClassifier(readout="fly").fit(X[:3], [0, 1, 2**63])
    with pytest.raises(ValueError, match=r"^labels must fit into int64 for skl2onnx, but one is "):
        convert(large)
    texts = make_pipeline(TextEncoder("hashing"), FlyClassifier()).fit(["a", "b"], [1, 2])
    with pytest.raises(
        TypeError, match=r"^TextEncoder cannot be exported, since it runs in Python"
    ):
        convert_sklearn(texts, initial_types=[("X", StringTensorType([None, 1]))])
