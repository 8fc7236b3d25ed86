"""Labels as text or from files, and as the kind of label that a model has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon.cli.models import AnyModel

KINDS = {str: "texts", int: "integers", bool: "booleans"}
_BOOLEANS = {"true": True, "false": False}


def parse_label(text: str, model: AnyModel) -> Any:
    """Return the label that a text names: a number if the labels of the model are numbers."""
    labels = {str(label): label for label in model.classes_.tolist()}
    if text in labels:
        return labels[text]
    if any(isinstance(label, str) for label in labels.values()):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if text.lstrip("+-").isdecimal() else number


def convert_labels(labels: Sequence[Any], model: AnyModel) -> list[Any]:
    """Return the labels of a file as the kind of label that a model has.

    A label that cannot be of that kind becomes None. A model that has learned nothing takes labels
    of any kind.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> fly = FlyClassifier().fit([[1, 0], [0, 1]], [0, 1])
    >>> convert_labels(["1", "2.0", "two"], fly)
    [1, 2, None]
    """
    kind = kind_of_labels(model)
    if kind is None or {*map(type, labels)} == {kind}:
        return list(labels)
    # 1 and True are equal.
    converted = {(type(label), label): _convert(label, kind) for label in set(labels)}
    return [converted.get((type(label), label)) for label in labels]


def kind_of_labels(model: AnyModel) -> type | None:
    """Return the type of the labels of a model, or None if it has no classes."""
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    return type(classes[0]) if classes else None


def _convert(label: Any, kind: type) -> Any:
    """Return a label of a kind, or None."""
    if type(label) is kind:
        return label
    if kind is str:
        return str(label)
    if not isinstance(label, str):
        return None
    if kind is bool:
        return _BOOLEANS.get(label.strip().lower())
    # The format of a table may write whole numbers with a decimal point.
    whole = re.fullmatch(r"\s*([+-]?[0-9]+)(\.0*)?\s*", label)
    return int(whole[1]) if whole else None
