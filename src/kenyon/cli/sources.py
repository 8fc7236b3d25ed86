"""The samples of files as a model takes them: inputs of its kind, labels of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.cli.interrupts import restore_handlers
from kenyon.cli.labels import KINDS, convert_labels, kind_of_labels
from kenyon.cli.models import FEATURES, IMAGE, TEXT, feature_names_of, kind_of
from kenyon.cli.reports import add_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kenyon.cli.models import AnyModel
    from kenyon.cli.tables import BadRows, Columns, Progress, Samples

    Action = Callable[[Any, Any], object]

_DEFAULT_TEXT = "text"
_PIECE_ROWS = {TEXT: 256, IMAGE: 64, FEATURES: 4096}
_HASHED_PIECE_ROWS = 1024


class Source(NamedTuple):
    """A file, and how it is read.

    Attributes
    ----------
    path : str
        "-" is standard input.
    file_format : str or None
    columns : Columns
    """

    path: str
    file_format: str | None
    columns: Columns

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return "standard input" if self.path == "-" else self.path


def check_files(paths: list[str]) -> None:
    """Raise an error before anything is learned if a file is missing or cannot be used."""
    for path in paths:
        if path != "-" and not Path(path).exists():
            raise FileNotFoundError(f"there is no file {path}")
    if paths.count("-") > 1:
        raise ValueError("FILE can be - only once, since standard input can be read only once")


def check_output(option: str, output: str, *read: str) -> None:
    """Raise ValueError if an output would replace a file that the command reads."""
    for path in read:
        if Path(output).exists() and Path(path).exists() and Path(output).samefile(path):
            raise ValueError(f"{option} must be another file than {path}, which is read")


def kind_of_file(path: str, file_format: str | None, text: str | None, features: str | None) -> str:
    """Return the kind of inputs that a file holds."""
    from kenyon.cli.tables import FORMATS
    from kenyon.cli.tables.formats import find_format

    if text is not None and features is not None:
        raise ValueError(f"--text and --features exclude each other; got {text!r} and {features!r}")
    found = find_format(path, file_format, FORMATS)
    if found == "images":
        return IMAGE
    return FEATURES if features is not None or found == "npz" else TEXT


def choose_columns(
    model: AnyModel, text: str | None, features: str | None, label: str | None
) -> Columns:
    """Return the columns that the inputs of a model are read from.

    The feature columns are by default those that the model was fitted with.
    """
    from kenyon.cli.tables import Columns

    kind = kind_of(model)
    if text is not None and kind != TEXT:
        raise ValueError(f"--text is for models of texts; got {text!r} for a model of {kind}s")
    if features is not None and kind != FEATURES:
        raise ValueError(
            f"--features is for models of features; got {features!r} for a model of {kind}s"
        )
    if kind == FEATURES:
        return Columns(None, features or ",".join(feature_names_of(model)) or None, label)
    return Columns((text or _DEFAULT_TEXT) if kind == TEXT else None, None, label)


def piece_rows(model: AnyModel) -> int:
    """Return how many rows are learned at once: few enough that Ctrl-C need not wait for long."""
    encoder = getattr(model, "encoder", None)
    is_hashed = encoder is not None and encoder.model == "hashing"
    return _HASHED_PIECE_ROWS if is_hashed else _PIECE_ROWS[kind_of(model)]


def read(
    source: Source,
    model: AnyModel,
    *,
    max_rows: int,
    skip_rows: int = 0,
    bad: BadRows | None = None,
    progress: Progress | None = None,
    unknown: str | None = None,
) -> Iterator[Samples]:
    """Yield the samples of a file with features in the model's order and labels of its kind.

    The label `unknown` of rows that belong to no class stays a text.
    """
    from kenyon.cli.tables import read_samples

    restore_handlers()
    _check_kind(source, model)
    for samples in read_samples(
        source.path,
        source.columns,
        format=source.file_format,
        skip_rows=skip_rows,
        bad=bad,
        max_rows=max_rows,
        progress=progress,
    ):
        named = samples._replace(inputs=_name_features(samples, model, source.name))
        if samples.labels is None:
            yield named
            continue
        converted = _convert_labels(source, named, model, unknown, bad)
        if converted.labels:
            yield converted


def _check_kind(source: Source, model: AnyModel) -> None:
    """Raise ValueError if a file cannot hold inputs of the kind that the model learns."""
    from kenyon.cli.tables import FORMATS
    from kenyon.cli.tables.formats import find_format

    kind, found = kind_of(model), find_format(source.path, source.file_format, FORMATS)
    held = {"images": IMAGE, "npz": FEATURES}.get(found)
    if kind != held and (held is not None or kind == IMAGE):
        what = "is a table" if held is None else f"holds {held}s"
        raise ValueError(f"the model has learned {kind}s, but {source.name} {what}")


def _convert_labels(
    source: Source, samples: Samples, model: AnyModel, unknown: str | None, bad: BadRows | None
) -> Samples:
    """Return samples with labels of the model's kind, or `unknown`; others are bad rows."""
    given = samples.labels or []
    labels = convert_labels(given, model)
    if unknown is not None:
        labels = [
            unknown if str(old) == unknown else new for old, new in zip(given, labels, strict=True)
        ]
    kind = kind_of_labels(model)
    rows = []
    for i, label in enumerate(labels):
        if label is not None or kind is None:
            rows.append(i)
            continue
        sentence = (
            f"{source.name}, {samples.place(i)}, column {source.columns.label!r}: the labels of "
            f"the model are {KINDS[kind]}, but this one is {given[i]!r:.80}"
        )
        if bad is None:
            raise ValueError(sentence)
        add_bad(bad, sentence)
    samples = samples._replace(labels=labels)
    return samples if len(rows) == len(labels) else take(samples, rows)


