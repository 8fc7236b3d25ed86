"""The memory that a block of code takes."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_PROCESS = Path("/proc/self")


class PeakRSS:
    """Measures the largest growth of the resident set of this process while a block runs.

    Linux can reset the peak at the start of the block. On other systems the growth is measured
    from the peak before the block, so memory that was freed before hides as much of it.
    """

    nbytes = 0  # The growth.

    def __enter__(self) -> PeakRSS:
        try:
            (_PROCESS / "clear_refs").write_text("5")
            self._before = _status("VmRSS")
        except OSError:
            self._before = _peak_so_far()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            peak = _status("VmHWM")
        except OSError:
            peak = _peak_so_far()
        self.nbytes = max(0, peak - self._before)


def _status(name: str) -> int:
    for line in (_PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"the status of the process lacks {name}")


def _peak_so_far() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
