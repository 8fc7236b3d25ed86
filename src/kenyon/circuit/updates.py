"""The latest changes of a memory's samples, for rank-one updates."""

from __future__ import annotations

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
    """The samples that the latest changes of a memory added and removed.

    Each entry leads from one version of the memory to a later one. An interrupt between a change
    and `record` leaves a gap, and readouts then compute everything again.

    Parameters
    ----------
    max_samples : int
        The limit above which the oldest entries are dropped; 0 keeps none.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.circuit import Coder
    >>> coder = Coder(40, 50, 4, 5, "cut", channels="raw", seed=0)
    >>> codes = coder.native.encode(np.eye(3, 40), 1)
    >>> updates = PendingUpdates(max_samples=5)
    >>> slots = np.zeros(3, np.int32)
    >>> updates.record(0, 1, [SampleUpdate(1, 1, codes, slots)])
    >>> updates.record(1, 2, [SampleUpdate(1, -1, codes, slots), ClassDrop(1, 0)])
    >>> [type(update).__name__ for update in updates.between(1, 2)]
    ['SampleUpdate', 'ClassDrop']
    >>> updates.between(0, 2) is None
    True
    """

    def __init__(self, max_samples: int) -> None:
        self.max_samples = max_samples
        # By old version, the new version and the updates; then the number of their samples. Both
        # are never changed, only replaced together.
        self._recorded: tuple[dict[int, tuple[int, Sequence[Update]]], int] = {}, 0

    @property
    def nbytes(self) -> int:
        """The size of the codes."""
        updates = [update for _, updates in self._recorded[0].values() for update in updates]
        return sum(update.codes.nbytes for update in updates if isinstance(update, SampleUpdate))

    def record(self, old: int, new: int, updates: Sequence[Update] | None) -> None:
        """Record the updates that led from one version to another, or None if they are unknown."""
        if updates is None or not self.max_samples or old == new:
            return
        entries, n_samples = self._recorded
        entries = {**entries, old: (new, updates)}
        n_samples += _count(updates)
        while n_samples > self.max_samples:
            n_samples -= _count(entries.pop(next(iter(entries)))[1])
        self._recorded = entries, n_samples

    def between(self, old: int, new: int) -> list[Update] | None:
        """Return the updates from one version to a later one, or None if some are unknown."""
        (entries, _), found = self._recorded, list[Update]()
        while old != new:
            if old not in entries:
                return None
            old, updates = entries[old]
            found += updates
        return found


def count_samples(changes: Sequence[Update]) -> int:
    """Return the number of samples that were learned or unlearned."""
    return sum(len(change.codes) for change in changes if isinstance(change, SampleUpdate))


def _count(changes: Sequence[Update]) -> int:
    # A version without samples counts as one, so that their number is limited too.
    return max(1, count_samples(changes))
