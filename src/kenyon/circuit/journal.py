"""The last changes of a memory, for those who would rather go on than start anew."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon._native import Codes


class Journal:
    """The samples that were learned (1) or unlearned (-1) lately, up to a number of them.

    Parameters
    ----------
    most : int
        Samples that are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon.circuit import Coder
    >>> codes = Coder.design(40, n_cells=50, seed=0).native.encode(np.eye(3, 40), 1)
    >>> journal = Journal(most=5)
    >>> journal.note(1, codes)
    >>> now = journal.moment
    >>> journal.note(-1, codes)
    >>> [(sign, len(codes)) for sign, codes in journal.since(now)]
    [(-1, 3)]
    >>> journal.since(0) is None
    True
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.moment = 0
        self._n_samples = 0
        self._changes: deque[tuple[int, Codes]] = deque()

    def note(self, sign: int, codes: Codes) -> None:
        """Add a change."""
        self.moment += 1
        self._changes.append((sign, codes))
        self._n_samples += len(codes)
        while self._n_samples > self.most:
            self._n_samples -= len(self._changes.popleft()[1])

    def lose(self) -> None:
        """Forget all, after a change that cannot be told in samples."""
        self.moment += 1
        self._n_samples = 0
        self._changes.clear()

    def since(self, moment: int) -> list[tuple[int, Codes]] | None:
        """Return the changes since a moment, or None if not all of them are kept."""
        skipped = len(self._changes) - (self.moment - moment)
        return list(islice(self._changes, skipped, None)) if skipped >= 0 else None

    def copy(self) -> Journal:
        """Return a journal that can go on without this one."""
        other = Journal(self.most)
        other.moment, other._n_samples = self.moment, self._n_samples
        other._changes = self._changes.copy()
        return other
