"""Classifiers in pipelines that skl2onnx converts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from kenyon.classifier import FlyClassifier
from kenyon.encoders import ImageEncoder, TextEncoder
from kenyon.onnx.files import refuse_encoder
from kenyon.onnx.graph import Content, add_classifier
from kenyon.onnx.nodes import OPSET, Nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OPTIONS = {"zipmap": [True, False, "columns"], "raw_scores": [False, True], "nocl": [False]}


def register() -> None:
    """Let skl2onnx convert `FlyClassifier`, alone or as the last step of a pipeline.

    It has skl2onnx's options "zipmap", and "raw_scores" for scores instead of probabilities. As
    skl2onnx has it, booleans become the integers 0 and 1. Only inputs in float64 are transformed in
    float64; probabilities have the type of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from onnxruntime import InferenceSession
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import kenyon.onnx
    >>> from kenyon import FlyClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), FlyClassifier()).fit(X[:1000], y[:1000])
    >>> kenyon.onnx.register()
    >>> file = to_onnx(pipeline, X[:1], options={"zipmap": False}).SerializeToString()
    >>> labels, probabilities = InferenceSession(file).run(None, {"X": X[1000:]})
    >>> bool((labels == pipeline.predict(X[1000:])).all())
    True
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("kenyon.onnx.register needs skl2onnx: pip install skl2onnx") from error
    update_registered_converter(
        FlyClassifier, "KenyonFlyClassifier", _set_types, _convert, options=_OPTIONS
    )
    for encoder in (TextEncoder, ImageEncoder):
        alias = f"Kenyon{encoder.__name__}"
        # The types of a step are set before it is converted, so the second is never called.
        update_registered_converter(encoder, alias, _refuse, _convert)


def _refuse(operator: Any) -> None:
    refuse_encoder(operator.raw_operator)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as skl2onnx has them: strings or int64."""
    if labels.dtype.kind not in "bu":
        return labels
    if labels.max() > np.iinfo(np.int64).max:
        raise ValueError(f"labels must fit into int64 for skl2onnx, but one is {labels.max()}")
    return labels.astype(np.int64)


def _set_types(operator: Any) -> None:
    """Set the types of label and probabilities; skl2onnx has set float types by the input."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType
    from skl2onnx.common.utils import check_input_and_output_numbers

    check_input_and_output_numbers(operator, input_count_range=1, output_count_range=2)
    n, labels = operator.inputs[0].get_first_dimension(), _plain(operator.raw_operator.classes_)
    is_text = labels.dtype.kind in "UO"
    operator.outputs[0].set_type((StringTensorType if is_text else Int64TensorType)([n]))
    operator.outputs[1].type.shape = [n, len(labels)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a classifier to a graph of skl2onnx, with names that are unique there."""
    from skl2onnx.common.data_types import DoubleTensorType

    if container.target_opset < OPSET:
        raise ValueError(f"target_opset must be at least {OPSET}, but is {container.target_opset}")
    model, (x,), (label, second) = operator.raw_operator, operator.inputs, operator.outputs
    nodes, content = Nodes(), Content.of(model)
    double = nodes.cast("X_float64", "X", TensorProto.DOUBLE)
    add_classifier(nodes, replace(content, labels=_plain(content.labels)), double)
    options = container.get_options(model, {"raw_scores": False})
    result = "scores" if options["raw_scores"] else "probabilities"
    is_double = isinstance(second.type, DoubleTensorType)
    dtype = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    result = nodes.cast("result", result, dtype)
    nodes.keep(["label", result])
    names = {"X": x.full_name, "label": label.full_name, result: second.full_name}
    for name, tensor in nodes.constants.items():
        names[name] = tensor.name = scope.get_unique_variable_name(name)
        container.initializers.append(tensor)
    for node in nodes.nodes:
        for name in node.output:
            if name not in names:
                names[name] = scope.get_unique_variable_name(name)
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        container.add_node(
            node.op_type,
            [names[name] for name in node.input],
            [names[name] for name in node.output],
            op_version=OPSET,
            name=scope.get_unique_operator_name(node.op_type),
            **attributes,
        )
