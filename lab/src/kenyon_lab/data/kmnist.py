"""KMNIST: the Japanese characters that LeNet5 learns to see with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.idx import read_idx
from kenyon_lab.data.npz import read_npz, take
from kenyon_lab.data.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_CLASSES = 10
_HOST = "http://codh.rois.ac.jp/kmnist/dataset/kmnist"

TEST_SOURCES = (
    Source(
        "kmnist/kmnist-test-imgs.npz",
        "9e19e2c2cc48cc89322e26acda94ae1b6534a91cdfc0b35e85eb90d2c86830e8",
        f"{_HOST}/kmnist-test-imgs.npz",
    ),
    Source(
        "kmnist/kmnist-test-labels.npz",
        "660f13a4705431ea2a6391c41ecbe384cd0d932c595a101ec4f3b8989e785046",
        f"{_HOST}/kmnist-test-labels.npz",
    ),
)
# Pinned as they are published: of their content no digest was found.
TRAIN_SOURCES = (
    Source(
        "kmnist/train-images-idx3-ubyte.gz",
        "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
        f"{_HOST}/train-images-idx3-ubyte.gz",
    ),
    Source(
        "kmnist/train-labels-idx1-ubyte.gz",
        "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        f"{_HOST}/train-labels-idx1-ubyte.gz",
    ),
)


def read_characters(images: Source, labels: Source) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the images of one split, of shape (n, 28, 28), and their labels."""
    X, y = _read_array(images, 3), _read_array(labels, 1)
    if X.dtype != np.uint8 or X.shape[1:] != (28, 28) or y.shape != X.shape[:1]:
        raise ValueError(
            f"{images.path} and {labels.path} hold {X.dtype} of the shape {X.shape} and labels of "
            f"the shape {y.shape}; expected uint8 of (n, 28, 28) and (n,)"
        )
    if not np.array_equal(np.unique(y), np.arange(N_CLASSES)):
        raise ValueError(f"{labels.path} must hold the labels 0 to {N_CLASSES - 1}")
    return X, y


def _read_array(source: Source, n_dimensions: int) -> NDArray[np.uint8]:
    content = source.read()
    if source.path.endswith(".npz"):
        return take(read_npz(content, source.path), "arr_0", source.path, "iu", n_dimensions)
    return read_idx(content, source.path, n_dimensions)
