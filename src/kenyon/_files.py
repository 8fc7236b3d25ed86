"""Atomic writes: a file is written completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.numpy import save_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray


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


def write_tensors(
    path: Path, tensors: dict[str, NDArray[Any]], metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file atomically."""
    try:
        with replacing(path) as beside:
            save_file(tensors, beside, metadata)
    except SafetensorError as error:
        raise OSError(f"{path} could not be written: {error}") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
