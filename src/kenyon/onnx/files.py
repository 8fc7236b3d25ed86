"""A classifier as an ONNX file."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import sklearn.pipeline
from onnx import ModelProto, TensorProto, ValueInfoProto, helper
from sklearn.utils.validation import check_is_fitted

from kenyon._files import replacing
from kenyon._validation import check_choice, type_name
from kenyon.classifier import FlyClassifier
from kenyon.encoders.encoder import Encoder
from kenyon.onnx.graph import RESULTS, Content, add_classifier
from kenyon.onnx.nodes import OPSET, Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

IR_VERSION = 8
"""The version of the file format that came with the operators."""

_DTYPES = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}


def export(
    model: FlyClassifier,
    path: str | PathLike[str],
    *,
    outputs: Sequence[str] = ("label", "probabilities"),
    dtype: Literal["float64", "float32"] = "float64",
) -> None:
    """Write a classifier as an ONNX file, which computes what the model computes now.

    The file is replaced only when the new one is completely written.

    Parameters
    ----------
    model : FlyClassifier
        A fitted classifier. Of a pipeline with an encoder, export the classifier and pass it the
        encoder's features; other pipelines are for skl2onnx, see `register`.
    path : str or path
    outputs : sequence of str, default=("label", "probabilities")
        What the file computes of n samples, in this order:

        - "label": what `predict` returns, as strings, booleans or 64-bit integers;
        - "probabilities": what `predict_proba` returns, with the present calibration;
        - "scores": the score of each class, of two classes too;
        - "codes": the levels of all cells, uint8, as `SparseCoder.levels` returns them, but dense;
        - "classes": the label of each column, which no sample changes.
    dtype : {"float64", "float32"}, default="float64"
        The type of the input, which has the name "X" and the shape (n, n_features). It is computed
        in float64 in any case.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from onnxruntime import InferenceSession
    >>> import kenyon.onnx
    >>> from kenyon import FlyClassifier
    >>> model = FlyClassifier().fit([[1, 0], [0.9, 0.1], [0, 1]], ["a", "a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     kenyon.onnx.export(model, f"{folder}/model.onnx")
    ...     session = InferenceSession(f"{folder}/model.onnx")
    >>> label, probabilities = session.run(None, {"X": np.eye(2)})
    >>> print(label, probabilities.shape)
    ['a' 'b'] (2, 2)
    """
    _check_model(model)
    _check_outputs(outputs)
    check_choice("dtype", dtype, tuple(_DTYPES))
    text = _build(Content.of(model), outputs, _DTYPES[dtype]).SerializeToString(deterministic=True)
    with replacing(Path(path)) as beside:
        beside.write_bytes(text)


def refuse_encoder(encoder: object) -> None:
    """Raise TypeError: the features of an encoder are not computed by ONNX."""
    raise TypeError(
        f"{type(encoder).__name__} cannot be exported, since it runs in Python: export the "
        "classifier of the pipeline, and pass it the encoder's features"
    )


def _check_model(model: object) -> None:
    if isinstance(model, sklearn.pipeline.Pipeline):
        for _, step in model.steps:
            if isinstance(step, Encoder):
                refuse_encoder(step)
        raise TypeError(
            f"model must be a FlyClassifier, but is a {type(model).__name__}: convert pipelines by "
            "skl2onnx, after kenyon.onnx.register()"
        )
    if not isinstance(model, FlyClassifier):
        raise TypeError(f"model must be a kenyon.FlyClassifier, but is of type {type_name(model)}")
    check_is_fitted(model)


def _check_outputs(outputs: Sequence[str]) -> None:
    names = outputs if isinstance(outputs, list | tuple) else ()
    if not names or any(name not in RESULTS or names.count(name) > 1 for name in names):
        raise ValueError(f"outputs must be some of {', '.join(RESULTS)}, but is {outputs!r:.80}")


def _build(content: Content, outputs: Sequence[str], dtype: int) -> ModelProto:
    nodes, x = Nodes(), "X"
    if dtype != TensorProto.DOUBLE:
        x = nodes.cast("X_float64", x, TensorProto.DOUBLE)
    add_classifier(nodes, content, x)
    nodes.keep(outputs)
    graph = helper.make_graph(
        nodes.nodes,
        "kenyon",
        [helper.make_tensor_value_info("X", dtype, ["n", content.coder.n_features])],
        [_describe(name, content) for name in outputs],
        [*nodes.constants.values()],
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="kenyon",
        producer_version=version("kenyon"),
    )


def _describe(output: str, content: Content) -> ValueInfoProto:
    """Return the name, type and shape of an output."""
    by_class: tuple[int, list[str | int]] = TensorProto.DOUBLE, ["n", len(content.labels)]
    types: dict[str, tuple[int, list[str | int]]] = {
        "label": (_label_type(content.labels), ["n"]),
        "probabilities": by_class,
        "scores": by_class,
        "codes": (TensorProto.UINT8, ["n", content.coder.n_cells]),
        "classes": (_label_type(content.labels), [len(content.labels)]),
    }
    return helper.make_tensor_value_info(output, *types[output])


def _label_type(labels: NDArray[Any]) -> int:
    is_text = labels.dtype.kind in "UO"
    return TensorProto.STRING if is_text else helper.np_dtype_to_tensor_dtype(labels.dtype)
