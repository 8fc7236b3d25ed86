"""Images and labels from files in the formats of MNIST and KMNIST."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.idx import read_idx
from kenyon_lab.data.npz import get_array, read_npz

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon_lab.data.source import Source

IMAGE_SHAPE = (28, 28)
N_CLASSES = 10


def read_mnist_files(images: Source, labels: Source) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the images of one split, of shape (n, 28, 28), and their labels, 0 to 9."""
    X, y = _read_array(images, 3), _read_array(labels, 1)
    if X.dtype != np.uint8 or X.shape[1:] != IMAGE_SHAPE or y.shape != X.shape[:1]:
        raise ValueError(
            f"{images.path} and {labels.path} hold {X.dtype} images of shape {X.shape} and labels "
            f"of shape {y.shape}; expected uint8 of shape (n, 28, 28) and (n,)"
        )
    found = np.unique(y)
    if not np.array_equal(found, np.arange(N_CLASSES)):
        raise ValueError(
            f"{labels.path} must hold every label from 0 to {N_CLASSES - 1} and no other; got "
            f"{', '.join(map(str, found[:20])) or 'none'}"
        )
    return X, y


def _read_array(source: Source, n_dimensions: int) -> NDArray[np.uint8]:
    content = source.read()
    if source.path.endswith(".npz"):
        arrays = read_npz(content, source.path, ["arr_0"])
        return get_array(arrays, "arr_0", source.path, "iu", n_dimensions)
    return read_idx(content, source.path, n_dimensions)
