"""Samples of a file, its bad rows, and the progress of reading it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray
    from polars import DataFrame

Label: TypeAlias = "str | int | bool"

MAX_SENTENCES = 5
"""Number of bad rows that are described; the others are counted."""


class Columns(NamedTuple):
    """The columns that a command uses.

    Attributes
    ----------
    text : str or None
        The column of texts. Folders of images and .npz files have none.
    features : str or None
        The feature columns: names or glob patterns, separated by commas. A table needs a text
        column or feature columns, not both.
    label : str or None
        The column of labels, or None to read no labels.
    """

    text: str | None
    features: str | None
    label: str | None


class Samples(NamedTuple):
    """The good rows of one piece of a file.

    Attributes
    ----------
    inputs : list of str, array of shape (n, n_features) or list of Path
        The texts, the features or the image files.
    labels : list of str, int or bool, or None
    table : DataFrame
        All columns of these rows; for .npz only "row", for images only "file" and, if labels are
        read, "label".
    feature_names : list of str
        The names of the feature columns, or an empty list.
    end : int
        Number of rows of the file up to here, with bad and skipped ones. `skip_rows=end` goes on
        after these samples.
    place : function
        Returns the place of a sample in the file, such as "line 17", from its index.
    """

    inputs: list[str] | NDArray[Any] | list[Path]
    labels: list[Label] | None
    table: DataFrame
    feature_names: list[str]
    end: int
    place: Callable[[int], str]


@dataclass
class BadRows:
    """The number of bad rows, and sentences about the first ones."""

    count: int = 0
    sentences: list[str] = field(default_factory=list)


@dataclass
class Progress:
    """How much of a file is done.

    Attributes
    ----------
    unit : str
        "bytes", "rows" or "files".
    done : int
    total : int or None
        None if it is unknown, as for standard input.
    """

    unit: str = "bytes"
    done: int = 0
    total: int | None = None
