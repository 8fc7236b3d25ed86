"""The `kenyon` command: `learn`, `predict`, `evaluate`, `ask`, `teach`, `show` and so on."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from kenyon.cli.interrupts import Interrupted, raising

_PACKAGES = "jinja2", "polars"
"""Packages of the extra `cli` that only some commands need."""


def main() -> None:
    """Run the command line; an error is one sentence and exit code 2."""
    try:
        with raising():
            sys.exit(_run())
    except Interrupted as stop:
        print(stop, file=sys.stderr)
        sys.exit(128 + stop.number)


def _run() -> int:
    """Run the command and return its exit code.

    typer and rich come with the extra `cli`, so they are imported here and not above.
    """
    try:
        import rich  # noqa: F401
        import typer

        from kenyon.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        return _fail("The command line needs typer and rich: pip install 'kenyon[cli]'")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            # Otherwise typer would print its own errors, on several lines.
            code = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
            return code if isinstance(code, int) else 0
    except typer.Abort:
        return 130
    except MemoryError:
        return _fail("Error: there is not enough memory")
    except (ImportError, OSError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _PACKAGES:
            return _fail(f"Error: this command needs {error.name}: pip install 'kenyon[cli]'")
        return _fail(f"Error: {_one_line(_describe(error))}")
    except Exception as error:
        # The errors of click, which some versions of typer bring along under another name.
        if not hasattr(error, "format_message"):
            raise
        return _fail(f"Error: {_one_line(error.format_message())}")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"Warning: {_one_line(message)}", file=sys.stderr)


def _describe(error: Exception) -> object:
    """Return an error without its number if it names no file, as that of a full standard output."""
    if isinstance(error, OSError) and error.filename is None:
        return error.strerror or error
    return error


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2
