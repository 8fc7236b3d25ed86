"""How often each kind of fault was tried: benchmarks/faults.py adds the numbers up."""

import json
import os
from pathlib import Path

VARIABLE = "KENYON_FAULT_TALLY"
"""The file for the numbers; without it they are not kept."""


def count(what, n):
    """Note that something was tried n times."""
    if VARIABLE in os.environ:
        with Path(os.environ[VARIABLE]).open("a") as file:
            file.write(json.dumps([what, n]) + "\n")
