"""Limit the threads of BLAS, which may have one number of threads for the whole process."""

from __future__ import annotations

import os
import threading
from contextlib import ContextDecorator, contextmanager
from functools import cache
from typing import TYPE_CHECKING
from weakref import ref

from threadpoolctl import ThreadpoolController

from kenyon.circuit.forks import PerProcess, no_forks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# BLAS reserves memory for each thread, and a model file may ask for 1024 of them.
_MOST = max(4, os.cpu_count() or 1)


class _WithoutForks(ContextDecorator):
    """Runs a function while no other thread can fork."""

    # Functions of the kernel: an exception inside Python code would keep a limit in force.
    __enter__ = staticmethod(no_forks.__enter__)
    __exit__ = staticmethod(no_forks.__exit__)


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries of BLAS; NumPy and SciPy have loaded theirs, and the search takes long.

    BLAS takes its locks to set a number of threads. A process that is forked meanwhile would wait
    for them for ever.
    """
    controller = ThreadpoolController()
    for library in controller.lib_controllers:
        library.set_num_threads = _WithoutForks()(library.set_num_threads)
    return controller


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
