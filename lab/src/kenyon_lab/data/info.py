"""The description of a dataset in the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon_lab.data.dataset import Dataset
    from kenyon_lab.data.source import Source


@dataclass(frozen=True)
class DatasetInfo:
    """Name, sizes, licence and sources of a dataset, and the function that reads it.

    Parameters
    ----------
    name : str
        The name that `kenyon_lab.data.load` takes.
    summary : str
        One line of description.
    n_train, n_test, n_features, n_classes, n_tasks : int
        Sizes; `load` checks all but the number of tasks.
    licence, citation : str
        Terms of use, and the authors.
    read : callable
        Takes this description and returns the dataset.
    sources : tuple of Source
        The files that the dataset is read or built from.
    n_out_of_scope : int, optional
        Number of test samples that belong to no class.
    encoder : str, optional
        Name of the encoder that computes the features from the sources.
    encoder_seed : int, optional
        Seed of an encoder that is trained.
    distorted : bool, optional
        Whether the encoder is trained on randomly distorted images.
    note : str, optional
        A caveat for results on this dataset.
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
    read: Callable[[DatasetInfo], Dataset]
    sources: tuple[Source, ...] = ()
    n_out_of_scope: int = 0
    encoder: str = ""
    encoder_seed: int = 0
    distorted: bool = False
    note: str = ""

    def load(self) -> Dataset:
        """Return the dataset, after a check of its sizes."""
        dataset = self.read(self)
        n_out_of_scope = len(dataset.samples().get("out_of_scope", ()))
        found = _sizes(
            len(dataset.X_train),
            len(dataset.X_test),
            n_out_of_scope,
            dataset.n_features,
            dataset.n_classes,
        )
        expected = _sizes(
            self.n_train, self.n_test, self.n_out_of_scope, self.n_features, self.n_classes
        )
        if found != expected:
            raise ValueError(f"{self.name} has {found}; expected {expected}")
        return dataset


def _sizes(n_train: int, n_test: int, n_out_of_scope: int, n_features: int, n_classes: int) -> str:
    samples = f"{n_train} + {n_test} + {n_out_of_scope} samples"
    return f"{samples} of {n_features} features in {n_classes} classes"
