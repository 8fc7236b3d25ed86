"""One input as a user types it: a text, an image file, or numbers."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.cli.models import FEATURES, IMAGE, classifier_of, feature_names_of, kind_of

if TYPE_CHECKING:
    from kenyon.cli.models import AnyModel


def accept_all_bytes() -> None:
    """Read standard input also where it is not UTF-8, so that `parse_input` refuses such texts."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")


def parse_input(text: str, model: AnyModel) -> Any:
    """Return inputs of one sample for a model of texts, images or features.

    Raises
    ------
    ValueError
        If a text is empty or not Unicode, or features are not as many numbers, separated by
        commas, as the model has features.
    FileNotFoundError
        If there is no such image.
    """
    kind = kind_of(model)
    if kind == IMAGE:
        if not Path(text).is_file():
            raise FileNotFoundError(f"the model has learned images, but there is no file {text!r}")
        return [Path(text)]
    if kind != FEATURES:
        if not text.strip():
            raise ValueError("the text is empty")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the text is not encoded as UTF-8; got {text!a:.80}") from None
        return [text]
    n_features = classifier_of(model).n_features_in_
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != n_features or not np.isfinite(numbers).all():
        raise ValueError(
            f"the model has learned {n_features} features, so an input must be {n_features} "
            f"numbers separated by commas; got {text!r:.80}"
        )
    names = feature_names_of(model)
    row = np.array([numbers])
    if not names:
        return row
    from polars import DataFrame

    return DataFrame(row, schema=names)
