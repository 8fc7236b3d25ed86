"""CIFAR-100's archive: the layout of a record, and invalid archives."""

import gzip
import io
import tarfile
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.cifar_archive import read_archive

NAMES = ("apple", "aquarium_fish", "baby")
RECORD = 2 + 3072


def records(labels, seed=0):
    """Records as in train.bin: a coarse label, a fine one, then 3,072 bytes."""
    rows = np.random.default_rng(seed).integers(256, size=(len(labels), RECORD), dtype=np.uint8)
    rows[:, 0] = 19
    rows[:, 1] = labels
    return rows


TRAIN, TEST = records([0, 2, 1, 0, 1]), records([2, 0], seed=1)
MEMBERS = {
    "train.bin": TRAIN.tobytes(),
    "test.bin": TEST.tobytes(),
    "fine_label_names.txt": "".join(f"{name}\n" for name in NAMES).encode(),
    "coarse_label_names.txt": b"aquatic_mammals\n",
}


def archive(folder="cifar-100-binary", **changes):
    """The archive with some members changed, or left out where they are None."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, content in (MEMBERS | changes).items():
            if content is not None:
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return file.getvalue()


@pytest.fixture
def error_of(give):
    def error_of(content):
        with pytest.raises(ValueError) as caught:
            read_archive(give(IMAGES.path, content))
        assert IMAGES.path in str(caught.value)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return error_of


def test_images_labels_and_names(give):
    images = read_archive(give(IMAGES.path, archive()))
    assert images.class_names == NAMES
    for X, y, rows in (
        (images.X_train, images.y_train, TRAIN),
        (images.X_test, images.y_test, TEST),
    ):
        assert X.shape == (len(rows), 32, 32, 3)
        assert X.dtype == np.uint8
        assert_array_equal(y, rows[:, 1], strict=True)


@pytest.mark.parametrize(
    ("row", "column", "channel"), product((0, 1, 17, 31), (0, 1, 30, 31), (0, 1, 2))
)
def test_layout_of_pixels(give, row, column, channel):
    images = read_archive(give(IMAGES.path, archive()))
    place = 2 + 1024 * channel + 32 * row + column
    assert_array_equal(images.X_train[:, row, column, channel], TRAIN[:, place])


@pytest.mark.parametrize(
    "n_bytes", [0, 1, 2, RECORD - 1, RECORD + 1, 5 * RECORD - 1, 5 * RECORD + 1]
)
@pytest.mark.parametrize("name", ["train.bin", "test.bin"])
def test_rejects_incomplete_records(error_of, name, n_bytes):
    said = error_of(archive(**{name: (TRAIN.tobytes() + b"!")[:n_bytes]}))
    assert f"{name} in {IMAGES.path} has {n_bytes} bytes" in said


@pytest.mark.parametrize("name", ["train.bin", "test.bin"])
@pytest.mark.parametrize("label", [3, 99, 255])
def test_rejects_labels_out_of_range(error_of, name, label):
    said = error_of(archive(**{name: records([0, label]).tobytes()}))
    assert f"{name} in {IMAGES.path} has the label {label}; expected 0 to 2" in said


@pytest.mark.parametrize("name", ["train.bin", "test.bin", "fine_label_names.txt"])
def test_rejects_archive_without_a_member(error_of, name):
    assert name in error_of(archive(**{name: None}))


def test_rejects_archive_without_names(error_of):
    error_of(archive(**{"fine_label_names.txt": b"\n"}))


def test_rejects_names_that_are_not_text(error_of):
    error_of(archive(**{"fine_label_names.txt": b"\xff\xfe\n"}))


def test_rejects_another_archive(error_of):
    assert "is not CIFAR-100's binary release" in error_of(archive(folder="cifar-100-python"))


def test_rejects_folder_as_member(error_of):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        member = tarfile.TarInfo("cifar-100-binary/train.bin")
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    assert "train.bin is not a file" in error_of(file.getvalue())


def test_rejects_truncated_archive(error_of):
    whole = archive()
    for length in (*range(0, 60, 7), *range(60, len(whole), 997), len(whole) - 9, len(whole) - 1):
        error_of(whole[:length])


def test_rejects_truncated_tar(error_of):
    tar = gzip.decompress(archive())
    for length in (0, 100, 512, 600, 512 + RECORD, 512 + 5 * RECORD + 10):
        error_of(gzip.compress(tar[:length]))


def test_damaged_archive_is_not_misread(give):
    whole = archive()
    sound = read_archive(give(IMAGES.path, whole))
    for place in range(0, len(whole), 499):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        with suppress(ValueError):
            images = read_archive(give(IMAGES.path, bytes(damaged)))
            assert_array_equal(images.X_train, sound.X_train)
