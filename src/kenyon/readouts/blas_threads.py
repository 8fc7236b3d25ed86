"""Limit the threads of BLAS, which may have one number of threads for the whole process."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING
from weakref import ref

from threadpoolctl import ThreadpoolController

from kenyon.circuit.forks import PerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# BLAS reserves memory for each thread, and a model file may ask for 1024 of them.
_MOST = max(4, os.cpu_count() or 1)

# To find the BLAS libraries takes milliseconds; NumPy and SciPy have loaded theirs by now.
_controller = cache(ThreadpoolController)


class _User:
    """Somebody who limits the threads, as long as this object exists."""


class _Limit:
    """Who limits the threads of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.user: Callable[[], _User | None] = lambda: None


_limit = PerProcess(_Limit)


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Let BLAS use `n_threads` threads.

    Of concurrent users only the first sets a limit, and restores it when it leaves; nobody waits.
    A second limit would be restored to the first instead of the original one. Another thread
    could not restore it: some libraries, and threadpoolctl since 3.8, bind a limit to a thread.
    """
    limit, user = _limit.value, _User()
    with limit.lock:
        is_first = limit.user() is None
        if is_first:
            # The user ends with this frame, also if an interrupt skips the rest of the block.
            limit.user = ref(user)
    if is_first:
        with _controller().limit(limits=min(n_threads, _MOST), user_api="blas"):
            yield
    else:
        yield
    del user
