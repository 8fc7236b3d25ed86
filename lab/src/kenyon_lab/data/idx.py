"""IDX, the file format of MNIST: a magic number, the sizes, then the bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNSIGNED_BYTES = 0x08


def read_idx(content: bytes, name: str, n_dimensions: int) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in the content of an IDX file.

    Errors call the file by `name`.
    """
    magic = bytes([0, 0, UNSIGNED_BYTES, n_dimensions])
    if content[:4] != magic:
        raise ValueError(
            f"{name} begins with {content[:4].hex() or 'nothing'}; expected {magic.hex()}, an IDX "
            f"file of bytes in {n_dimensions} dimensions"
        )
    start = 4 + 4 * n_dimensions
    if len(content) < start:
        raise ValueError(f"{name} is truncated: it has {len(content)} of {start} header bytes")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    if len(content) - start != math.prod(shape):
        raise ValueError(
            f"{name} has {len(content) - start} bytes of data; its shape {shape} needs "
            f"{math.prod(shape)}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
