"""What the catalogue says of a dataset, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.data.dataset import Dataset
    from kenyon_lab.data.source import Source


@dataclass(frozen=True)
class Entry:
    """A dataset in the catalogue.

    Parameters
    ----------
    name : str
        What `kenyon_lab.data.load` knows it by.
    summary : str
        What it is, in a line.
    n_train, n_test, n_features, n_classes, n_tasks : int
        Its sizes, which what is read must have.
    licence, citation : str
        What may be done with it, and whose work it is.
    read : callable
        Given this entry, returns the dataset.
    sources : tuple of Source
        The files that it is read or built from.
    n_out_of_scope : int, optional
        How many test samples belong to no class.
    encoder : str, optional
        What makes its features of those files, where they are not features themselves.
    note : str, optional
        What must be known to judge figures on it.
    """

    name: str
    summary: str
    n_train: int
    n_test: int
    n_features: int
    n_classes: int
    n_tasks: int
    licence: str
    citation: str
    read: Callable[[Entry], Dataset]
    sources: tuple[Source, ...] = ()
    n_out_of_scope: int = 0
    encoder: str = ""
    note: str = ""

    def load(self) -> Dataset:
        """Return the dataset, which has the sizes that are stated here."""
        dataset = self.read(self)
        outside = dataset.X_out_of_scope
        found = (
            *(len(dataset.X_train), len(dataset.X_test), 0 if outside is None else len(outside)),
            *(dataset.n_features, dataset.n_classes),
        )
        expected = (
            *(self.n_train, self.n_test, self.n_out_of_scope),
            *(self.n_features, self.n_classes),
        )
        if found != expected:
            raise ValueError(
                f"{self.name} should have {_sizes(*expected)}, but what was read has "
                f"{_sizes(*found)}"
            )
        return dataset


def _sizes(n_train: int, n_test: int, n_outside: int, n_features: int, n_classes: int) -> str:
    samples = f"{n_train} + {n_test} + {n_outside} samples"
    return f"{samples} of {n_features} features in {n_classes} classes"
