"""The first hundred classes of Tiny-ImageNet, in the shape of CIFAR-100."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.npz import get_array, read_npz
from kenyon_lab.data.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOURCE = Source(
    "tiny100/tiny100-efficientnet-lite0-512.npz",
    "89a2a234a97d881035c8777912f9ac6bfa3f15e6bb38672c2d54c2624918841d",
)


def _read(info: DatasetInfo) -> Dataset:
    (source,) = info.sources
    name, keys = source.path, ("x_train", "y_train", "x_test", "y_test", "wnids")
    arrays = read_npz(source.read(), name, keys)

    def features(part: str) -> NDArray[np.float32]:
        levels = get_array(arrays, f"x_{part}", name, "u", 2)
        # The quantisation is finer near zero, where most activations lie.
        return 6 * np.square(levels / np.float32(255))

    return Dataset(
        name=info.name,
        X_train=features("train"),
        y_train=get_array(arrays, "y_train", name, "iu", 1).astype(np.intp),
        X_test=features("test"),
        y_test=get_array(arrays, "y_test", name, "iu", 1).astype(np.intp),
        class_names=tuple(get_array(arrays, "wnids", name, "U", 1).tolist()),
        n_tasks=info.n_tasks,
    )


FEATURES = DatasetInfo(
    name="tiny100",
    summary="Tiny-ImageNet through EfficientNet",
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
        "In the shape of CIFAR-100: images reduced to 32 x 32 pixels, enlarged to "
        "128 x 128, and encoded by 512 of EfficientNet's 1280 pooled channels. The encoder was "
        "trained on these classes in ImageNet, so accuracies are optimistic for every method."
    ),
)
