"""Files of exported models, and the arguments of `export`."""

import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline as plain_pipeline
from sklearn.preprocessing import StandardScaler

import kenyon.onnx
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.onnx import nodes
from kenyon.onnx.graph import RESULTS
from kenyon.pipeline import make_pipeline
from tests.onnx.running import bits, exported, run, scores

X, Y = np.eye(4), ["a", "a", "b", "c"]
SMALL = {"n_cells": 30, "readout": "fly"}


def fitted(**parameters):
    return FlyClassifier(**{**SMALL, **parameters}).fit(X, Y)


@pytest.mark.parametrize("readout", ["fly", "bayes", "ridge"])
@pytest.mark.parametrize("channels", ["raw", "on-off", "signed"])
@pytest.mark.parametrize("inhibition", ["cut", "subtract"])
def test_only_standard_operators(readout, channels, inhibition):
    file = exported(fitted(readout=readout, channels=channels, inhibition=inhibition))
    assert {(one.domain, one.version) for one in file.opset_import} == {("", nodes.OPSET)}
    assert {node.domain for node in file.graph.node} == {""}
    known = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    assert {node.op_type for node in file.graph.node} <= known


def test_inputs_and_outputs():
    def shapes(values):
        return {
            one.name: (
                one.type.tensor_type.elem_type,
                [dim.dim_param or dim.dim_value for dim in one.type.tensor_type.shape.dim],
            )
            for one in values
        }

    file = exported(fitted())
    kinds = onnx.TensorProto
    assert shapes(file.graph.input) == {"X": (kinds.DOUBLE, ["n", 4])}
    assert shapes(exported(fitted(), dtype="float32").graph.input) == {"X": (kinds.FLOAT, ["n", 4])}
    assert shapes(file.graph.output) == {
        "label": (kinds.STRING, ["n"]),
        "probabilities": (kinds.DOUBLE, ["n", 3]),
        "scores": (kinds.DOUBLE, ["n", 3]),
        "codes": (kinds.UINT8, ["n", 30]),
        "classes": (kinds.STRING, [3]),
    }
    assert file.producer_name == "kenyon"
    assert file.producer_version == kenyon.__version__


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["", " a", "a", "é🎵"], onnx.TensorProto.STRING),
        ([-(2**63), 0, 2**63 - 1, 5], onnx.TensorProto.INT64),
        ([0, 1, 2**64 - 1, 5], onnx.TensorProto.UINT64),
        ([True, False, True, False], onnx.TensorProto.BOOL),
    ],
)
def test_labels_of_every_kind(labels, kind):
    model = FlyClassifier(**SMALL).fit(X, labels)
    file = exported(model, outputs=("classes", "label"))
    assert [one.type.tensor_type.elem_type for one in file.graph.output] == [kind, kind]
    found = run(file, X)
    assert found["label"].tolist() == model.predict(X).tolist()
    assert found["classes"].tolist() == model.classes_.tolist()


@pytest.mark.parametrize(
    "outputs", [[one] for one in RESULTS] + [["codes", "scores"], RESULTS[::-1]]
)
def test_a_file_holds_what_its_outputs_need(outputs):
    model = fitted()
    everything, part = exported(model), exported(model, outputs=outputs)
    assert [one.name for one in part.graph.output] == [*outputs]
    whole = run(everything, X)
    if outputs == ["classes"]:
        assert not [node for node in part.graph.node if node.op_type != "Identity"]
    for name, values in run(part, X).items():
        np.testing.assert_array_equal(values, whole[name])
    used = {name for node in part.graph.node for name in node.input}
    assert {one.name for one in part.graph.initializer} <= used
    assert {name for node in part.graph.node for name in node.output} <= used | {*outputs}
    assert (len(part.graph.node) < len(everything.graph.node)) == (len(outputs) < len(RESULTS))


