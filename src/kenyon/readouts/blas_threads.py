"""Limit the threads of BLAS, which may have one number of threads for the whole process."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

from kenyon.circuit.forks import PerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

_limiting: PerProcess[Any] = PerProcess(threading.RLock)
# BLAS reserves memory for each thread, and a model file may ask for 1024 of them.
_MOST = max(4, os.cpu_count() or 1)

# To find the BLAS libraries takes milliseconds; NumPy and SciPy have loaded theirs by now.
_controller = cache(ThreadpoolController)


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Let BLAS use `n_threads` threads.

    Of concurrent users only the first sets a limit, and restores it when it leaves; nobody waits.
    A second limit would be restored to the first instead of the original one. Another thread
    could not restore it: some libraries, and threadpoolctl since 3.8, bind a limit to a thread.
    """
    lock = _limiting.value
    try:
        if lock.acquire(blocking=False):
            with _controller().limit(limits=min(n_threads, _MOST), user_api="blas"):
                yield
        else:
            yield
    finally:
        # Asked, not remembered: an interrupt may come right after the lock was taken.
        if lock._is_owned():
            lock.release()
