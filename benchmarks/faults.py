"""Disturb models, files and runs far more often than the tests do, and count how often.

Takes about half an hour. Every failure is a failure of a test, and then nothing is written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import report

ROOT = Path(__file__).parents[1]
TESTS = "tests/faults", "lab/tests/cli/test_killed.py", "lab/tests/cli/test_together.py"
SETTINGS = {
    "KENYON_FAULT_STRIDE": "1",
    "KENYON_SIGNALS": "20",
    "KENYON_FORKS": "40",
    "KENYON_STRESS_SECONDS": "20",
    "KENYON_FAULT_ROUNDS": "2",
    "KENYON_FUZZ": "200000",
}


def run_tests(tally: Path) -> None:
    """Run the tests of faults, then those in which allocations fail, with the sanitizers."""
    environment = {**os.environ, **SETTINGS, "KENYON_FAULT_TALLY": str(tally)}
    pytest = [sys.executable, "-m", "pytest", "-n", "auto", "-p", "no:cacheprovider"]
    for command in ([*pytest, *TESTS], ["make", "sanitize"]):
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def main() -> None:
    """Run everything, and write the numbers."""
    environment, counts = report.environment("seeds of the tests"), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally"
        run_tests(tally)
        for line in tally.read_text().splitlines():
            what, n = json.loads(line)
            counts[what] += n
    settings = ", ".join(f"{name}={value}" for name, value in SETTINGS.items())
    report.publish(
        "faults.md",
        "# Faults",
        f"{environment}\n- Settings: {settings}",
        "After each fault the test compares the model, the file or the store with the one before "
        "and the one after the change. There were no failures.",
        report.table(["fault", "times"], [[what, f"{n:,}"] for what, n in sorted(counts.items())]),
    )


if __name__ == "__main__":
    main()
