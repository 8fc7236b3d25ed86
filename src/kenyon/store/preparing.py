"""Requests from what users pass: checked, encoded and quantised in the caller's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from kenyon._validation import validate_labels
from kenyon.classifier import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.store.checking import check_file, check_list
from kenyon.store.features import quantise
from kenyon.store.replay import read_file
from kenyon.store.requests import Learn, Merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from kenyon.circuit import Coder
    from kenyon.encoders.encoder import Encoder
    from kenyon.store.spec import Spec


def encode(spec: Spec, encoder: Encoder | None, X: Any) -> NDArray[Any]:
    """Return features: those of texts or images, or vectors as they are, checked.

    Raises
    ------
    ValueError
        If they are no finite numbers, or not as many as the model has features.
    """
    if encoder is not None and not _are_numbers(X):
        return encoder.transform(X)
    # The check adds all numbers, so infinite ones would warn before they are refused.
    with np.errstate(invalid="ignore", over="ignore"):
        array: NDArray[Any] = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if array.shape[1] != spec.n_features:
        raise ValueError(
            f"X must have {spec.n_features} features, as the model has, but has {array.shape[1]}"
        )
    return array


def prepare(
    spec: Spec,
    coder: Coder,
    encoder: Encoder | None,
    X: Any,
    y: ArrayLike,
    ids: Sequence[str | None] | None,
    replace: bool,
    texts: Sequence[str | None] | None,
) -> Learn:
    """Return the request to learn samples."""
    check_list("ids", ids)
    labels = validate_labels(y)
    features = encode(spec, encoder, X)
    if texts is None and isinstance(encoder, TextEncoder) and not _are_numbers(X):
        texts = [*map(str, X)]
    check_consistent_length(features, labels, ids, texts)
    given = None if ids is None else [*ids]
    kept = [*texts] if spec.keep_texts and texts is not None else None
    return Learn(quantise(coder, features), labels, given, replace, kept)


def check_merge(spec: Spec, file: bytes) -> Merge:
    """Return the request to merge the model of a `.kenyon` file.

    Raises
    ------
    ValueError
        If it is no such file, or its model has another circuit, another encoder or a window.
    """
    classifier, description = read_file(check_file(file), "the file")
    if spec.window is not None or classifier.window is not None:
        raise ValueError("models with a window cannot be merged: it holds the latest samples alone")
    _check_same("encoder", _weights_of(spec.encoder), _weights_of(description))
    coder = classifier.circuit_.coder.parameters()
    for name, value in spec.circuit.items():
        _check_same(name, value, coder[name])
    made_for = FlyClassifier(**spec.parameters)._new_readout().name
    if classifier.circuit_.has_pairs != (made_for == "ridge"):
        raise ValueError("readout must be 'ridge' for both models, or for none of them")
    counts = zip(classifier.classes_.tolist(), classifier.class_count_.tolist(), strict=True)
    return Merge(file, dict(counts))


def _weights_of(description: dict[str, Any] | None) -> Any:
    # One model of texts may have different names or folders.
    return description and {name: description[name] for name in ("kind", "digest", "settings")}


def _check_same(name: str, here: Any, there: Any) -> None:
    if here != there:
        raise ValueError(
            f"only a model with the same circuit and encoder can be merged: {name} is {here!r:.80} "
            f"here and {there!r:.80} there"
        )


def _are_numbers(X: Any) -> bool:
    """Return whether samples are vectors rather than texts or images."""
    if isinstance(X, list | tuple):
        # A text has no dimension, a vector one, and an image two or three.
        return np.ndim(X[0]) == 1 if X else True
    return getattr(X, "ndim", 0) == 2
