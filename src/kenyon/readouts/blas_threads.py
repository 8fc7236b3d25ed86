"""Limit the threads of BLAS, which has one number of threads for the whole process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_limits: list[Any] = []
_n_users = 0

# To find the BLAS libraries takes milliseconds; NumPy and SciPy have loaded theirs by now.
_controller = cache(ThreadpoolController)


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Let BLAS use `n_threads` threads.

    The limit of the first of concurrent users applies to all of them; the last restores BLAS. So
    models may solve at the same time without leaving another limit behind.
    """
    global _n_users
    with _lock:
        if _n_users == 0:
            _limits.append(_controller().limit(limits=n_threads))
        _n_users += 1
    try:
        yield
    finally:
        with _lock:
            _n_users -= 1
            if _n_users == 0:
                _limits.pop().restore_original_limits()
