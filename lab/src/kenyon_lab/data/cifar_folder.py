"""CIFAR-100 as image files in the user's data folder: one sheet a class, or one PNG an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kenyon_lab.data.cifar_images import SIDE, Images, digest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS = 25
"""Images in a row of a sheet."""


def read_folder(folder: Path, digests: tuple[str, str]) -> Images:
    """Return the images in a folder that has the folders train and test.

    With a file classes.txt of names, they hold one sheet CC-name.webp for each class, with CC its
    label and 25 images in a row. Otherwise they hold one folder of PNG files for each class, and
    the labels are in the order of the names.

    Parameters
    ----------
    folder : path
    digests : tuple of str
        `cifar_images.digest` of the training and of the test images.

    Raises
    ------
    FileNotFoundError
        If the files of a class are missing.
    ValueError
        If a file is damaged, or the images are not those of the digests.
    """
    if (folder / "classes.txt").is_file():
        names = tuple((folder / "classes.txt").read_text(errors="replace").split())
        _check_classes(folder / "classes.txt", names)
        files = [f"{label:02}-{name}.webp" for label, name in enumerate(names)]
        read = _read_sheet
    else:
        names = tuple(sorted(path.name for path in (folder / "train").iterdir() if path.is_dir()))
        _check_classes(folder / "train", names)
        files, read = list(names), _read_class
    train, test = ([read(folder / part / file) for file in files] for part in ("train", "test"))
    return Images(
        *_join(train, names, folder / "train", digests[0]),
        *_join(test, names, folder / "test", digests[1]),
        names,
    )


def _join(
    classes: list[NDArray[np.uint8]], names: tuple[str, ...], path: Path, expected: str
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the images of all classes and their labels, after a check of the digest."""
    X = np.concatenate(classes)
    y = np.repeat(np.arange(len(names), dtype=np.uint8), [len(images) for images in classes])
    found = digest(X, y, names)
    if found != expected:
        raise ValueError(
            f"{path} is damaged or another dataset: it has {len(X)} images of {len(names)} classes "
            f"with the digest {found}; expected {expected}"
        )
    return X, y


def _check_classes(path: Path, names: tuple[str, ...]) -> None:
    # Labels are uint8, as in the binary release.
    if not 1 <= len(names) <= 256:
        raise ValueError(f"{path} must name from 1 to 256 classes; got {len(names)}")


def _read_sheet(path: Path) -> NDArray[np.uint8]:
    pixels = _decode(path)
    height, width = pixels.shape[:2]
    if height % SIDE or width != COLUMNS * SIDE:
        raise ValueError(
            f"{path} has {width} x {height} pixels; expected a width of {COLUMNS * SIDE} and a "
            f"height that is a multiple of {SIDE}"
        )
    tiles = pixels.reshape(height // SIDE, SIDE, COLUMNS, SIDE, 3)
    return tiles.swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)


def _read_class(path: Path) -> NDArray[np.uint8]:
    files = sorted(path.glob("*.png"))
    if not files:
        raise FileNotFoundError(f"there are no PNG files in {path}")
    return np.stack([_read_image(file) for file in files])


def _read_image(path: Path) -> NDArray[np.uint8]:
    pixels = _decode(path)
    if pixels.shape[:2] != (SIDE, SIDE):
        height, width = pixels.shape[:2]
        raise ValueError(f"{path} has {width} x {height} pixels; expected {SIDE} x {SIDE}")
    return pixels


def _decode(path: Path) -> NDArray[np.uint8]:
    """Return the pixels of an RGB image."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            f"{path.suffix} files need Pillow, which is not installed: "
            "pip install 'kenyon-lab[images]'"
        ) from None
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with Image.open(path, formats=["PNG", "WEBP"]) as image:
            mode, pixels = image.mode, np.asarray(image)
    # Pillow raises errors of many types for a damaged file.
    except Exception as error:
        raise ValueError(f"{path} is damaged, or not an image") from error
    if mode != "RGB":
        raise ValueError(f"{path} must hold RGB colours; got the mode {mode}")
    return pixels
