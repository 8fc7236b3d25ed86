"""Images of requests: rows of grey pixels, or files in base64."""

from __future__ import annotations

import base64
import binascii
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_PIXELS = 2**24
"""Pixels of all files of a request. A file of some kilobytes may have billions."""
FORMATS = "PNG", "JPEG"


class Images:
    """The images of one request, whose files may have so many pixels together."""

    def __init__(self) -> None:
        self._n_pixels = 0

    def read(self, i: int, image: str | Sequence[Sequence[int]]) -> Any:
        """Return samples[i].image as the encoder takes it, or raise the problem with it."""
        if isinstance(image, str):
            return self._read_file(i, image)
        return _read_rows(i, image)

    def _read_file(self, i: int, image: str) -> NDArray[Any]:
        from PIL import Image, ImageOps

        try:
            content = base64.b64decode(image, validate=True)
        except (binascii.Error, ValueError):
            raise Problem(400, f"samples[{i}].image is not base64") from None
        # Pillow raises errors of any type for a damaged file.
        try:
            opened = Image.open(io.BytesIO(content), formats=FORMATS)
        # Pillow has a limit, too; its warning is an error where users say so.
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise _too_large() from None
        except Exception:
            raise Problem(422, f"samples[{i}].image is no {' or '.join(FORMATS)} file") from None
        with opened:
            # The size is known before a pixel is decoded.
            self._n_pixels += opened.width * opened.height
            if self._n_pixels > MAX_PIXELS:
                raise _too_large()
            try:
                upright = ImageOps.exif_transpose(opened).convert("RGBA")
            except Exception:
                raise Problem(422, f"samples[{i}].image is damaged") from None
        ground = Image.new("RGBA", upright.size, "white")
        return np.asarray(Image.alpha_composite(ground, upright).convert("RGB"))


def _too_large() -> Problem:
    return Problem(413, f"the images of a request may have {MAX_PIXELS} pixels together at most")


def _read_rows(i: int, image: Sequence[Sequence[int]]) -> NDArray[np.uint8]:
    if not image or len({len(row) for row in image}) != 1 or not image[0]:
        raise Problem(422, f"samples[{i}].image must have rows of one length, of 1 or more")
    return np.array(image, dtype=np.uint8)
