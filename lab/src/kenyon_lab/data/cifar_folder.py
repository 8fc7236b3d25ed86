"""CIFAR-100 as image files in the user's data folder: one sheet a class, or one PNG an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.data.cifar_images import SIDE, Images, digest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS = 25
"""Images in a row of a sheet."""


def is_folder_of_sheets(folder: Path) -> bool:
    """Return whether there is a list of classes, which belongs to the sheets."""
    return (folder / "classes.txt").is_file()


def is_folder_of_png(folder: Path) -> bool:
    """Return whether there is a folder of training images."""
    return (folder / "train").is_dir()


def read_sheets(folder: Path, digests: tuple[str, str]) -> Images:
    """Return the images of the sheets {train,test}/CC-name.webp, with CC the label.

    A sheet holds the images of a class row by row, 25 in a row. classes.txt holds the names.

    Raises
    ------
    FileNotFoundError
        If a sheet is missing.
    ValueError
        If a sheet is damaged, or the images are not those of the digests.
    """
    names = _read_names(folder / "classes.txt")
    sheets = [f"{label:02}-{name}.webp" for label, name in enumerate(names)]
    parts = [[_read_sheet(folder / part / sheet) for sheet in sheets] for part in ("train", "test")]
    return _join(folder, parts, names, digests)


def read_png_folder(folder: Path, digests: tuple[str, str]) -> Images:
    """Return the images {train,test}/name-of-the-class/*.png, in the order of the names.

    Raises
    ------
    FileNotFoundError
        If a class has no images.
    ValueError
        If an image is damaged, or the images are not those of the digests.
    """
    names = tuple(sorted(path.name for path in (folder / "train").iterdir() if path.is_dir()))
    if not names:
        raise FileNotFoundError(f"{folder / 'train'} has no folders of classes with PNG files")
    parts = [[_read_class(folder / part / name) for name in names] for part in ("train", "test")]
    return _join(folder, parts, names, digests)


def _read_names(path: Path) -> tuple[str, ...]:
    try:
        names = tuple(path.read_text(encoding="utf-8").split())
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must hold the names of classes; got {error}") from error
    if not names:
        raise ValueError(f"{path} must hold the names of classes; got none")
    return names


def _read_sheet(path: Path) -> NDArray[np.uint8]:
    pixels = _decode(path)
    height, width = pixels.shape[:2]
    if height % SIDE or width != COLUMNS * SIDE:
        raise ValueError(
            f"{path} has {width} x {height} pixels; expected a width of {COLUMNS * SIDE} and a "
            f"multiple of {SIDE} as height"
        )
    tiles = pixels.reshape(height // SIDE, SIDE, COLUMNS, SIDE, 3)
    return tiles.swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)


def _read_class(folder: Path) -> NDArray[np.uint8]:
    paths = sorted(folder.glob("*.png"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no PNG files")
    return np.stack([_read_image(path) for path in paths])


def _read_image(path: Path) -> NDArray[np.uint8]:
    pixels = _decode(path)
    if pixels.shape[:2] != (SIDE, SIDE):
        height, width = pixels.shape[:2]
        raise ValueError(f"{path} has {width} x {height} pixels; expected {SIDE} x {SIDE}")
    return pixels


def _decode(path: Path) -> NDArray[np.uint8]:
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
        with Image.open(path, formats=["WEBP", "PNG"]) as image:
            mode = image.mode
            pixels = np.asarray(image)
    # Pillow raises errors of any type for a damaged file.
    except Exception as error:
        raise ValueError(f"{path} is damaged, or not an image") from error
    if mode != "RGB":
        raise ValueError(f"{path} must be an image of RGB colours; got the mode {mode}")
    return pixels


def _join(
    folder: Path, parts: list[list[NDArray[Any]]], names: tuple[str, ...], digests: tuple[str, str]
) -> Images:
    arrays: list[NDArray[np.uint8]] = []
    for part, classes, expected in zip(("train", "test"), parts, digests, strict=True):
        X = np.concatenate(classes)
        y = np.repeat(np.arange(len(names), dtype=np.uint8), [len(images) for images in classes])
        found = digest(X, y)
        if found != expected:
            raise ValueError(
                f"{folder / part} is damaged or another dataset: it has {len(X)} images of "
                f"{len(names)} classes with the digest {found}; expected the digest {expected}"
            )
        arrays += [X, y]
    return Images(*arrays, names)
