"""Packages that an import must not load."""

import subprocess
import sys

import pytest

JUDGING = (
    "import kenyon_lab.reproduction.verdict; from kenyon_lab.protocol.evidence import Evidence;"
    "from kenyon_lab.reproduction.statements import STATEMENTS;"
    "[statement.judge(Evidence()) for statement in STATEMENTS]"
)
COLLECTING = (
    "from kenyon_lab.protocol.store import Store;"
    "from kenyon_lab.reproduction.profiles import PROFILES;"
    "PROFILES['full'].collect(Store('nowhere'))"
)


def loaded(code):
    """Return the packages that a new process loads to run code."""
    command = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("code", ["import kenyon_lab; kenyon_lab.reproduce", JUDGING, COLLECTING])
def test_imports_are_light(code):
    assert not loaded(code) & {"matplotlib", "torch", "typer", "jinja2", "polars"}
