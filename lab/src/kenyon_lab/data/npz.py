"""Arrays from .npz files, without unpickling anything.

The header of each array is read first. The array is decompressed only if the size that its header
declares is allowed, and never to more bytes than that.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from kenyon_lab.data.sizes import check_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

# NumPy and zipfile raise these for corrupt bytes.
_CORRUPT = (
    *(EOFError, MemoryError, OSError, OverflowError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)
_SUFFIX = ".npy"
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAX_HEADER = 10_000  # As in `numpy.load`.
_MAX_BEGINNING = npy.MAGIC_LEN + 4 + _MAX_HEADER
_MAX_DIMENSIONS = 32
_PIECE = 2**20


class _Header(NamedTuple):
    """The beginning of a member: its length, and the array that it declares."""

    length: int
    shape: tuple[int, ...]
    in_columns: bool
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """Size of the array's data."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def cost(self) -> int:
        """Size of the array's data; empty rows and empty strings count as one item, one byte."""
        return math.prod(max(size, 1) for size in self.shape) * max(self.dtype.itemsize, 1)


def names_in_npz(content: bytes, name: str) -> list[str]:
    """Return the sorted names of all arrays; nothing is decompressed."""
    with _open(content, name) as archive:
        return sorted(_members(archive))


def read_npz(
    content: bytes, name: str, keys: Iterable[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return arrays from the content of an .npz file.

    Parameters
    ----------
    content : bytes
    name : str
        The file in errors.
    keys : iterable of str, optional
        Names of the arrays, by default of all. Nothing else in the file is decompressed.

    Raises
    ------
    ValueError
        If the file is damaged, lacks an array, or declares arrays that are too large.
    """
    available = names_in_npz(content, name)
    keys = available if keys is None else list(keys)
    if missing := [key for key in keys if key not in available]:
        raise ValueError(
            f"{name} lacks the array {missing[0]!r}; it has {', '.join(available) or 'none'}"
        )
    with _open(content, name) as archive:
        headers = {key: _read_header(archive, key) for key in keys}
    _check_sizes(name, headers)
    with _open(content, name) as archive:
        return {key: _read_array(archive, key, header) for key, header in headers.items()}


def get_array(
    arrays: dict[str, NDArray[Any]], key: str, name: str, kinds: str, n_dimensions: int
) -> NDArray[Any]:
    """Return one array of the file `name`, after a check of its dtype's kind and its dimensions."""
    array = arrays[key]
    if array.dtype.kind not in kinds or array.ndim != n_dimensions:
        raise ValueError(
            f"{name}: the array {key!r} is {array.dtype} of shape {array.shape}; expected a dtype "
            f"of the kinds {kinds!r} in {n_dimensions} dimensions"
        )
    return array


@contextmanager
def _open(content: bytes, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        if content.startswith(npy.MAGIC_PREFIX):
            raise ValueError("it is a single array")
        with zipfile.ZipFile(BytesIO(content)) as archive:
            yield archive
    except _CORRUPT as error:
        raise ValueError(
            f"{name} is damaged or not an .npz file of plain arrays: {error}"
        ) from error


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by the names of their arrays."""
    return {member.filename.removesuffix(_SUFFIX): member for member in archive.infolist()}


def _read_header(archive: zipfile.ZipFile, key: str) -> _Header:
    member = _members(archive)[key]
    # NumPy writes no others, and a few bytes of bzip2 or LZMA may stand for gigabytes.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its array {key!r} is compressed by another method than deflate")
    with archive.open(member) as file:
        beginning = BytesIO(file.read(_MAX_BEGINNING))
    if not beginning.getvalue().startswith(npy.MAGIC_PREFIX):
        raise ValueError(f"its member {key!r} is not an array")
    version = npy.read_magic(beginning)
    if version not in _READERS:
        raise ValueError(f"its array {key!r} has the format {version}; expected (1, 0) or (2, 0)")
    shape, in_columns, dtype = _READERS[version](beginning, max_header_size=_MAX_HEADER)
    if dtype.hasobject:
        raise ValueError(
            f"Object arrays are not loaded, and {key!r} is one (save text with astype(str))"
        )
    if len(shape) > _MAX_DIMENSIONS or not all(0 <= size < 2**63 for size in shape):
        raise ValueError(f"its array {key!r} has an impossible shape")
    return _Header(beginning.tell(), shape, in_columns, dtype)


def _check_sizes(name: str, headers: dict[str, _Header]) -> None:
    for key, header in headers.items():
        what = f"{name}: the array {key!r}, {header.dtype} of shape {header.shape},"
        check_size(what, header.cost)
    total = sum(header.cost for header in headers.values())
    check_size(f"{name}: the arrays {', '.join(headers)} together", total)


def _read_array(archive: zipfile.ZipFile, key: str, header: _Header) -> NDArray[Any]:
    member = _members(archive)[key]
    declared = header.length + header.n_bytes
    # Otherwise bytes after the array would not be noticed, nor would their checksum.
    if member.file_size != declared:
        raise ValueError(
            f"its array {key!r} has {member.file_size} bytes; its header declares {declared}"
        )
    array = np.empty(header.shape, header.dtype, order="F" if header.in_columns else "C")
    with archive.open(member) as file:
        file.read(header.length)
        for piece in _pieces(array, header):
            # A shorter read raises ValueError.
            piece[:] = file.read(len(piece))
    return array


def _pieces(array: NDArray[Any], header: _Header) -> Iterator[memoryview]:
    """Yield the memory of an array, in the order of a file."""
    if not header.n_bytes:
        return
    memory = (array.T if header.in_columns else array).reshape(-1).view(np.uint8).data
    for start in range(0, header.n_bytes, _PIECE):
        yield memory[start : start + _PIECE]
