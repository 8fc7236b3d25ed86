"""The environment that computes a result: versions, machine, commit and date."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypedDict

from kenyon_lab.shared import instruction_set

PACKAGES = ("kenyon", "kenyon-lab", "numpy", "scipy", "scikit-learn", "torch")


class Environment(TypedDict):
    """The fields of a record that describe its environment."""

    versions: dict[str, str]
    machine: dict[str, str | int]
    commit: str
    date: str


def environment() -> Environment:
    """Return the environment of this process, and the time."""
    date = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    return {"versions": versions(), "machine": machine(), "commit": commit(), "date": date}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the numerical packages that are installed."""
    found = {package: _version(package) for package in PACKAGES}
    return {"python": platform.python_version(), **{k: v for k, v in found.items() if v}}


def machine() -> dict[str, str | int]:
    """Return the processor, the number of cores, the system and the instruction set."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.system(),
        "instruction_set": instruction_set(),
    }


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def commit() -> str:
    """Return the commit of Kenyon's checkout, with "+" if files differ from it.

    Outside a checkout it is the version of the package, or "unknown" if that has none.
    """
    root = _git("rev-parse", "--show-toplevel")
    # The virtual environment may lie in the checkout of another project.
    if root and (Path(root) / "lab" / "src" / "kenyon_lab").is_dir():
        changed = _git("status", "--porcelain", "--untracked-files=no")
        return f"{_git('rev-parse', 'HEAD')}{'+' if changed else ''}"
    package = _version("kenyon-lab")
    return f"kenyon-lab {package}" if package else "unknown"


def _git(*arguments: str) -> str:
    """Return the output of git in the folder of this package; nothing if git fails."""
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
