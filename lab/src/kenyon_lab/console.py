"""The consoles that results and messages are printed to."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

CORES = os.cpu_count() or 1
SOME_FAILED, INTERRUPTED = 1, 130

printer, messages, quiet = Console(), Console(stderr=True), Console(quiet=True)


def say(sentence: str, console: Console = printer) -> None:
    """Print a sentence literally: brackets in names and paths are not markup."""
    console.print(Text(sentence), soft_wrap=True)


@contextmanager
def exit_if_interrupted() -> Iterator[None]:
    """End the program with the exit code of Ctrl-C, without a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
