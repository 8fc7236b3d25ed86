"""Printed names of datasets and numbers of seeds; imports no plotting library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from kenyon_lab.protocol.summary import Summary

_DATASETS = {
    "mnist20": "MNIST-20",
    "tiny100": "Tiny-100, for CIFAR-100",
    "cifar100": "CIFAR-100",
    "clinc150": "CLINC150",
}


def dataset_title(name: str) -> str:
    """Return the printed name of a dataset."""
    return _DATASETS.get(name, name)


def count_seeds(n: int) -> str:
    """Return "1 seed", "2 seeds", ..."""
    return f"{n} seed{'s' if n > 1 else ''}"


def range_of_seeds(runs: dict[str, Summary]) -> str:
    """Return the fewest and the most seeds of these methods."""
    counts = [len(summary.records) for summary in runs.values()]
    fewest, most = min(counts), max(counts)
    return f"{fewest} to {most} seeds" if fewest < most else count_seeds(most)


def describe_seeds(runs: dict[str, Summary]) -> str:
    """Return the most seeds of these methods, and the methods that have fewer."""
    counts = {method: len(summary.records) for method, summary in runs.items()}
    most = max(counts.values())
    fewer = [f"{METHODS[name].title} {count}" for name, count in counts.items() if count < most]
    return ", ".join([count_seeds(most), *fewer])
