"""Tiny-ImageNet's first hundred classes: a stand-in for CIFAR-100, with the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.entry import Entry
from kenyon_lab.data.npz import read_npz, take
from kenyon_lab.data.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOURCE = Source(
    "tiny100/tiny100-efficientnet-lite0-512.npz",
    "89a2a234a97d881035c8777912f9ac6bfa3f15e6bb38672c2d54c2624918841d",
)


def _read(entry: Entry) -> Dataset:
    (source,) = entry.sources
    arrays, name = read_npz(source.read(), source.path), source.path

    def features(part: str) -> NDArray[np.float32]:
        levels = take(arrays, f"x_{part}", name, "u", 2)
        # The levels are finer near zero, where most of the activations are.
        return 6 * np.square(levels / np.float32(255))

    return Dataset(
        name=entry.name,
        X_train=features("train"),
        y_train=take(arrays, "y_train", name, "iu", 1).astype(np.intp),
        X_test=features("test"),
        y_test=take(arrays, "y_test", name, "iu", 1).astype(np.intp),
        class_names=tuple(take(arrays, "wnids", name, "U", 1).tolist()),
        n_tasks=entry.n_tasks,
    )


FEATURES = Entry(
    name="tiny100",
    summary="Tiny-ImageNet through EfficientNet, for CIFAR-100",
    n_train=50_000,
    n_test=5_000,
    n_features=512,
    n_classes=100,
    n_tasks=25,
    licence="research use",
    citation=(
        "Le, Yang 2015, Tiny ImageNet Visual Recognition Challenge; "
        "Tan, Le 2019, EfficientNet, arXiv:1905.11946"
    ),
    read=_read,
    sources=(SOURCE,),
    note=(
        "A stand-in for CIFAR-100 of the same shape: images reduced to 32 x 32, enlarged to 128 x "
        "128, 512 of the encoder's 1280 pooled channels. The encoder has seen these classes in "
        "ImageNet, so figures are optimistic, for every method alike."
    ),
)
