"""RAM that this process can still use."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_LIMIT, _USED, _STAT = (
    Path(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current", "stat")
)


def available_ram() -> int | None:
    """Return the bytes that are available, or None where the system does not report them."""
    known = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_container() -> int | None:
    try:
        stat = dict(line.split() for line in _STAT.read_text().splitlines())
        # The system frees copies of files where memory is needed.
        files = sum(int(stat.get(name, 0)) for name in ("active_file", "inactive_file"))
        return int(_LIMIT.read_text()) - int(_USED.read_text()) + files
    except (OSError, ValueError):  # there is none, or it has no limit
        return None
