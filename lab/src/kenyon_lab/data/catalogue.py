"""All datasets by their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon_lab.data import cifar100, clinc150, digits, mnist20, tiny100
from kenyon_lab.data.own import SUFFIXES, is_own, read_own

if TYPE_CHECKING:
    from os import PathLike

    from kenyon_lab.data.dataset import Dataset

CATALOGUE = {
    entry.name: entry
    for entry in (
        mnist20.FEATURES,
        mnist20.PIXELS,
        mnist20.PAPER,
        clinc150.FEATURES,
        cifar100.FEATURES,
        tiny100.FEATURES,
        digits.FEATURES,
    )
}


def load(
    name: str | PathLike[str],
    *,
    n_tasks: int | None = None,
    label: str | None = None,
    seed: int | None = None,
) -> Dataset:
    """Return a dataset: one of the catalogue, or one of your own.

    Parameters
    ----------
    name : str or path
        A name in `kenyon_lab.data.CATALOGUE`, or a file of your own: an .npz file with the arrays
        X_train, y_train, X_test and y_test, or X and y; or a .csv or .parquet table with one column
        of labels and features in all others.
    n_tasks : int, optional
        Into how many tasks the classes are split, if not as usual for this dataset.
    label : str, optional
        The column of labels in a table of your own, by default "label".
    seed : int, optional
        Draws the samples to test on where a file of your own does not say which they are, by
        default 0.

    Returns
    -------
    dataset : Dataset

    Raises
    ------
    ValueError
        If there is no such dataset, or a file does not hold what it should.
    FileNotFoundError
        If a file is missing and cannot be downloaded, or features have not been built.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon_lab.data import load
    >>> digits = load("digits")
    >>> fly = FlyClassifier().fit(digits.X_train, digits.y_train)
    >>> fly.score(digits.X_test, digits.y_test) > 0.9
    True
    """
    if is_own(Path(name)):
        dataset = read_own(Path(name), label, 0 if seed is None else seed)
    elif str(name) in CATALOGUE:
        for option, value in (("label", label), ("seed", seed)):
            if value is not None:
                raise ValueError(f"{option} is for files of your own; got {value!r} for {name}")
        dataset = CATALOGUE[str(name)].load()
    else:
        raise ValueError(
            f"name must be one of {', '.join(CATALOGUE)}, or a file that ends in "
            f"{', '.join(SUFFIXES)}; got {str(name)!r}"
        )
    return dataset if n_tasks is None else replace(dataset, n_tasks=n_tasks)
