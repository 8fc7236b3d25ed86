"""What a result was obtained with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kenyon_lab.shared import current_path

PACKAGES = ("kenyon", "numpy", "scipy", "scikit-learn", "torch")


def versions() -> dict[str, str]:
    """Return the versions of Python and of what there is of the packages that compute."""
    found = {package: _version(package) for package in PACKAGES}
    return {"python": platform.python_version(), **{k: v for k, v in found.items() if v}}


def machine() -> dict[str, str | int]:
    """Return what is computed on."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.system(),
        "kernel": current_path(),
    }


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
