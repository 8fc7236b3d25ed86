"""A small CIFAR-100 of random images, and its three forms on disk."""

import hashlib
from dataclasses import replace

import numpy as np
from PIL import Image

from kenyon_lab.data.cifar100 import IMAGES
from kenyon_lab.data.cifar_images import Images, digest
from lab.tests.data.test_cifar_archive import archive

NAMES = ("apple", "aquarium_fish", "baby")


def make_images():
    """Return 150 training images and 75 test images in random order."""
    rng = np.random.default_rng(0)
    arrays = []
    for n in (150, 75):
        arrays.append(rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8))
        arrays.append(rng.permutation(np.arange(n, dtype=np.uint8) % 3))
    return Images(*arrays, NAMES)


def parts(images):
    return {"train": (images.X_train, images.y_train), "test": (images.X_test, images.y_test)}


def as_archive(images):
    """Return the content of the binary release."""
    members = {"fine_label_names.txt": "\n".join(NAMES).encode()}
    for part, (X, y) in parts(images).items():
        planes = X.transpose(0, 3, 1, 2).reshape(len(X), -1)
        rows = np.concatenate([np.zeros_like(y)[:, None], y[:, None], planes], axis=1)
        members[f"{part}.bin"] = rows.tobytes()
    return archive(**members)


SMALL = make_images()
ARCHIVE = as_archive(SMALL)
SOURCE = replace(
    IMAGES,
    url=None,
    sha256=hashlib.sha256(ARCHIVE).hexdigest(),
    digests=tuple(digest(X, y, NAMES) for X, y in parts(SMALL).values()),
)


def write_archive(data):
    path = data / IMAGES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(ARCHIVE)


def write_sheets(data):
    """Write one sheet for each class, image by image."""
    folder = data / "cifar100"
    for part, (X, y) in parts(SMALL).items():
        (folder / part).mkdir(parents=True)
        for label, name in enumerate(NAMES):
            members = X[y == label]
            sheet = np.empty((32 * (len(members) // 25), 800, 3), dtype=np.uint8)
            for i, image in enumerate(members):
                top, left = 32 * (i // 25), 32 * (i % 25)
                sheet[top : top + 32, left : left + 32] = image
            path = folder / part / f"{label:02}-{name}.webp"
            Image.fromarray(sheet).save(path, lossless=True)
    (folder / "classes.txt").write_text("\n".join(NAMES) + "\n")


def write_png_files(data):
    for part, (X, y) in parts(SMALL).items():
        for i, (image, label) in enumerate(zip(X, y, strict=True)):
            path = data / "cifar100" / part / NAMES[label] / f"{i:05}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path)
