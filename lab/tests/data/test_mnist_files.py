"""Images and labels in IDX and .npz files."""

import gzip
import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data.mnist_files import read_mnist_files
from lab.tests.data.test_idx import write_idx

X = np.random.default_rng(0).integers(256, size=(20, 28, 28), dtype=np.uint8)
Y = np.arange(20, dtype=np.uint8) % 10


def as_npz(array, key="arr_0"):
    file = io.BytesIO()
    np.savez_compressed(file, **{key: array})
    return file.getvalue()


def as_idx(array):
    return gzip.compress(write_idx(array))


FORMATS = {"npz": ("imgs.npz", "labels.npz", as_npz), "idx": ("imgs.gz", "labels.gz", as_idx)}


@pytest.fixture(params=FORMATS.values(), ids=FORMATS.keys())
def read(request, give):
    """Write images and labels in one of the formats, and read them."""
    images_name, labels_name, write = request.param

    def read(images=X, labels=Y):
        return read_mnist_files(
            give(f"kmnist/{images_name}", images if isinstance(images, bytes) else write(images)),
            give(f"kmnist/{labels_name}", labels if isinstance(labels, bytes) else write(labels)),
        )

    read.write = write
    return read


def test_images_and_labels(read):
    images, labels = read()
    assert_array_equal(images, X, strict=True)
    assert_array_equal(labels, Y, strict=True)


@pytest.mark.parametrize(
    "images", [X[:19], X[:, :27], X[:, :, :27], X[:0]], ids=["few", "low", "narrow", "none"]
)
def test_rejects_images_of_another_shape(read, images):
    with pytest.raises(ValueError, match="kmnist/imgs"):
        read(images=images)


@pytest.mark.parametrize("images", [Y, X[0], X[np.newaxis]], ids=["1d", "2d", "4d"])
def test_rejects_images_of_other_dimensions(read, images):
    with pytest.raises(ValueError, match="kmnist/imgs"):
        read(images=images)


@pytest.mark.parametrize(
    "labels",
    [Y[:19], Y + 1, np.minimum(Y, 8), np.where(Y == 3, 200, Y).astype(np.uint8), Y * 0, Y[:0]],
    ids=["few", "too high", "one missing", "out of range", "all the same", "none"],
)
def test_rejects_invalid_labels(read, labels):
    with pytest.raises(ValueError, match="kmnist/labels"):
        read(labels=labels)


def test_rejects_files_cut_short(read):
    whole = read.write(Y)
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        with pytest.raises(ValueError, match="kmnist/labels"):
            read(labels=whole[:length])
    whole = read.write(X)
    for length in (0, 1, 4, 10, 16, 100, len(whole) // 2, len(whole) - 1):
        with pytest.raises(ValueError, match="kmnist/imgs"):
            read(images=whole[:length])


def npz_pair(give, images, labels):
    return give("kmnist/imgs.npz", as_npz(images)), give("kmnist/labels.npz", as_npz(labels))


@pytest.mark.parametrize(
    "images", [X.astype(np.float32), X.astype(np.int16), X.astype(str)], ids=["f4", "i2", "str"]
)
def test_rejects_images_of_another_type(give, images):
    with pytest.raises(ValueError, match=r"kmnist/imgs\.npz"):
        read_mnist_files(*npz_pair(give, images, Y))


@pytest.mark.parametrize(
    "labels",
    [
        np.where(Y == 0, -1, Y.astype(int)),
        np.where(Y == 4, 4.5, Y),
        Y.astype(str),
        Y[:, np.newaxis],
    ],
    ids=["negative", "fractions", "strings", "a column"],
)
def test_rejects_labels_of_another_kind(give, labels):
    with pytest.raises(ValueError, match=r"kmnist/labels\.npz"):
        read_mnist_files(*npz_pair(give, X, labels))


def test_rejects_npz_file_without_the_array(give):
    images, labels = give("kmnist/imgs.npz", as_npz(X, "imgs")), give("labels.npz", as_npz(Y))
    with pytest.raises(ValueError, match=r"kmnist/imgs\.npz lacks the array 'arr_0'; it has imgs"):
        read_mnist_files(images, labels)
