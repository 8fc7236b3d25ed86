"""Image files, Pillow's images and arrays as RGB arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_images(X: Any) -> list[Any]:
    """Return paths, Pillow's images and arrays as a list, or raise ValueError; no file is read."""
    if isinstance(X, str | bytes | os.PathLike):
        raise ValueError(f"X must be a list of images, but is one path: {X!r:.80}")
    # A lazy frame of polars has columns, but no length.
    if hasattr(X, "__len__") and hasattr(X, "columns") and len(X.columns) == 1:
        X = X[X.columns[0]]
    if hasattr(X, "to_list"):
        X = X.to_list()
    if isinstance(X, np.ndarray) and X.dtype.kind in "OU" and X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    if isinstance(X, np.ndarray) and not (X.dtype.kind in "OU" and X.ndim == 1):
        is_grey, is_colour = X.ndim == 3, X.ndim == 4 and X.shape[3] == 3
        if X.dtype != np.uint8 or not (is_grey or is_colour):
            raise ValueError(
                "X must be uint8 of shape (n, height, width) or (n, height, width, 3), but is "
                f"{X.dtype} of shape {X.shape}"
            )
        if is_grey and X.shape[2] == 3:
            raise ValueError(f"X must be a list of images, but is one image of shape {X.shape}")
    elif not isinstance(X, np.ndarray | Sequence):
        raise ValueError(f"X must be a list of images, but is of type {type(X).__name__}")
    images = list(X)
    for i, image in enumerate(images):
        _check_image(i, image)
    return images


def _check_image(i: int, image: Any) -> None:
    if isinstance(image, str | os.PathLike) or _is_pillow(image):
        return
    if not isinstance(image, np.ndarray):
        raise ValueError(
            f"X must hold paths, Pillow's images or arrays of uint8, but X[{i}] is {image!r:.80}"
        )
    is_shaped = image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)
    if image.dtype != np.uint8 or not is_shaped or 0 in image.shape:
        raise ValueError(
            "X must hold arrays of uint8 of shape (height, width) or (height, width, 3), but "
            f"X[{i}] is {image.dtype} of shape {image.shape}"
        )


def _is_pillow(image: Any) -> bool:
    # A Pillow image exists only if Pillow was imported, so no import is needed here.
    return any(kind.__module__ == "PIL.Image" for kind in type(image).__mro__)


def read_image(image: Any, index: int | None = None) -> NDArray[np.uint8]:
    """Return an image as an RGB array, or raise OSError or ValueError.

    Errors name its index in X; None is for an image alone, of which the path says enough.
    """
    if isinstance(image, np.ndarray):
        return image if image.ndim == 3 else np.repeat(image[:, :, np.newaxis], 3, axis=2)
    if not isinstance(image, str | os.PathLike):
        try:
            return _rgb(image)
        except Exception as error:
            raise ValueError(
                f"X[{index or 0}] cannot be read as an image: {_first_line(error)}"
            ) from error
    from PIL import Image, UnidentifiedImageError

    path = os.fspath(image)
    which = "" if index is None else f", which is X[{index}]"
    end = which and f"{which},"
    try:
        with Image.open(path) as opened:
            # Pillow would start Ghostscript, which executes the file.
            if opened.format == "EPS":
                raise ValueError("it is PostScript")
            return _rgb(opened)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no image {path!r}{which}") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path!r}{end} must be an image, but is a folder") from None
    except PermissionError:
        raise PermissionError(f"the image {path!r}{end} cannot be read") from None
    except UnidentifiedImageError as error:
        raise ValueError(f"the file {path!r}{end} is damaged or no image") from error
    except Image.DecompressionBombError as error:
        raise ValueError(f"the image {path!r}{end} is too large: {_first_line(error)}") from error
    # Pillow raises errors of any type for a damaged file.
    except Exception as error:
        raise ValueError(
            f"the file {path!r}{end} is damaged or no image: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _rgb(image: Any) -> NDArray[np.uint8]:
    """Return the pixels of one of Pillow's images, upright, and on white if it is transparent."""
    from PIL import Image, ImageOps

    if 0 in image.size:
        raise ValueError("it has no pixels")
    image = ImageOps.exif_transpose(image)
    if image.mode == "F":
        raise ValueError("its pixels are floating-point numbers, whose range is unknown")
    if image.mode.startswith("I"):
        # 16 bits, of which Pillow would keep the lower 8.
        deep = np.asarray(image).astype(np.int64)
        if deep.min() < 0 or deep.max() > 65535:
            raise ValueError("its pixels are integers of more than 16 bits, whose range is unknown")
        return read_image((deep >> 8).astype(np.uint8))
    if "A" in image.mode or "a" in image.mode or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"))
