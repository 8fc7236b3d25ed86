"""How much memory something took."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_PROCESS = Path("/proc/self")


class PeakMemory:
    """Measures by how much the memory of this process grew, at most, while a block ran.

    Where the system can be told to begin anew (Linux), it is told; elsewhere memory that was
    once taken and given back before the block hides as much of it.

    Attributes
    ----------
    nbytes : int
        The growth.
    """

    nbytes = 0

    def __enter__(self) -> PeakMemory:
        try:
            (_PROCESS / "clear_refs").write_text("5")
            self._before = _status("VmRSS")
        except OSError:
            self._before = _peak_so_far()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            peak = _status("VmHWM")
        except OSError:
            peak = _peak_so_far()
        self.nbytes = max(0, peak - self._before)


def _status(name: str) -> int:
    for line in (_PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"{name} is not told")


def _peak_so_far() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
