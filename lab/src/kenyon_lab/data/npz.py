"""Arrays from .npz files, with nothing in them that could be executed."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What NumPy and its helpers raise upon bytes that nobody wrote; a header may ask for any size.
_DAMAGE = (
    *(EOFError, MemoryError, OSError, OverflowError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, LZMAError),
)


def read_npz(content: bytes, name: str) -> dict[str, NDArray[Any]]:
    """Return all arrays of an .npz file, or say what is wrong with it."""
    try:
        arrays = np.load(BytesIO(content), allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("it is a single array")
        with arrays:
            members = dict(arrays)
        if strange := [key for key, array in members.items() if not isinstance(array, np.ndarray)]:
            raise ValueError(f"{strange[0]!r} in it is no array")
    except _DAMAGE as error:
        hint = " (save text with astype(str))" if "Object arrays" in str(error) else ""
        raise ValueError(
            f"{name} is damaged, or is no .npz file of plain arrays: {error}{hint}"
        ) from error
    return members


def take(
    arrays: dict[str, NDArray[Any]], key: str, name: str, kinds: str, n_dimensions: int
) -> NDArray[Any]:
    """Return one array of a file, or say that it is not there or not of such a kind."""
    if key not in arrays:
        raise ValueError(f"{name} lacks the array {key!r}; it has {', '.join(sorted(arrays))}")
    array = arrays[key]
    if array.dtype.kind not in kinds or array.ndim != n_dimensions:
        raise ValueError(
            f"{name}: the array {key!r} is {array.dtype} of the shape {array.shape}; expected "
            f"a type of the kinds {kinds!r} in {n_dimensions} dimensions"
        )
    return array
