"""The latest changes of a memory's samples, for low-rank updates."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenyon._native import Codes

    Update = tuple[int, Codes]
    """A sign, 1 for samples learned and -1 for samples unlearned, and their codes."""


class PendingUpdates:
    """The samples that the latest versions of a memory added and removed.

    Parameters
    ----------
    max_samples : int
        The limit above which the oldest versions are dropped; 0 keeps none.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.circuit import Coder
    >>> coder = Coder(40, 50, 4, 5, "cut", on_off=False, seed=0)
    >>> codes = coder.native.encode(np.eye(3, 40), 1)
    >>> updates = PendingUpdates(max_samples=5)
    >>> updates.record(1, [(1, codes)])
    >>> updates.record(2, [(-1, codes)])
    >>> [(sign, len(codes)) for sign, codes in updates.between(1, 2)]
    [(-1, 3)]
    >>> updates.between(0, 2) is None
    True
    """

    def __init__(self, max_samples: int) -> None:
        self.max_samples = max_samples
        self._lock = threading.Lock()
        self._changes: dict[int, Sequence[Update]] = {}
        self._n_samples = 0

    def record(self, version: int, changes: Sequence[Update]) -> None:
        """Record the changes that led to a version."""
        if not self.max_samples:
            return
        with self._lock:
            self._changes[version] = changes
            self._n_samples += _count(changes)
            while self._n_samples > self.max_samples:
                self._n_samples -= _count(self._changes.pop(next(iter(self._changes))))

    def between(self, old: int, new: int) -> list[Update] | None:
        """Return the changes from one version to a later one, or None if some were dropped."""
        with self._lock:
            versions = range(old + 1, new + 1)
            if new < old or len(versions) > len(self._changes):
                return None
            if any(version not in self._changes for version in versions):
                return None
            return [update for version in versions for update in self._changes[version]]


def _count(changes: Sequence[Update]) -> int:
    # A version without samples counts as one, so that their number is limited too.
    return max(1, sum(len(codes) for _, codes in changes))
