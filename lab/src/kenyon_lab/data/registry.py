"""The registry of datasets, and `load`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon_lab.data import cifar100, clinc150, digits, mnist20, tiny100
from kenyon_lab.data.user_files import SUFFIXES, is_user_file, read_user_file

if TYPE_CHECKING:
    from os import PathLike

    from kenyon_lab.data.dataset import Dataset

DATASETS = {
    info.name: info
    for info in (
        mnist20.FEATURES,
        *mnist20.SEEDED,
        mnist20.DISTORTED,
        mnist20.PIXELS,
        mnist20.PAPER,
        clinc150.FEATURES,
        cifar100.FEATURES,
        cifar100.RESNET50_FEATURES,
        cifar100.RESNET18_FEATURES,
        tiny100.FEATURES,
        digits.PIXELS,
    )
}


def dataset_of_seed(name: str, seed: int) -> str:
    """Return the name of the features that a run with a seed uses.

    Run i of the reproduction uses features of the encoder that was trained with seed i. Datasets
    whose encoder is not trained, and seeds that no encoder was trained with, have one name.

    Examples
    --------
    >>> print(dataset_of_seed("mnist20", 0), dataset_of_seed("mnist20", 3))
    mnist20 mnist20-seed3
    """
    of_seed = f"{name}-seed{seed}"
    return of_seed if of_seed in DATASETS else name


def load(
    name: str | PathLike[str],
    *,
    n_tasks: int | None = None,
    label: str | None = None,
    seed: int | None = None,
) -> Dataset:
    """Return a dataset, by name or from a file.

    Parameters
    ----------
    name : str or path
        A name in `kenyon_lab.data.DATASETS`; or the path of an .npz file with the arrays X_train,
        y_train, X_test and y_test, or X and y; or the path of a .csv or .parquet table with one
        column of labels and features in all other columns.
    n_tasks : int, optional
        Number of tasks that the classes are split into, by default that of the dataset.
    label : str, optional
        The column of labels in a table, by default "label".
    seed : int, optional
        Seed of the train-test split, by default 0. Only for files that are not split.

    Returns
    -------
    dataset : Dataset

    Raises
    ------
    ValueError
        If the name is unknown, or the content of a file is invalid.
    FileNotFoundError
        If a file is missing and cannot be downloaded, or the features have not been built.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon_lab.data import load
    >>> digits = load("digits")
    >>> fly = FlyClassifier().fit(digits.X_train, digits.y_train)
    >>> fly.score(digits.X_test, digits.y_test) > 0.9
    True
    """
    if is_user_file(Path(name)):
        dataset = read_user_file(Path(name), label, 0 if seed is None else seed)
    elif str(name) in DATASETS:
        for option, value in (("label", label), ("seed", seed)):
            if value is not None:
                raise ValueError(f"{option} must be None for the dataset {name}; got {value!r}")
        dataset = DATASETS[str(name)].load()
    else:
        raise ValueError(
            f"name must be one of {', '.join(DATASETS)}, or a file that ends in "
            f"{', '.join(SUFFIXES)}; got {str(name)!r}"
        )
    return dataset if n_tasks is None else replace(dataset, n_tasks=n_tasks)
