"""The `kenyon` command as a program, and as a call in this process."""

import subprocess
import sys
import sysconfig
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from kenyon import cli

PROGRAM = Path(sysconfig.get_path("scripts"), "kenyon")


def start(*arguments):
    """Run the installed program: exit code, output, errors."""
    process = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    return process.returncode, process.stdout, process.stderr


def call(*arguments):
    """Run the entry function here: exit code, output, errors."""
    out, err = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", ["kenyon", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            return stop.code or 0, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()
