"""The lock of a store's folder: one process at a time has it open."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from io import FileIO
from typing import TYPE_CHECKING

from kenyon.store.errors import StoreInUse

if TYPE_CHECKING:
    from pathlib import Path


class FolderLock:
    """Locks a folder until it is freed or the process ends.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    StoreInUse
        If it is locked already.
    OSError
        If the file of the lock cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._file: FileIO | None = None
        _held.add(self)
        try:
            self._file = FileIO(folder / "lock", "a")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._close()
            raise StoreInUse(
                f"the store {folder} is open already, in this process or in another one"
            ) from None
        except BaseException:
            self._close()
            raise

    def free(self) -> None:
        """Let others lock the folder, even if a process that was just forked has a copy."""
        if self._file is not None and not self._file.closed:
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
        self._close()

    def _close(self) -> None:
        _held.discard(self)
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


_held: set[FolderLock] = set()
"""A lock must outlive the object `Store`: the threads of its models go on writing."""


def _close_copies() -> None:
    """Close the copies of a forked process, which would keep the locks after its parent ended."""
    for lock in [*_held]:
        lock._close()


os.register_at_fork(after_in_child=_close_copies)
