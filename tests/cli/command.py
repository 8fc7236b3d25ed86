"""The command line, as a program and as a call."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

from kenyon import cli

KENYON = [sys.executable, "-c", "from kenyon.cli import main; main()"]


def run(*arguments):
    """Run the command line in this process: exit code, lines of output, lines of errors."""
    out, err = StringIO(), StringIO()
    code = 0
    with (
        patch.object(sys, "argv", ["kenyon", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return code, lines, err.getvalue().splitlines()
