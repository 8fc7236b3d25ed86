"""Estimators as text and HTML, with a summary of what they have learned."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEW_LABELS = 5


def parameters_repr(estimator: BaseEstimator, n_char_max: int) -> str:
    """Return scikit-learn's repr of an estimator whose class has its own.

    Scikit-learn breaks lines only for classes that inherit its `__repr__`, so a subclass does.
    """
    kind = type(estimator)
    plain = type(kind.__name__, (kind,), {"__repr__": BaseEstimator.__repr__})
    copied = plain(**estimator.get_params(deep=False))
    text: str = BaseEstimator.__repr__(copied, N_CHAR_MAX=n_char_max)
    return text


def summarise(n_classes: int, n_samples: int) -> str:
    """Return the numbers of classes and samples as text.

    Examples
    --------
    >>> print(summarise(1, 1234))
    1 class, 1,234 samples
    """
    classes = "class" if n_classes == 1 else "classes"
    samples = "sample" if n_samples == 1 else "samples"
    return f"{n_classes:,} {classes}, {n_samples:,} {samples}"


def list_labels(labels: Sequence[object]) -> str:
    """Return the first few labels as text.

    Examples
    --------
    >>> print(list_labels("abcdefg"))
    'a', 'b', 'c', 'd', 'e', ...
    """
    listed = [f"{label!r:.40}" for label in labels[:_FEW_LABELS]]
    return ", ".join([*listed, "..."] if len(labels) > _FEW_LABELS else listed)


def captioned_block(estimator: BaseEstimator, caption: str) -> SimpleNamespace:
    """Return an estimator's box in scikit-learn's diagrams, with a caption below its name.

    Scikit-learn escapes the caption. If a later version needs more attributes, it draws the box
    without the caption.
    """
    return SimpleNamespace(
        kind="single",
        estimators=estimator,
        names=type(estimator).__name__,
        name_details=str(estimator),
        name_caption=caption,
        doc_link_label=None,
        dash_wrapped=True,
    )
