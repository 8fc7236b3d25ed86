"""Models from the log: the sum of the samples that are live, and of merged files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon import model_file
from kenyon._validation import count_threads
from kenyon.classifier import FlyClassifier, build
from kenyon.store.errors import StoreFailed
from kenyon.store.states import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kenyon.circuit.plain_labels import Label
    from kenyon.model_file import Content
    from kenyon.store.features import Features
    from kenyon.store.reading import Reader
    from kenyon.store.spec import Spec
    from kenyon.store.states import Delta, Part, State

ROWS = 8192
"""Rows that are read at a time."""


class Erased(Exception):  # noqa: N818
    """Features are needed that were erased by a later event."""


def rebuild(
    reader: Reader, model: int, spec: Spec, state: State, labels: Sequence[Label]
) -> FlyClassifier:
    """Return the classifier of a state, from the log alone."""
    classifier = spec.new_classifier(state.settings)
    rows = np.flatnonzero(state.live != NONE)
    if spec.window is not None:
        rows = rows[-spec.window :]
    learn_rows(reader, model, classifier, rows, state.live[rows], labels)
    for part in state.parts:
        merged = _read_part(reader.file(model, part.event), part, labels)
        if len(merged.classes_):
            classifier.merge(merged)
    return classifier


def change(
    reader: Reader,
    model: int,
    classifier: FlyClassifier,
    delta: Delta,
    labels: Sequence[Label],
    added: Features | None = None,
    removed: Features | None = None,
) -> None:
    """Change a classifier as an event did; features that are not given are read from the log."""
    if delta.renamed is not None:
        classifier.rename_class(*(labels[number] for number in delta.renamed))
    if len(delta.removed):
        _unlearn_rows(reader, model, classifier, delta, labels, removed)
    if added is not None:
        threads = count_threads(classifier.n_threads)
        learn(classifier, added, [labels[i] for i in delta.added_labels.tolist()], threads)
    else:
        learn_rows(reader, model, classifier, delta.added, delta.added_labels, labels)


def learn(
    classifier: FlyClassifier, features: Features, labels: list[Label], n_threads: int
) -> None:
    """Learn quantised features, whose codes are those of the original features."""
    classifier.circuit_.learn(features, labels, classifier._rates(), n_threads)


def learn_rows(
    reader: Reader,
    model: int,
    classifier: FlyClassifier,
    rows: NDArray[np.int64],
    numbers: NDArray[np.int32],
    labels: Sequence[Label],
) -> None:
    """Learn rows of the log in their order."""
    threads = count_threads(classifier.n_threads)
    for start in range(0, len(rows), ROWS):
        piece = slice(start, start + ROWS)
        features = _read(reader, model, classifier, rows[piece])
        learn(classifier, features, [labels[i] for i in numbers[piece].tolist()], threads)


def _unlearn_rows(
    reader: Reader,
    model: int,
    classifier: FlyClassifier,
    delta: Delta,
    labels: Sequence[Label],
    features: Features | None,
) -> None:
    rows, numbers = delta.removed, delta.removed_labels
    threads = count_threads(classifier.n_threads)
    for start in range(0, len(rows), ROWS):
        piece = slice(start, start + ROWS)
        found = (
            _read(reader, model, classifier, rows[piece]) if features is None else features[piece]
        )
        names = [labels[i] for i in numbers[piece].tolist()]
        classifier.circuit_.unlearn([(found, names)], threads)


def _read(
    reader: Reader, model: int, classifier: FlyClassifier, rows: NDArray[np.int64]
) -> Features:
    features = reader.features(model, rows.tolist(), classifier.n_features_in_)
    if features is None:
        raise Erased
    return features


def read_file(content: bytes, name: str) -> tuple[FlyClassifier, dict[str, Any] | None]:
    """Return the classifier of a `.kenyon` file, and the description of its encoder.

    Raises
    ------
    ValueError
        If it is damaged, or no such file.
    """
    found: list[dict[str, Any] | None] = []

    def take(content: Content) -> FlyClassifier:
        found.append(content.encoder)
        return build(content)

    return model_file.from_bytes(content, name, take), found[0]


def _read_part(content: bytes, part: Part, labels: Sequence[Label]) -> FlyClassifier:
    """Return the classifier of a merged file with the present labels of its classes."""
    try:
        classifier, _ = read_file(content, f"the file of event {part.event}")
    except ValueError as error:
        raise StoreFailed(str(error)) from error
    pairs = zip(part.labels, part.current, strict=True)
    names = {labels[old]: None if new == NONE else labels[new] for old, new in pairs}
    for old, new in names.items():
        if new is None:
            classifier.drop_class(old)
    wanted = {old: new for old, new in names.items() if new is not None and new != old}
    while wanted:
        known = {*classifier.classes_.tolist()}
        free = [old for old, new in wanted.items() if new not in known]
        if free:
            classifier.rename_class(free[0], wanted.pop(free[0]))
        else:  # classes that exchanged their labels
            old = next(iter(wanted))
            unused = _unused_label(known)
            classifier.rename_class(old, unused)
            wanted[unused] = wanted.pop(old)
    return classifier


def _unused_label(known: set[Any]) -> Any:
    longest = max(known)
    return longest + "+" if isinstance(longest, str) else longest + 1
