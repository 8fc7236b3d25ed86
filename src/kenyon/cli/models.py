"""Models of the command line: created, or read from a file."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import kenyon

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kenyon import FlyClassifier
    from kenyon.pipeline import Pipeline

    AnyModel: TypeAlias = FlyClassifier | Pipeline

TEXT, IMAGE, FEATURES = "text", "image", "feature"
"""The kinds of inputs that a model learns."""


def kind_of(model: AnyModel) -> str:
    """Return the kind of inputs that a model learns."""
    encoder = getattr(model, "encoder", None)
    return FEATURES if encoder is None else str(encoder.kind)


def classifier_of(model: AnyModel) -> FlyClassifier:
    """Return the classifier of a model."""
    return model if isinstance(model, kenyon.FlyClassifier) else model.classifier


def feature_names_of(model: AnyModel) -> list[str]:
    """Return the names of the features that a model was fitted with, or an empty list."""
    return list(getattr(model, "feature_names_in_", ()))


def encode(model: AnyModel, inputs: Any) -> Any:
    """Return the features of inputs, so that several calls of the classifier share them."""
    return inputs if isinstance(model, kenyon.FlyClassifier) else model.encoder.transform(inputs)


def solve(model: AnyModel) -> None:
    """Compute weights and calibration from the sums, so that a file holds them.

    Equal sums then give equal files, however they were learned.
    """
    classifier = classifier_of(model).refresh()
    if len(classifier.classes_):
        classifier.predict_proba_one(np.zeros(classifier.n_features_in_))


def open_or_create(
    path: Path, kind: str, encoder: str | None, settings: dict[str, Any], keep_texts: bool
) -> AnyModel:
    """Return the model of a file, or a new one; options for a new one must not contradict a file.

    Parameters
    ----------
    path : Path
    kind : str
        What a new model learns: texts, images or features.
    encoder : str or None
        The encoder of a new model, or where that of the file is.
    settings : dict
        Parameters of `FlyClassifier`.
    keep_texts : bool
    """
    if not path.exists():
        return create(kind, encoder, settings, keep_texts)
    model = kenyon.load(path, encoder=encoder)
    check_settings(model, settings, keep_texts, path)
    return model


def create(kind: str, encoder: str | None, settings: dict[str, Any], keep_texts: bool) -> AnyModel:
    """Return a model that has learned nothing."""
    classifier = kenyon.FlyClassifier(**settings)
    if keep_texts and kind != TEXT:
        raise ValueError(f"--keep-texts keeps texts, but the input is {kind}s")
    if kind == FEATURES:
        if encoder is not None:
            raise ValueError(f"--encoder is for texts and images; got {encoder!r} with features")
        return classifier
    if kind == IMAGE and encoder is None:
        raise ValueError("a model of images needs --encoder pixels or --encoder mobilenetv2")
    encoders: Any = kenyon.encoders
    encoder_type = encoders.ImageEncoder if kind == IMAGE else encoders.TextEncoder
    # Finds the encoder's model, or raises an error, before anything is read.
    try:
        found = encoder_type(encoder or "auto").fit()
    except (OSError, ValueError) as error:
        kind_of_error = OSError if isinstance(error, OSError) else ValueError
        raise kind_of_error(f"--encoder {encoder}: {error}") from error
    check_parameters(classifier, found.n_features_out_)
    print(f"Encoder: {found.name_}", file=sys.stderr)
    return kenyon.pipeline.make_pipeline(
        encoder_type(found.name_), classifier, keep_texts=keep_texts
    )


def check_parameters(classifier: FlyClassifier, n_features: int) -> None:
    """Raise ValueError for parameters that cannot be used, before a row is blamed for them."""
    from sklearn.base import clone

    clone(classifier).fit(np.zeros((1, n_features)), [0])


def check_settings(model: AnyModel, settings: dict[str, Any], keep_texts: bool, path: Path) -> None:
    """Raise ValueError if options for a new model contradict one that exists."""
    present = classifier_of(model).get_params(deep=False)
    for name, value in settings.items():
        if present[name] != value:
            raise ValueError(
                f"--set {name}={value} is for new models, but {path} exists and has "
                f"{name}={present[name]}"
            )
    if keep_texts and not getattr(model, "keep_texts", False):
        raise ValueError(f"--keep-texts is for new models, but {path} exists and keeps no texts")


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """Return parameters of `FlyClassifier` from texts such as "readout=bayes".

    Examples
    --------
    >>> parse_settings(["readout=bayes", "n_cells=400", "decay=0.01"])
    {'readout': 'bayes', 'n_cells': 400, 'decay': 0.01}
    """
    known = kenyon.FlyClassifier().get_params(deep=False)
    settings: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"--set must be name=value with one of the names {', '.join(known)}; got {text!r}"
            )
        settings[name] = _parse_value(value)
    return settings


def _parse_value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text


def describe_encoder(model: AnyModel) -> dict[str, Any] | None:
    """Return the description of a model's encoder, or None."""
    encoder = getattr(model, "encoder", None)
    return None if encoder is None else encoder.description()
