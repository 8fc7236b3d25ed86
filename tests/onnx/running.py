"""Run exported models, and ask the library for the same results."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

import kenyon.onnx
from kenyon.onnx.graph import RESULTS
from tests.reading import dense, memory_of

OPTIMISED = GraphOptimizationLevel.ORT_ENABLE_ALL
AS_WRITTEN = GraphOptimizationLevel.ORT_DISABLE_ALL


def exported(model, **options):
    """Return the file of a model, after the checks of ONNX."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        kenyon.onnx.export(model, path, **{"outputs": RESULTS, **options})
        file = onnx.load(path)
    onnx.checker.check_model(file, full_check=True)
    return file


def session(file, level=OPTIMISED, n_threads=1):
    options = SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = n_threads
    options.log_severity_level = 3
    return InferenceSession(file.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(file, X, **options):
    """Return the results of onnxruntime by their names."""
    running = session(file, **options)
    names = [output.name for output in running.get_outputs()]
    return dict(zip(names, running.run(None, {"X": X}), strict=True))


def evaluate(file, X):
    """Return the results of ONNX's reference implementation by their names."""
    names = [output.name for output in file.graph.output]
    with np.errstate(all="ignore"):
        return dict(zip(names, ReferenceEvaluator(file).run(None, {"X": X}), strict=True))


def scores(model, X):
    """Return the score of each class, of two classes too."""
    return model._read(X, lambda snapshot, readout, *codes: readout.scores(snapshot, *codes))


def codes(model, X):
    """Return the levels of all cells."""
    coder = model.circuit_.coder
    batches = [dense(found, coder.n_cells) for _, found in coder.encode(X, 1)]
    return np.concatenate(batches).astype(np.uint8)


def bits(numbers):
    return np.ascontiguousarray(numbers).view(np.uint64)


def is_exact(model):
    """Return whether scores are sums of integers, divided."""
    return model.readout_ == "fly" and memory_of(model).synapses.dtype == np.int32


def assert_agrees(model, X, found):
    """Compare results with the library's: bit for bit, or within 1e-9 of the largest score."""
    np.testing.assert_array_equal(np.asarray(found["classes"]), model.classes_)
    n, n_classes = len(X), len(model.classes_)
    assert np.shape(found["label"]) == (n,)
    assert found["probabilities"].shape == found["scores"].shape == (n, n_classes)
    assert found["codes"].shape == (n, model.circuit_.coder.n_cells)
    assert found["codes"].dtype == np.uint8
    if n:  # The library accepts no empty batch.
        with np.errstate(all="ignore"):  # scikit-learn adds up all numbers.
            assert_same(model, X, found)


def assert_same(model, X, found):
    expected = scores(model, X)
    np.testing.assert_array_equal(found["codes"], codes(model, X))
    if is_exact(model):
        np.testing.assert_array_equal(bits(found["scores"]), bits(expected))
        np.testing.assert_array_equal(found["label"], model.predict(X))
    margin = 1e-9 * np.abs(expected).max(axis=1)
    assert (np.abs(found["scores"] - expected).max(axis=1) <= margin).all()
    best, *others = np.sort(expected, axis=1).T[::-1]
    is_clear = best - others[0] > 2 * margin if others else best == best
    labels = np.asarray(found["label"])
    np.testing.assert_array_equal(labels[is_clear], model.predict(X)[is_clear])
    np.testing.assert_array_equal(labels, model.classes_[found["probabilities"].argmax(axis=1)])
