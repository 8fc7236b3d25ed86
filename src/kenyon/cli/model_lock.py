"""One process at a time changes a model file; readers need no lock, since files are replaced."""

from __future__ import annotations

import fcntl
import os
import sys
from contextlib import contextmanager, suppress
from io import FileIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock a model file for the block, by a file `.NAME.lock` beside it.

    The kernel frees the lock when the process ends, also if it is killed. The lock file is removed
    at the end of the block; one that a killed process left is used again. On a file system without
    locks the block runs without one.

    Parameters
    ----------
    path : Path
        The model, which need not exist.
    wait : bool, default=False
        Wait while another process holds the lock.

    Raises
    ------
    OSError
        If another process holds the lock, or the lock file cannot be created.
    """
    try:
        target = path.resolve()
    except (RuntimeError, ValueError) as error:  # a loop of links, or a NUL character
        raise OSError(f"{path} could not be written: {error}") from error
    lock = target.with_name(f".{target.name}.lock")
    while True:
        with _open(lock, path) as file:
            has_locks = _lock(file, path, wait)
            # The process that held the lock before has removed the file.
            if has_locks and not _is_at(file, lock):
                continue
            try:
                yield
            finally:
                # While the lock is held, so that nobody has opened and locked another file there.
                _remove(lock)
            return


def _open(lock: Path, path: Path) -> FileIO:
    try:
        return FileIO(lock, "a")
    except OSError as error:
        # The model itself could not be written either.
        raise OSError(f"{path} could not be written: {error.strerror or error}") from error


def _lock(file: FileIO, path: Path, wait: bool) -> bool:
    """Lock a file; return False if the file system has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise BlockingIOError(
                f"another process is changing {path}: --wait waits for it"
            ) from None
    except OSError:
        return False
    else:
        return True
    print(f"Waiting for another process that is changing {path}", file=sys.stderr)
    fcntl.flock(file, fcntl.LOCK_EX)
    return True


def _is_at(file: FileIO, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
