"""Where the command line prints to."""

from __future__ import annotations

import os

from rich.console import Console
from rich.text import Text

CORES = os.cpu_count() or 1

printer, messages = Console(), Console(stderr=True)


def say(sentence: str, console: Console = printer) -> None:
    """Print a sentence as it is, whatever names and paths are in it."""
    console.print(Text(sentence), soft_wrap=True)
