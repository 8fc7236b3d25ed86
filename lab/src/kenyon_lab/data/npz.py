"""Arrays from .npz files, without unpickling anything."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# NumPy and zipfile raise these for corrupt bytes; MemoryError because a header may name any size.
_CORRUPT = (
    *(EOFError, MemoryError, OSError, OverflowError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, LZMAError),
)


def read_npz(content: bytes, name: str) -> dict[str, NDArray[Any]]:
    """Return all arrays in the content of an .npz file; errors call the file by `name`."""
    try:
        arrays = np.load(BytesIO(content), allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("it is a single array")
        with arrays:
            members = dict(arrays)
        if other := [key for key, array in members.items() if not isinstance(array, np.ndarray)]:
            raise ValueError(f"its member {other[0]!r} is not an array")
    except _CORRUPT as error:
        hint = " (save text with astype(str))" if "Object arrays" in str(error) else ""
        raise ValueError(
            f"{name} is damaged or not an .npz file of plain arrays: {error}{hint}"
        ) from error
    return members


def get_array(
    arrays: dict[str, NDArray[Any]], key: str, name: str, kinds: str, n_dimensions: int
) -> NDArray[Any]:
    """Return one array of the file `name`, after a check of its dtype's kind and its dimensions."""
    if key not in arrays:
        raise ValueError(f"{name} lacks the array {key!r}; it has {', '.join(sorted(arrays))}")
    array = arrays[key]
    if array.dtype.kind not in kinds or array.ndim != n_dimensions:
        raise ValueError(
            f"{name}: the array {key!r} is {array.dtype} of shape {array.shape}; expected a dtype "
            f"of the kinds {kinds!r} in {n_dimensions} dimensions"
        )
    return array
