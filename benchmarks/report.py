"""Results as aligned Markdown tables."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from problem import SEED

from kenyon._native import instruction_set
from kenyon_lab.protocol.environment import commit, processor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = Path(__file__).parent / "results"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table: words in the first column, numbers in the others."""
    lines = [header, *rows]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        "| " + " | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) + " |"
        for line in (header, rule, *lines[1:])
    )


def environment(
    seeds: str = f"seed {SEED}", packages: Sequence[str] = ("kenyon", "numpy", "scikit-learn")
) -> str:
    """Return command, commit, machine and versions; call it before the run, for the load."""
    script = f"benchmarks/{Path(sys.argv[0]).name}"
    # Scripts that share helpers with the tests find them from the root of the repository.
    path = ["PYTHONPATH=."] if "tests" in sys.modules else []
    command = " ".join([*path, "python", script, *sys.argv[1:]])
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return "\n".join(
        [
            f"- Command: `{command}`",
            f"- Date: {datetime.now(timezone.utc):%Y-%m-%d}; {seeds}; commit {commit()}",
            f"- Machine: {processor()}, {os.cpu_count()} cores, {instruction_set()}; "
            f"load before the run {os.getloadavg()[0]:.1f}",
            f"- Python {platform.python_version()}, {versions}",
        ]
    )


def save(name: str, text: str) -> None:
    """Write a report to benchmarks/results."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(text + "\n")


def publish(name: str, *sections: str, saved: bool = True) -> None:
    """Print the sections of a page, and save it."""
    text = "\n\n".join(sections)
    print(text)
    if saved:
        save(name, text)


def parse_quick(description: str | None) -> bool:
    """Return whether the command line has --quick."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="only show that it runs; save nothing")
    return bool(parser.parse_args().quick)
