"""Atomic writes, and files of tensors in the safetensors format."""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from safetensors import safe_open

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[Any]]

_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"U{size}": np.dtype(f"<u{size // 8}") for size in (8, 16, 32, 64)},
    **{f"I{size}": np.dtype(f"<i{size // 8}") for size in (8, 16, 32, 64)},
    **{f"F{size}": np.dtype(f"<f{size // 8}") for size in (16, 32, 64)},
}
_DTYPE_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"
_SIZE_BYTES = 8
MAX_HEADER_BYTES = 1 << 25
"""The longest header: as Python objects it takes up to 25 times as much memory."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, and replace `path` by that file when the block ends."""
    try:
        path = path.resolve()
        beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    except (RuntimeError, ValueError) as error:
        raise OSError(f"{path} cannot be the path of a file: {error}") from error
    try:
        beside.touch()
        mode = stat.S_IMODE((path if path.exists() else beside).stat().st_mode)
        yield beside
        # Some libraries create files that only their owner may read.
        beside.chmod(mode)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        reason = f"could not be written: {error.strerror or error}"
        raise OSError(error.errno, reason, str(path)) from error
    finally:
        with suppress(OSError):
            beside.unlink()


class TensorFile:
    """A safetensors file, mapped into memory: its tensors are read-only views of it.

    Raises
    ------
    OSError, SafetensorError
        If it cannot be read, or is no safetensors file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(_SIZE_BYTES), "little")
        if size > MAX_HEADER_BYTES:
            raise ValueError(f"its header has {size} bytes, more than {MAX_HEADER_BYTES}")
        # Checks the format: all bytes belong to exactly one tensor, and so on.
        with safe_open(path, framework="numpy"):
            pass
        with path.open("rb") as file:
            self._bytes = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._start = _SIZE_BYTES + int.from_bytes(self._bytes[:_SIZE_BYTES], "little")
        self._header = parse_json(self._bytes[_SIZE_BYTES : self._start].decode())
        self.metadata: dict[str, str] = self._header.pop(_METADATA, {})

    @property
    def n_tensors(self) -> int:
        """The number of tensors."""
        return len(self._header)

    def tensors(self) -> Tensors:
        """Return all tensors; raise ValueError for a type that NumPy lacks."""
        return {name: self._view(**place) for name, place in self._header.items()}

    def _view(self, dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
        if dtype not in _DTYPES:
            raise ValueError(f"a tensor is of the type {dtype!r}")
        first, end = (self._start + offset for offset in data_offsets)
        view = np.frombuffer(memoryview(self._bytes)[first:end], _DTYPES[dtype]).reshape(shape)
        if view.dtype == np.bool_ and view.view(np.uint8).max(initial=0) > 1:
            # NumPy counts such bytes when it makes room for the elements that a mask selects.
            raise ValueError("a tensor of booleans holds bytes other than 0 and 1")
        # Other programs may write tensors at places that the kernel cannot read.
        return np.require(view, requirements="A")


def parse_json(text: str) -> Any:
    """Parse JSON as the standard defines it: no NaN, no infinity, no repeated keys."""
    return json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its header repeats a key")
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"its header holds {text}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its header holds the number {text:.40}")
    return number


def write_tensors(path: Path, tensors: Tensors, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file atomically; equal arguments give equal bytes."""
    with replacing(path) as beside, beside.open("wb") as file:
        _write(file, tensors, metadata or {})


def _write(file: BinaryIO, tensors: Tensors, metadata: dict[str, str]) -> None:
    header: dict[str, Any] = {_METADATA: metadata}
    end = 0
    # The widest types first, so that each tensor is aligned.
    names = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    for name in names:
        tensor, start = tensors[name], end
        end += tensor.nbytes
        dtype, offsets = _DTYPE_NAMES[tensor.dtype], [start, end]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _SIZE_BYTES)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"the header would have {len(text)} bytes, more than {MAX_HEADER_BYTES}: the labels or "
            "names are too long"
        )
    file.write(len(text).to_bytes(_SIZE_BYTES, "little") + text)
    for name in names:
        file.write(np.ascontiguousarray(tensors[name]).data)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
