"""Forked processes: a child has every memory before or after a change, with locks that are free.

Only the thread that forks exists in the child. A lock that another thread held would stay locked
there, and a change that it was making would stay unfinished. So `os.fork`, and multiprocessing with
it, waits until no other thread is inside a change or a call of BLAS, and the kernel keeps them
outside meanwhile. The handlers are functions of the kernel, since handlers written in Python could
be interrupted half-way. Locks of Python are not taken: the child makes new ones.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Generic, TypeVar

from kenyon import _native

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

no_forks = _native.NoForks()
"""A context in which no other thread can fork."""


class PerProcess(Generic[T]):
    """A value that every forked process makes anew when it first needs it, such as a lock.

    Parameters
    ----------
    make : callable without arguments
    """

    __slots__ = ("_make", "_values")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values = {_native.n_forks(): make()}

    @property
    def value(self) -> T:
        """The value of this process."""
        n_forks = _native.n_forks()
        try:
            return self._values[n_forks]
        except KeyError:
            # Of threads that come at the same time, all get the value of the first.
            return self._values.setdefault(n_forks, self._make())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_native.before_fork,
        after_in_parent=_native.after_fork_in_parent,
        after_in_child=_native.after_fork_in_child,
    )
