"""The `kenyon` command as a program, in a shell, and as a call in this process."""

import json
import os
import subprocess
import sys
import sysconfig
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

from kenyon import cli

PROGRAM = Path(sysconfig.get_path("scripts"), "kenyon")
TIMEOUT = 120


def start(*arguments, **options):
    """Run the installed program: exit code, output, errors."""
    process = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, **options
    )
    return process.returncode, process.stdout, process.stderr


def launch(*arguments, **options):
    """Start the installed program and return its process."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([PROGRAM, *map(str, arguments)], **streams, **options)


def shell(script, folder):
    """Run a script of bash, in which `kenyon` is the installed program."""
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    return process.returncode, process.stdout, process.stderr


def call(*arguments, stdin=""):
    """Run the entry function here: exit code, output, errors."""
    out, err = TextIOWrapper(BytesIO(), "utf-8", write_through=True), StringIO()
    given = TextIOWrapper(BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode()), "utf-8")
    code = 0
    with (
        patch.object(sys, "argv", ["kenyon", *map(str, arguments)]),
        patch.object(sys, "stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    return code, out.buffer.getvalue().decode(), err.getvalue()


def call_json(*arguments, stdin=""):
    """Run a command that succeeds, with --json, and return the objects that it prints."""
    code, out, err = call(*arguments, "--json", stdin=stdin)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def assert_error(result, message):
    """Check that a command failed with one sentence, and printed nothing else."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    assert err.startswith("Error: ")
    assert message in err