def test_equal_models_have_equal_files(tmp_path):
    for readout in ("fly", "ridge"):
        paths = [tmp_path / name for name in ("one", "two")]
        for path, order in zip(paths, ([0, 1, 2, 3], [3, 1, 0, 2]), strict=True):
            model = FlyClassifier(n_cells=30, readout=readout, n_threads=1)
            kenyon.onnx.export(model.fit(X[order], np.array(Y)[order]), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_model_does_not_change_and_the_file_keeps_what_it_was():
    model = fitted()
    file, before = exported(model), scores(model, X)
    model.partial_fit(X, ["d"] * 4).drop_class("a")
    np.testing.assert_array_equal(bits(run(file, X)["scores"]), bits(before))
    assert run(exported(model), X)["classes"].tolist() == ["b", "c", "d"]


def test_a_failed_export_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    kenyon.onnx.export(fitted(), path)
    before = path.read_bytes()
    refused = {"64 bits": 2**64, "Unicode": "\ud800", "NUL": "a\0", "contain NUL": "a\0b"}
    for reason, label in refused.items():
        model = FlyClassifier(**SMALL).fit(X, [type(label)(1), label, label, label])
        with pytest.raises(ValueError, match=f"^labels must .*{reason}"):
            kenyon.onnx.export(model, path)
    with pytest.raises(OSError, match="could not be written"):
        kenyon.onnx.export(fitted(), tmp_path)
    monkeypatch.setattr(nodes, "MAX_BYTES", 200)
    with pytest.raises(ValueError, match="at most 200 bytes"):
        kenyon.onnx.export(fitted(), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("outputs", [(), "label", ["label", "label"], ["labels"], [["label"]], 3])
def test_other_outputs_are_refused(outputs, tmp_path):
    with pytest.raises(ValueError, match=r"^outputs must be some of label, probabilities, scores"):
        kenyon.onnx.export(fitted(), tmp_path / "model.onnx", outputs=outputs)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("dtype", ["float16", np.float64, None])
def test_other_types_are_refused(dtype, tmp_path):
    with pytest.raises(ValueError, match=r"^dtype must be one of 'float64', 'float32', but is "):
        kenyon.onnx.export(fitted(), tmp_path / "model.onnx", dtype=dtype)


def test_other_models_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(NotFittedError):
        kenyon.onnx.export(FlyClassifier(), path)
    with pytest.raises(
        TypeError, match=r"^model must be a kenyon.FlyClassifier, but is .*Logistic"
    ):
        kenyon.onnx.export(LogisticRegression(), path)
    with pytest.raises(TypeError, match=r"a Pipeline: convert .* kenyon.onnx.register\(\)$"):
        kenyon.onnx.export(plain_pipeline(StandardScaler(), fitted()), path)
    texts = make_pipeline(TextEncoder("hashing"), FlyClassifier()).fit(["a", "b"], [1, 2])
    with pytest.raises(TypeError, match=r"^TextEncoder cannot .* the encoder's features$"):
        kenyon.onnx.export(texts, path)
    empty = fitted().drop_class("a").drop_class("b").drop_class("c")
    with pytest.raises(ValueError, match="no classes left"):
        kenyon.onnx.export(empty, path)
    assert not path.exists()


def test_the_classifier_of_a_pipeline_answers_for_features(tmp_path):
    texts, labels = ["pay my bill", "play a song", "a bill", "a song"], ["bank", "music"] * 2
    pipeline = make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=200))
    pipeline.fit(texts, labels)
    file = exported(pipeline.classifier, dtype="float32", outputs=["label"])
    features = pipeline.encoder.transform(texts)
    assert run(file, np.asarray(features, np.float32))["label"].tolist() == labels


def test_a_file_is_of_one_moment():
    """Labels, scores and probabilities belong together while another thread learns."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((60, 4))
    model = FlyClassifier(**SMALL).fit(samples[:1], [0])
    expected = {}
    grown = FlyClassifier(**SMALL)
    for i, x in enumerate(samples):
        grown.learn_one(x, i)
        expected[i + 1] = scores(grown, samples[:5])
    turns = threading.Semaphore(0)

    def learn():
        for i in range(1, 60):
            turns.acquire()
            model.learn_one(samples[i], i)

    thread = threading.Thread(target=learn)
    thread.start()
    seen = set()
    while thread.is_alive():
        turns.release(4)
        found = run(exported(model), samples[:5])
        n_classes = len(found["classes"])
        seen.add(n_classes)
        np.testing.assert_array_equal(bits(found["scores"]), bits(expected[n_classes]))
        assert found["probabilities"].shape == (5, n_classes)
    thread.join()
    assert len(seen) > 2


SCRIPT = """
import sys
import kenyon, kenyon.pipeline
assert not {"onnx", "onnxruntime", "skl2onnx"} & sys.modules.keys()
for package in ("onnx", "skl2onnx"):
    sys.modules[package] = None
    try:
        import kenyon.onnx
        kenyon.onnx.register()
    except ImportError as error:
        print(error)
    del sys.modules[package]
"""


def test_packages_are_imported_late_and_a_missing_one_is_one_sentence():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines() == [
        "kenyon.onnx needs onnx: pip install 'kenyon[onnx]'",
        "kenyon.onnx.register needs skl2onnx: pip install skl2onnx",
    ]