def take(samples: Samples, rows: list[int]) -> Samples:
    """Return some of the samples."""
    inputs: Any = samples.inputs
    return samples._replace(
        inputs=[inputs[row] for row in rows] if isinstance(inputs, list) else inputs[rows],
        labels=samples.labels and [samples.labels[row] for row in rows],
        table=samples.table[rows],
        place=lambda i: samples.place(rows[i]),
    )


def apply(action: Action, source: Source, samples: Samples, bad: BadRows | None) -> int:
    """Give samples to a function of inputs and labels; return how many it took.

    If it refuses them, they are given one by one, to find the bad rows.

    Raises
    ------
    ValueError
        If it refuses a row and `bad` is None: one sentence with the row.
    """
    try:
        action(samples.inputs, samples.labels)
    except (OSError, ValueError):
        return len(apply_each(action, source, samples, bad))
    return len(samples.inputs)


def apply_each(action: Action, source: Source, samples: Samples, bad: BadRows | None) -> list[int]:
    """Give samples one by one to a function; return the indices of those that it took."""
    taken = []
    for i in range(len(samples.inputs)):
        row = slice(i, i + 1)
        try:
            action(samples.inputs[row], samples.labels and samples.labels[row])
        except (OSError, ValueError) as error:
            sentence = f"{source.name}, {samples.place(i)}: {error}"
            if bad is None:
                raise ValueError(sentence) from error
            add_bad(bad, sentence)
            continue
        taken.append(i)
    return taken


def _name_features(samples: Samples, model: AnyModel, name: str) -> Any:
    """Return the inputs; features with names as a frame, in the order of the model."""
    found, expected = samples.feature_names, feature_names_of(model)
    if not isinstance(samples.inputs, np.ndarray):
        return samples.inputs
    from polars import DataFrame

    frame = DataFrame(samples.inputs, schema=found)
    is_fitted = hasattr(model, "classes_")
    if not is_fitted or found == expected:
        return frame
    if not expected:
        return samples.inputs
    if sorted(found) != sorted(expected):
        missing, more = set(expected) - set(found), set(found) - set(expected)
        what = f"lacks {min(missing)!r}" if missing else f"has {min(more)!r} too"
        raise ValueError(f"{name} {what} among its features: the model has learned others")
    return frame.select(expected)
