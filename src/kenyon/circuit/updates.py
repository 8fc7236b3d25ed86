"""The latest changes of a memory's samples, for rank-one updates."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from kenyon._native import Codes


class SampleUpdate(NamedTuple):
    """Samples that were learned (sign 1) or unlearned (sign -1), with slots of `n_classes`."""

    n_classes: int
    sign: int
    codes: Codes
    slots: NDArray[np.int32]


class ClassDrop(NamedTuple):
    """A class that was dropped, of `n_classes`. The last class moves into its slot."""

    n_classes: int
    slot: int


Update = SampleUpdate | ClassDrop


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
    >>> coder = Coder(40, 50, 4, 5, "cut", channels="raw", seed=0)
    >>> codes = coder.native.encode(np.eye(3, 40), 1)
    >>> updates = PendingUpdates(max_samples=5)
    >>> slots = np.zeros(3, np.int32)
    >>> updates.record(1, [SampleUpdate(1, 1, codes, slots)])
    >>> updates.record(2, [SampleUpdate(1, -1, codes, slots), ClassDrop(1, 0)])
    >>> [type(update).__name__ for update in updates.between(1, 2)]
    ['SampleUpdate', 'ClassDrop']
    >>> updates.between(0, 2) is None
    True
    """

    def __init__(self, max_samples: int) -> None:
        self.max_samples = max_samples
        self._lock = threading.Lock()
        self._changes: dict[int, Sequence[Update]] = {}
        self._n_samples = 0

    @property
    def nbytes(self) -> int:
        """The size of the codes."""
        with self._lock:
            changes = [change for changes in self._changes.values() for change in changes]
        return sum(change.codes.nbytes for change in changes if isinstance(change, SampleUpdate))

    def record(self, version: int, changes: Sequence[Update] | None) -> None:
        """Record the changes that led to a version, or None if they are unknown."""
        if changes is None or not self.max_samples:
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


def count_samples(changes: Sequence[Update]) -> int:
    """Return the number of samples that were learned or unlearned."""
    return sum(len(change.codes) for change in changes if isinstance(change, SampleUpdate))


def _count(changes: Sequence[Update]) -> int:
    # A version without samples counts as one, so that their number is limited too.
    return max(1, count_samples(changes))
