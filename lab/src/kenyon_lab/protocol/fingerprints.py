"""Fingerprints of data: computed from the samples, or declared for datasets of the catalogue."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kenyon_lab.data import Dataset

DECLARED = {
    "mnist20": {"test": "7c59d93a782baa13", "validation": "9b7d1097d79f66df"},
    "mnist20-seed1": {"test": "80f98789512ea621"},
    "mnist20-seed2": {"test": "8e64a018aae7ecd4"},
    "mnist20-seed3": {"test": "d7a91c0e9e5ed35d"},
    "mnist20-seed4": {"test": "3f4dc0985107cf66"},
    "mnist20-distorted": {"test": "2cd47debdf9208fa", "validation": "7123c4b83814e5ef"},
    "cifar100": {"test": "2ac96b25013e520b", "validation": "b763030d02aa3159"},
    "cifar100-resnet50": {"test": "cf1923fe913e4069", "validation": "727be114ce2f439f"},
    "tiny100": {"test": "9875514e98f719c0", "validation": "1c29b8fdf711fe2f"},
    "clinc150": {"test": "0b0bc40a5aac450b", "validation": "e22629f65fd13dbe"},
}
"""By dataset and part, in the default number of tasks: records are found without the data.

Features that the user built may differ from ours in a few levels, or in the order of samples if
CIFAR-100 came in another form. Then their fingerprint differs.
"""

IN_ONE_TASK = {
    "mnist20": {"test": "4d87b0a0b3d877e3", "validation": "810a26535b247c3a"},
    "mnist20-distorted": {"test": "83a57815bc4be06e", "validation": "9075e589bd4905a7"},
    "cifar100": {"test": "eeee9fa5eb2dbaaa", "validation": "c5a44f815982692e"},
    "tiny100": {"test": "c314744fda3f2476", "validation": "7f7019295faa174a"},
    "clinc150": {"test": "a63f9bc9fa0e7f37", "validation": "9e459541b3b49e66"},
}
"""The same with all classes in one task."""


def compute_fingerprint(dataset: Dataset) -> str:
    """Return a hash of every sample and label, and of the number of tasks."""
    hashed = hashlib.sha256(str(dataset.n_tasks).encode())
    for array in (dataset.X_train, dataset.y_train, dataset.X_test, dataset.y_test):
        hashed.update(f"{array.dtype.str} {array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.hexdigest()[:16]
