"""Printed names of datasets and numbers of seeds; imports no plotting library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon_lab.methods import METHODS

if TYPE_CHECKING:
    from kenyon_lab.protocol.summary import Summary

_DATASETS = {
    "mnist20": "MNIST-20",
    "mnist20-distorted": "MNIST-20, distorted",
    "cifar100": "CIFAR-100, MobileNetV2",
    "cifar100-resnet50": "CIFAR-100, ResNet50",
    "cifar100-resnet18": "CIFAR-100, ResNet18",
    "clinc150": "CLINC150",
    "tiny100": "Tiny-100",
}


def dataset_title(name: str) -> str:
    """Return the printed name of a dataset."""
    return _DATASETS.get(name, name)


def count_seeds(n: int) -> str:
    """Return "1 seed", "2 seeds", ..."""
    return f"{n} seed{'s' if n > 1 else ''}"


def describe_seeds(runs: dict[str, Summary]) -> str:
    """Return the most seeds of these methods, and the methods that have fewer."""
    counts = {method: len(summary.records) for method, summary in runs.items()}
    most = max(counts.values())
    fewer = [f"{METHODS[name].title} {count}" for name, count in counts.items() if count < most]
    return ", ".join([count_seeds(most), *fewer])
